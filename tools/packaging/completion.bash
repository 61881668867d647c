# The second half of bash's completion; bash.awk writes the first, with
# _lockhound_values, _lockhound_options, _lockhound_operands and
# $_lockhound_commands.

# Where the program that a subcommand runs begins, or 0: $1 is the subcommand.
_lockhound_program()
{
    local i
    for ((i = 2; i <= COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) ((i < COMP_CWORD)) && echo $((i + 1)) && return ;;
        -*=*) ;;
        -*)
            if _lockhound_values "$1" "${COMP_WORDS[i]}" >/dev/null; then
                [[ ${COMP_WORDS[i + 1]-} != = ]] || ((i++))
                ((i++))
            fi
            ;;
        *) echo "$i" && return ;;
        esac
    done
    echo 0
}

# Words of a list that begin with $cur; a lone option that takes a value is
# not followed by a space.
_lockhound_words()
{
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$1" -- "$cur")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

# A file comes from readline, by "complete -o default".
_lockhound_value()
{
    case $1 in
    words\ *) _lockhound_words "${1#words }" ;;
    file) ;;
    dir)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -P "$prefix" -d -- "$cur")
        ;;
    *) compopt +o default +o bashdefault 2>/dev/null ;;
    esac
}

_lockhound_operand()
{
    case $1 in
    program)
        if declare -F _command_offset >/dev/null; then
            _command_offset "$program"
        elif ((program == COMP_CWORD)); then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        fi
        ;;
    process)
        mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur")
        [[ $cur =~ ^[0-9]*$ ]] || COMPREPLY=()
        ;;
    file) ;;
    *) _lockhound_words "$1" ;;
    esac
}

_lockhound()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} prefix='' program=0 operands value
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _lockhound_words "$_lockhound_commands"
        return
    fi
    operands=$(_lockhound_operands "$command")
    if [[ $operands == program ]]; then
        program=$(_lockhound_program "$command")
    fi
    # "=" is a word of its own, unless COMP_WORDBREAKS was changed.
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == --*=* ]]; then
        prev=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}
    fi
    # An empty word after options may still become one.
    if ((program > 0 && program <= COMP_CWORD)) &&
        [[ -n $cur || $program -lt $COMP_CWORD || $prev == -- ]]; then
        _lockhound_operand "$operands"
    elif value=$(_lockhound_values "$command" "$prev"); then
        _lockhound_value "$value"
    elif [[ $cur == -* ]]; then
        _lockhound_words "$(_lockhound_options "$command")"
    else
        program=$COMP_CWORD
        _lockhound_operand "$operands"
    fi
}

complete -o default -o bashdefault -F _lockhound lockhound
