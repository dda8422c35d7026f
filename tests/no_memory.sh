#!/bin/sh
# no_memory.sh NPGNN SHIM [STEP]: runs commands in which one allocation fails, whoever asks for it (no_memory.c is the SHIM): the first, the
# one STEP later, and so on; 1 is every one. The command ends with status 0 and its whole output, or with status 1, a message
# and no file. STEP is 23 by default: each allocation starts the program once.
#
# One kind of allocations must not fail: those of libgfortran's constructor, which ends the program by itself. It says so.
set -eu
program=$(realpath "$1") shim=$(realpath "$2") step=${3:-23}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
graph=synthetic:nodes=100,words=100
NPGNN_NO_MEMORY_LOG=$folder/log
export NPGNN_NO_MEMORY_LOG

fail()
{
    echo "allocation $k of $count of npgnn $command: $*"
    cat err
    exit 1
}

# Output in which only the numbers may differ: times are among them.
shape() { sed 's/[-+0-9.e]*[0-9]/0/g' "$@"; }

# tried NPGNN'S ARGUMENTS...: the command writes `out`, or to standard output.
tried()
{
    k=1 command=$*
    rm -f out
    NPGNN_NO_MEMORY=0 LD_PRELOAD=$shim "$program" "$@" >stdout 2>err || { count=0 && fail 'fails anyway'; }
    cat stdout out 2>/dev/null | shape >wanted || :
    count=$(cut -d ' ' -f 1 log)
    [ "$count" -ge 20 ] || fail "allocations are not counted"
    while [ "$k" -le "$count" ]; do
        rm -f out
        status=0
        NPGNN_NO_MEMORY=$k LD_PRELOAD=$shim timeout 60 "$program" "$@" >stdout 2>err || status=$?
        case $status in
        0)
            cat stdout out 2>/dev/null | shape >got || :
            cmp -s wanted got || fail 'status 0 and another output'
            ;;
        1)
            grep -qE '^(npgnn: error|Operating system error): ' err || fail 'status 1 without an error'
            [ ! -e out ] || fail 'an error, and a file'
            ;;
        *) grep -q '^Operating system error: Cannot allocate memory' err || fail "status $status" ;;
        esac
        k=$((k + step)) tries=$((tries + 1))
    done
}

printf '{"source": "a", "target": "b"}\n{"source": "b", "target": "c", "weight": 2.5}\n' >edges.jsonl
printf '1 2\n3 4\n' >pairs
"$program" train $graph --iterations 2 --quiet -o model
tries=0
tried eval $graph --seeds 1 --iterations 2 --threads 1 --quiet --json out
tried eval $graph --method sc --seeds 1 --threads 1 --quiet
tried predict model $graph --pairs pairs --format jsonl --output out
tried info --edges edges.jsonl --json out
echo "$tries failed allocations"
