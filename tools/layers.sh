#!/bin/sh
# The layer law: which room may include which, and what no room may call. Prints every offence; fails when there is one.
set -eu
cd "$(dirname "$0")/.."
offences=$(mktemp)
trap 'rm -f "$offences"' EXIT

# What a room sees besides itself, the public header and what everything below it sees.
allowed()
{
    case $1 in
    base) echo '' ;;
    linalg) echo 'base' ;;
    graph | eval | model) echo 'base linalg' ;;
    io) echo 'base linalg graph model' ;; # the model for its file
    baselines) echo 'base linalg graph model train' ;; # Adam
    train) echo 'base linalg graph model eval io' ;; # io for its checkpoints
    predict) echo 'base linalg graph model eval' ;;
    api) echo 'base linalg graph model eval io baselines train predict' ;;
    *) return 1 ;;
    esac
}

# "FILE:LINE:PATH" of every include with quotes.
includes() { grep -Hno '^ *# *include *"[^"]*"' "$@" | sed 's/# *include *"\(.*\)"/\1/; s/: *\([^:]*\)$/:\1/' || true; }

check_room()
{
    room=$1
    sees=$(allowed "$room") || {
        echo "src/$room: the layer law does not know this room" >>"$offences"
        return
    }
    find "src/$room" -name '*.[ch]' | while read -r file; do
        includes "$file" | while IFS=: read -r name line path; do
            target=${path%%/*}
            case " $room npgnn $sees " in
            *" $target "*) ;;
            *) echo "$name:$line: $room must not see $path" ;;
            esac
        done
    done >>"$offences"
}

# The program and the examples use the public header alone: no header of a room, by quotes or by a path upwards.
check_outside()
{
    folder=$1
    find "$folder" -name '*.[ch]' | while read -r file; do
        includes "$file" | while IFS=: read -r name line path; do
            case $path in
            npgnn/npgnn.h) ;;
            */*) echo "$name:$line: $folder must see npgnn.h alone, not $path" ;;
            *) [ -f "$folder/$path" ] || echo "$name:$line: $folder must see npgnn.h alone, not $path" ;;
            esac
        done
    done >>"$offences"
}

# banned WHY PATTERN: calls that no file of the library makes. Comments are cut off first, as far as a line shows them.
banned()
{
    why=$1 pattern=$2
    find src -name '*.[ch]' | while read -r file; do
        sed 's,/\*.*,,; s,^ *\* .*,,; s,"[^"]*","",g' "$file" | grep -nE "(^|[^a-zA-Z0-9_])($pattern) *\(" |
            sed "s|^\([0-9]*\):.*|$file:\1: $why|" || true
    done >>"$offences"
}

for folder in src/*/; do
    check_room "$(basename "$folder")"
done
check_outside cli
check_outside examples
banned 'the library never ends the program' 'exit|_exit|abort|quick_exit'
banned 'the library never prints' 'printf|puts|putchar|perror|vprintf'
banned 'no unchecked text or number' 'atoi|atol|atof|strcpy|strcat|sprintf|vsprintf|gets|strtok'
banned 'random numbers come from base/rng.h' 'rand|srand|random|drand48'
if grep -rnE '(^|[^a-zA-Z_])(stdout|stderr)([^a-zA-Z_]|$)' src --include='*.[ch]' >>"$offences"; then
    echo 'src: the library never prints' >>"$offences"
fi

cat "$offences"
[ ! -s "$offences" ]
