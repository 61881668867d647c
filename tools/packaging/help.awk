# SPDX-License-Identifier: MIT
# help.awk - reads the helps of the subcommands. For the shell's own part:
#
#   command[1..ncommands], about[command]
#   operand[command]  "program", "process", "file", or words to choose from
#   option[command, 1..noptions[command]]   without its dashes
#   help[], metavar[] ("": takes no value), letter[], choice[], by command and
#   option; a choice is "file", "dir", "" (anything), or "words a b c"

/^== / {
    c = $2
    command[++ncommands] = c
    line = 0
    next
}

{ line++ }

line == 1 { operand[c] = operand_of($0) }
line == 2 { about[c] = $0 }

/^  --/ {
    o = $1
    sub(/^--/, "", o)
    value = ""
    if (o ~ /=/) {
        value = o
        sub(/^[^=]*=/, "", value)
        sub(/=.*/, "", o)
    }
    text = $0
    sub(/^ *[^ ]+ +/, "", text)
    option[c, ++noptions[c]] = o
    metavar[c, o] = value
    help[c, o] = text
    if (match(text, /also -[a-zA-Z] /))
        letter[c, o] = substr(text, RSTART + 6, 1)
    choice[c, o] = choice_of(value, text)
}

# "usage: lockhound run [options] -- CMD [ARG...]" is about a program.
function operand_of(usage)
{
    sub(/^usage: lockhound [^ ]+ (\[options\] )?/, "", usage)
    if (usage ~ /^-- /)
        return "program"
    if (usage ~ /^PID/)
        return "process"
    if (usage ~ /^[a-z|-]+( |$)/) {
        sub(/ .*/, "", usage)
        gsub(/\|/, " ", usage)
        return usage
    }
    return "file"
}

# "when it hangs: exit (with 67), report or abort" is a choice of three words.
function choice_of(value, text)
{
    if (value == "FILE")
        return "file"
    if (value == "DIR")
        return "dir"
    sub(/.*: /, "", text)
    gsub(/ *\([^)]*\)/, "", text)
    if (value == "" || text !~ /^[a-z0-9]+(, [a-z0-9]+)*(,? or|,) [a-z0-9]+$/)
        return ""
    gsub(/,? or |, /, " ", text)
    return "words " text
}

# What a choice of words has after "words ".
function words_of(what)
{
    return substr(what, 7)
}

function quoted(text)
{
    gsub(/'/, "'\\''", text)
    return "'" text "'"
}
