# SPDX-License-Identifier: MIT
# type.bash COMPLETION WORD... - what bash offers for the last word, one a line.
# A "=" is a word of its own, as readline splits.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_lockhound
printf '%s\n' "${COMPREPLY[@]}"
