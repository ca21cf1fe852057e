
# The names of tools, after the commands that take one.
complete -c haft -n "__fish_haft_using_subcommand call" -f -a "(haft completions --tools 2>/dev/null)"
complete -c haft -n "__fish_haft_using_subcommand show" -f -a "(haft completions --tools 2>/dev/null)"
complete -c haft -n "__fish_haft_using_subcommand tools" -f -a "(haft completions --tools 2>/dev/null)"
