#!/bin/sh
# The layer law: which folder may include which, and which functions none may call. Prints every violation.
set -eu
cd "$(dirname "$0")/.."
violations=$(mktemp)
trap 'rm -f "$violations"' EXIT

# What a folder may include besides its own headers and the public one.
allowed()
{
    case $1 in
    base) echo '' ;;
    linalg) echo 'base' ;;
    features) echo 'base linalg' ;;
    graph) echo 'base linalg features' ;;
    io | evidence | heuristics) echo 'base linalg features graph' ;;
    process) echo 'base linalg features' ;;
    examples) echo 'base linalg features graph evidence process' ;;
    model) echo 'base linalg features evidence process' ;;
    eval) echo 'base linalg features graph heuristics' ;;
    train) echo 'base linalg features graph evidence process examples model eval' ;;
    predict) echo 'base linalg features graph evidence process examples model' ;;
    search) echo 'base linalg features graph heuristics evidence process examples model predict' ;;
    live) echo 'base linalg features graph io evidence process examples model predict' ;;
    baselines) echo 'base linalg features graph heuristics model train' ;; # train for Adam
    store) echo 'base linalg features graph io evidence process model eval train' ;;
    jobs) echo 'base linalg features graph io evidence process examples model eval train predict search live heuristics baselines store' ;;
    *) return 1 ;;
    esac
}

# "FILE:LINE:PATH" of every include with quotes.
includes() { grep -Hno '^ *# *include *"[^"]*"' "$@" | sed 's/# *include *"\(.*\)"/\1/; s/: *\([^:]*\)$/:\1/' || true; }

check_folder()
{
    folder=$1
    sees=$(allowed "$folder") || {
        echo "src/$folder: folder is missing from the layer law" >>"$violations"
        return
    }
    find "src/$folder" -name '*.[ch]' | while read -r file; do
        includes "$file" | while IFS=: read -r name line path; do
            target=${path%%/*}
            case " $folder npgnn $sees " in
            *" $target "*) ;;
            *) echo "$name:$line: $folder must not include $path" ;;
            esac
        done
    done >>"$violations"
}

# The program and the examples use the public header alone: no header of src/. Two exceptions: the program writes files and
# reads JSON and UTF-8 by the same code as the library, which it compiles for itself.
check_outside()
{
    folder=$1
    find "$folder" -name '*.[ch]' | while read -r file; do
        includes "$file" | while IFS=: read -r name line path; do
            case $path in
            npgnn/npgnn.h) ;;
            io/atomic.h | base/json.h | base/utf8.h) [ "$folder" = cli ] || echo "$name:$line: $folder may include npgnn.h only, not $path" ;;
            */*) echo "$name:$line: $folder may include npgnn.h only, not $path" ;;
            *) [ -f "$folder/$path" ] || [ -f "${file%/*}/$path" ] || echo "$name:$line: $folder may include npgnn.h only, not $path" ;;
            esac
        done
    done >>"$violations"
}

# MPI is called in one file, which the others know nothing of.
grep -rnE '(^|[^a-zA-Z0-9_])(MPI_[A-Za-z_]+|mpi\.h)' src cli include examples --include='*.[ch]' | grep -v '^src/base/comm_mpi\.c:' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: MPI belongs into src\/base\/comm_mpi.c/' >>"$violations" || true

# banned WHY PATTERN: calls that no file of the library makes. Comments are cut off first, as far as a line shows them.
banned()
{
    why=$1 pattern=$2
    find src -name '*.[ch]' | while read -r file; do
        sed 's,/\*.*,,; s,^ *\* .*,,; s,"[^"]*","",g' "$file" | grep -nE "(^|[^a-zA-Z0-9_])($pattern) *\(" |
            sed "s|^\([0-9]*\):.*|$file:\1: $why|" || true
    done >>"$violations"
}

for folder in src/*/; do
    check_folder "$(basename "$folder")"
done
check_outside cli
check_outside examples
banned 'the library never ends the program' 'exit|_exit|abort|quick_exit'
banned 'the library never prints' 'printf|puts|putchar|perror|vprintf'
banned 'no unchecked text or number' 'atoi|atol|atof|strcpy|strcat|sprintf|vsprintf|gets|strtok'
banned 'random numbers come from base/rng.h' 'rand|srand|random|drand48'
if grep -rnE '(^|[^a-zA-Z_])(stdout|stderr)([^a-zA-Z_]|$)' src --include='*.[ch]' >>"$violations"; then
    echo 'src: the library never prints' >>"$violations"
fi

cat "$violations"
[ ! -s "$violations" ]
