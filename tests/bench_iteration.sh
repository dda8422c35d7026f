#!/bin/sh
# bench_iteration.sh ITERATION: the loss agrees with plain loops and the search with all scores, the tables have their rows, and
# processes that are simulated send and receive.
set -eu
iteration=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# has PATTERN: a line of `out`
has()
{
    grep -qE "$1" out || { echo "no line like $1:"; cat out; exit 1; }
}

# refused WORDS ARGUMENT...
refused()
{
    words=$1
    shift
    ! "$iteration" "$@" 2>err || { echo "not refused: $*"; exit 1; }
    grep -q -e "$words" err || { echo "$*: unclear"; cat err; exit 1; }
}

"$iteration" --threads 2 --nodes 3000 --seconds 0.01 >out
has '^2 threads; large matrix product: [0-9.]+ GFLOP/s'
has '^check against plain loops over all pairs of 500 nodes'
for loss in exact sampled; do
    has "^ +2708  $loss +[0-9.]+ "
    for threads in 1 2; do
        has "^Cora-sized +2708 +5385  $loss +$threads "
    done
done
has '^Cora-sized +2708 +5385  ten best of all +3665278 '
! grep -q PubMed out

"$iteration" --data synthetic:nodes=300 --loss sampled --iterations 2 --threads 1 >out
has '^synthetic:nodes= +300 +769  sampled +1 '
"$iteration" --data synthetic:nodes=300 --ranks 3 >out
has '^synthetic:nodes=300: 300 nodes, 769 links; 3 processes'
for process in 'process 0' 'process 1' 'process 2' mean largest; do
    has "^$process +[1-9][0-9]+ +[1-9][0-9]+ "
done

refused 'needs --data' --ranks 4
refused 'at most 3 processes' --data synthetic:nodes=300 --ranks 30
refused 'from 100 to' --data synthetic:nodes=3
refused '--loss is' --loss none
refused 'unknown option' --nothing 1
