#!/bin/sh
# injected.sh INJECT NPGNN: the program, while the first, second, ... system call on its files fails, is interrupted or is cut short
# (inject.c), up to the 11th, or the NPGNN_CALLS-th. It ends with status 0 and the same output as ever, or with status 1, a message, and no file or the old one.
set -eu
inject=$(realpath "$1") program=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail()
{
    echo "fault $fault, call $k of npgnn $command: $*"
    cat err
    exit 1
}

# tried FAULTS NPGNN'S ARGUMENTS...: it writes `out` (a file or a folder) or to standard output, and everything else stays as it is.
tried()
{
    faults=$1
    shift
    command=$* fault=none k=0
    rm -rf out wanted
    "$program" "$@" >stdout 2>err || fail 'fails anyway'
    [ ! -e out ] || mv out wanted
    mv stdout said
    for fault in $faults; do
        for k in $(seq "${NPGNN_CALLS:-11}"); do
            rm -rf out
            status=0
            "$inject" -f $fault -k $k "$program" "$@" >stdout 2>err || status=$?
            [ -e inject.log ] || { [ $status -eq 0 ] && break; }
            case $status in
            0)
                cmp -s said stdout || fail 'status 0 and another output'
                [ ! -e wanted ] || diff -r wanted out >/dev/null || fail 'status 0 and another file'
                ;;
            1)
                grep -q '^npgnn: error: ' err || fail 'status 1 without an error'
                [ ! -e out ] || { [ $fault -eq 7 ] && diff -r wanted out >/dev/null; } || fail 'an error, and a file'
                # reading goes on after an interruption and after half of the bytes
                [ $fault -ne 1 ] && [ $fault -ne 2 ] || fail 'an error, although nothing was wrong'
                ;;
            *) fail "status $status" ;;
            esac
            left=$(find . -name 'out.*')
            [ -z "$left" ] || fail "left behind: $left"
            strikes=$((strikes + 1))
        done
    done
}

printf 'source\ttarget\nann\tbob\nbob\tcid\ncid\tdan\ndan\tann\nbob\tdan\n' >edges.tsv
printf 'id,age,town\nann,31,ulm\nbob,44,ulm\ncid,28,bonn\ndan,50,bonn\n' >features.csv
printf 'ann cid\n' >pairs
"$program" train edges.tsv --features features.csv --iterations 2 --val 0 --quiet -o model --threads 1
strikes=0 read='0 1 2' write='3 4 5 7' # as inject.h lists them
tried "6" info edges.tsv --features features.csv
tried "$read" predict model edges.tsv --features features.csv --pairs pairs --threads 1 -o out
"$program" convert edges.tsv --features features.csv --quiet -o graph.npg
tried "$read" predict model graph.npg --pairs pairs --threads 1 -o out
tried "$write" predict model edges.tsv --features features.csv --pairs pairs --threads 1 -o out
tried "$write" convert edges.tsv --features features.csv -o out
tried "$write" train edges.tsv --features features.csv --iterations 2 --val 0 --quiet --threads 1 -o out
[ $strikes -ge 70 ] || { echo "only $strikes system calls were disturbed" && exit 1; }
echo "$strikes system calls failed"
