#!/bin/sh
# manual.sh NPGNN PAGE: the manual page is well formed and documents every option of the program.
set -eu
program=$1 page=$2
command -v mandoc >/dev/null || exit 77
# mandoc looks for the pages that this one refers to; mpirun may not be installed
complaints=$(mandoc -Tlint -Wstyle "$page" | grep -v 'referenced manual not found: Xr mpirun 1' || true)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

# bold letters come as letter, backspace, letter
text=$(mandoc -Tascii "$page" | sed "s/.$(printf '\b')//g")
code=0
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    [ "$command" != help ] || continue
    for option in $("$program" "$command" --help | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'); do
        case $text in
        *"$option"[!a-z0-9-]*) ;;
        *)
            echo "$page does not document $option of npgnn $command"
            code=1
            ;;
        esac
    done
done
exit $code
