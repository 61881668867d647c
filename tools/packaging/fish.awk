# SPDX-License-Identifier: MIT
# fish.awk - the completion of fish.
END {
    print "# fish completion of lockhound, made from its --help"
    print "function __lockhound_in # SUBCOMMAND: its words are being typed"
    print "    set -l words (commandline -opc)"
    print "    test (count $words) -ge 2; and test $words[2] = $argv[1]"
    print "end\n"
    print "function __lockhound_options # SUBCOMMAND: and its options may come"
    print "    __lockhound_in $argv[1]; and not contains -- -- (commandline -opc)"
    print "end\n"
    print "complete -c lockhound -f"
    top("-l help -d 'this text'")
    top("-l version -d 'the version'")
    for (i = 1; i <= ncommands; i++)
        one(command[i])
}

function top(what)
{
    print "complete -c lockhound -n __fish_use_subcommand " what
}

function one(c,  i, o, letters, valued)
{
    top("-a " c " -d " fish_quoted(about[c]))
    for (i = 1; i <= noptions[c]; i++) {
        o = option[c, i]
        print "complete -c lockhound -n '__lockhound_options " c "' -l " o \
            (letter[c, o] == "" ? "" : " -s " letter[c, o]) value_of(c, o) \
            " -d " fish_quoted(help[c, o])
        if (metavar[c, o] != "")
            valued = valued " --" o
        if (letter[c, o] != "")
            letters = letters " -" letter[c, o]
    }
    # fish takes long options that come first for its own.
    print "complete -c lockhound -n '__lockhound_in " c "' " \
        operands(operand[c], letters valued)
}

function value_of(c, o)
{
    if (metavar[c, o] == "")
        return ""
    if (choice[c, o] == "file")
        return " -r -F"
    if (choice[c, o] == "dir")
        return " -x -a '(__fish_complete_directories)'"
    return choice[c, o] == "" ? " -x" : " -x -a '" words_of(choice[c, o]) "'"
}

function operands(what, valued)
{
    if (what == "program")
        return "-x -a '(__fish_complete_subcommand --fcs-skip=2" valued ")'"
    if (what == "process")
        return "-F -a '(__fish_complete_pids)'"
    return what == "file" ? "-F" : "-F -a '" what "'"
}

function fish_quoted(text)
{
    gsub(/['\\]/, "\\\\&", text)
    return "'" text "'"
}
