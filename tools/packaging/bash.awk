# SPDX-License-Identifier: MIT
# bash.awk - the completion of bash; needs no bash-completion, uses it for the
# words of the program that is run.
END {
    print "# bash completion of lockhound, made from its --help"
    print "_lockhound_values() # SUBCOMMAND OPTION"
    print "{\n    case \"$1 $2\" in"
    for (i = 1; i <= ncommands; i++)
        values(command[i])
    print "    *) return 1 ;;\n    esac\n}\n"
    print "_lockhound_options() # SUBCOMMAND\n{\n    case $1 in"
    for (i = 1; i <= ncommands; i++)
        options(command[i])
    print "    esac\n}\n"
    print "_lockhound_operands() # SUBCOMMAND\n{\n    case $1 in"
    for (i = 1; i <= ncommands; i++)
        printf "    %s) echo '%s' ;;\n", command[i], operand[command[i]]
    print "    esac\n}\n"
    names = ""
    for (i = 1; i <= ncommands; i++)
        names = names command[i] " "
    print "_lockhound_commands='" names "--help --version'\n"
    # The rest is the same whatever the options are.
    while ((getline part < (ENVIRON["LH_PACKAGING"] "/completion.bash")) > 0)
        print part
}

function values(c,  i, o, names)
{
    for (i = 1; i <= noptions[c]; i++) {
        o = option[c, i]
        if (metavar[c, o] == "")
            continue
        names = "'" c " --" o "'"
        if (letter[c, o] != "")
            names = names " | '" c " -" letter[c, o] "'"
        printf "    %s) echo '%s' ;;\n", names, choice[c, o]
    }
}

# What takes a value ends with "=".
function options(c,  i, o, list)
{
    for (i = 1; i <= noptions[c]; i++) {
        o = option[c, i]
        list = list " --" o (metavar[c, o] == "" ? "" : "=")
    }
    printf "    %s) echo '%s' ;;\n", c, substr(list, 2)
}
