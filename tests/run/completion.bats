#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# completion.bats - bash, zsh and fish offer every option of every subcommand's
# --help, its values, files, processes and the program that is run.

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    make -C "$top" --no-print-directory VARIANT="${B##*/}" \
        "build/${B##*/}/completion/"{bash,zsh,fish} >make.txt 2>&1 ||
        { cat make.txt; return 1; }
    cp "$B/completion/zsh" _lockhound
    cp "$B/completion/fish" lockhound.fish
}

subcommands() {
    "$B/lockhound" --help | sed -n 's/^  lockhound \([a-z-]*\) .*/\1/p' | uniq
}

# With their dashes, without a value.
options_of() {
    "$B/lockhound" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

in_bash() {
    bash --norc "$top/tests/run/completion/type.bash" "$B/completion/bash" "$@"
}

in_zsh() {
    timeout 60 python3 "$top/tests/run/completion/type.py" "$PWD" "$@"
}

in_fish() {
    HOME=$PWD timeout 60 fish --no-config -c \
        'source lockhound.fish; complete -C $argv[1]' "$1" | cut -f1
}

# stdin has each of these lines, and nothing else.
offers() {
    diff <(printf '%s\n' "$@" | sort) <(sort)
}

@test "bash offers every subcommand and each of its options" {
    in_bash lockhound '' | offers $(subcommands) --help --version
    for subcommand in $(subcommands); do
        in_bash lockhound "$subcommand" -- | sed 's/=$//' |
            offers $(options_of "$subcommand")
    done
}

@test "bash offers values after a space and after =, whatever its word breaks" {
    in_bash lockhound run --stacks '' | offers auto exact pc
    in_bash lockhound run --stacks = | offers auto exact pc
    in_bash lockhound run --on-hang = k | offers kill
    in_bash lockhound run --on-hang=k | offers --on-hang=kill
    in_bash lockhound report RECORDS --color = a | offers auto always
    in_bash lockhound run --memory = | offers ''
    mkdir -p 'two words/below' two.files
    touch two.txt
    in_bash lockhound run --dir = tw | offers 'two words' two.files
}

# The words are read from the help; what the command accepts is in its errors.
@test "an option that takes one of some words is offered these" {
    local lists=0
    for subcommand in $(subcommands); do
        for option in $("$B/lockhound" "$subcommand" --help | sed -n 's/^  \(--[a-z-]*\)=.*/\1/p'); do
            try "$B/lockhound" "$subcommand" "$option=@" @ @
            words=$(sed -n "s/.*: bad value '@' (expected \([a-z]*\(, [a-z]*\)* or [a-z]*\))$/\1/p" err.txt |
                sed 's/,\| or / /g')
            [ -n "$words" ] || continue
            in_bash lockhound "$subcommand" "$option" = | offers $words
            lists=$((lists + 1))
        done
    done
    [ "$lists" -ge 8 ]
}

@test "bash offers programs where run has one, and nothing of ours after it" {
    in_bash lockhound run -- lockhound-no-such | offers ''
    in_bash lockhound run -- mktem | grep -qx mktemp
    in_bash lockhound run --stacks pc mktem | grep -qx mktemp
    in_bash lockhound run --stacks = pc -o file mktem | grep -qx mktemp
    in_bash lockhound run -- mktemp --al | offers ''
    in_bash lockhound run mktemp --al | offers ''
    in_bash lockhound inspect "$$" | grep -qx "$$"
}

@test "zsh offers every subcommand and each of its options" {
    command -v zsh >/dev/null || skip "no zsh"
    in_zsh 'lockhound ' $(subcommands)
    for subcommand in $(subcommands); do
        in_zsh "lockhound $subcommand --" $(options_of "$subcommand")
    done
}

@test "zsh offers values, files, and the words of the program that is run" {
    command -v zsh >/dev/null || skip "no zsh"
    touch first.jsonl second.jsonl
    in_zsh 'lockhound run --stacks=' auto exact pc
    in_zsh 'lockhound report --format=s' short sarif
    in_zsh 'lockhound report ' first.jsonl second.jsonl
    in_zsh 'lockhound inspect ' first.jsonl zsh
    in_zsh 'lockhound run -- lockhound inspect --no' --no-stop
    in_zsh 'lockhound run --stacks pc lockhound inspect --no' --no-stop
}

@test "fish offers every subcommand and each of its options" {
    command -v fish >/dev/null || skip "no fish"
    in_fish 'lockhound ' | offers $(subcommands)
    for subcommand in $(subcommands); do
        in_fish "lockhound $subcommand --" | offers $(options_of "$subcommand")
    done
}

@test "fish offers values, files, and the words of the program that is run" {
    command -v fish >/dev/null || skip "no fish"
    touch first.jsonl
    in_fish 'lockhound run --stacks ' | offers auto exact pc
    in_fish 'lockhound report --format=s' | offers --format=sarif --format=short
    in_fish 'lockhound report fir' | offers first.jsonl
    in_fish 'lockhound run -- lockhound inspect --no' | offers --no-stop
    in_fish 'lockhound run --stacks pc lockhound inspect --no-' | grep -qx -- --no-stop
}

@test "actions of a subcommand are offered; a help that fails is an error" {
    cat >fake <<'EOF'
#!/bin/sh
case "$*" in
--help) printf '%s\n' 'A tool.' '' '  lockhound db [options] add|prune FILE' '    Keeps runs.' ;;
'db --help') printf '%s\n' 'usage: lockhound db [options] add|prune FILE' "Keeps [all] runs' orders." '' \
    '  --file=FILE        which: C:\db (also -f FILE)' ;;
esac
EOF
    chmod +x fake
    for shell in bash zsh fish; do
        "$top/tools/packaging/completion" ./fake $shell >of.$shell
    done
    bash --norc "$top/tests/run/completion/type.bash" of.bash lockhound db '' | offers add prune
    if command -v zsh >/dev/null; then
        cp of.zsh _lockhound
        in_zsh 'lockhound db ' add prune
        in_zsh 'lockhound db -' --file
    fi
    if command -v fish >/dev/null; then
        cp of.fish lockhound.fish
        touch at.txt
        in_fish 'lockhound db a' | offers add at.txt
    fi
    try "$top/tools/packaging/completion" false bash
    exits_with 1
    has 'lists nothing' err.txt
}
