# SPDX-License-Identifier: MIT
# zsh.awk - the completion of zsh, with _arguments.
END {
    print "#compdef lockhound"
    print "# zsh completion of lockhound, made from its --help"
    print "local curcontext=\"$curcontext\" state line"
    print "local -a subcommands=("
    for (i = 1; i <= ncommands; i++)
        print "    " quoted(command[i] ":" about[command[i]])
    print ")"
    print "_arguments -C '(- *)--help[this text]' '(- *)--version[the version]' \\"
    print "    '1:command:->command' '*::argument:->argument' && return"
    print "case $state in"
    print "command) _describe -t commands command subcommands ;;"
    print "argument)"
    print "    case $words[1] in"
    for (i = 1; i <= ncommands; i++)
        arguments(command[i])
    print "    esac"
    print "    ;;\nesac"
}

function arguments(c,  i)
{
    # After the program's name, options are the program's. A "--" counts as one
    # of its words, and must not.
    print "    " c ")"
    print "        _arguments -S " (operand[c] == "program" ? "-A '-*' " : "") "\\"
    for (i = 1; i <= noptions[c]; i++)
        argument(c, option[c, i])
    if (operand[c] == "program") {
        print "            '(-)1:command:_command_names -e' \\"
        print "            '*::argument:{ [[ $words[1] != -- ]] || { shift words; (( CURRENT-- )) }; _normal }'"
    } else if (operand[c] == "process") {
        print "            '1:process or core file: _alternative processes\\:process\\:_pids files\\:core\\:_files' \\"
        print "            '2:executable:_files'"
    } else if (operand[c] == "file")
        print "            '*:file:_files'"
    else {
        print "            '1:action:(" operand[c] ")' \\"
        print "            '*:file:_files'"
    }
    print "        ;;"
}

function argument(c, o,  text, value)
{
    text = help[c, o]
    gsub(/\[|\]|:|\\/, "\\\\&", text)
    if (metavar[c, o] == "") {
        print "            " quoted((o == "help" ? "(- *)" : "") "--" o "[" text "]") " \\"
        return
    }
    value = ":" metavar[c, o] ":" action(choice[c, o])
    print "            " quoted("*--" o "=[" text "]" value) " \\"
    if (letter[c, o] != "")
        print "            " quoted("*-" letter[c, o] "+[" text "]" value) " \\"
}

function action(what)
{
    if (what == "file")
        return "_files"
    if (what == "dir")
        return "_files -/"
    return what == "" ? " " : "(" words_of(what) ")"
}
