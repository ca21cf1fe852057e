# Completes the names of tools after the commands that take one, and all else as clap does.
_haft() {
    if (( CURRENT == 3 )) && [[ ${words[2]} == (call|show|tools|list|ls) && ${words[3]} != -* ]]; then
        local -a names
        names=(${(f)"$(haft completions --tools 2>/dev/null)"})
        compadd -a names
    else
        _haft_without_tools "$@"
    fi
}
