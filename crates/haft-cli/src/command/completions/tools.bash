
# Completes the names of tools after the commands that take one, and all else as clap does.
_haft_with_tools() {
    local current="${COMP_WORDS[COMP_CWORD]}"
    case "${COMP_WORDS[1]}" in
        call|show|tools|list|ls)
            if [[ $COMP_CWORD -eq 2 && "$current" != -* ]]; then
                COMPREPLY=($(compgen -W "$(haft completions --tools 2>/dev/null)" -- "$current"))
                return 0
            fi
            ;;
    esac
    _haft "$@"
}
