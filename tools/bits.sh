#!/bin/sh
# bits.sh [BUILD [KERNELS...]]: hashes of what the program in BUILD (default: build) prints and writes, for each of these sets of
# kernels (default: all that this machine can run). A change that is not meant to alter results leaves all of them as they are:
#
#   tools/bits.sh >before; git checkout changed; ninja -C build; tools/bits.sh | diff before -
#
# Hashes of different machines cannot be compared: OpenBLAS chooses its kernels by the processor. BUILD needs bench/live
# (meson setup -Dtests=enabled). A minute per set of kernels on two cores.
set -eu
build=$(realpath "${1:-$(dirname "$0")/../build}")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npgnn() { "$build/npgnn" "$@" --quiet; }

# A shop of 300 users and 200 items, in ten groups whose users buy most of their items within the group, with dates.
awk 'BEGIN {
    srand(7)
    print "user,item,day"
    for (i = 0; i < 4000; i++) {
        user = int(300 * rand()); item = int((rand() < 0.7 ? 20 : 200) * rand())
        if (rand() < 0.7) item = (20 * (user % 10) + item) % 200
        if (!seen[user, item]++) printf "u%d,i%d,%d\n", user, item, 1 + int(400 * rand())
    }
}' >shop.csv
awk 'BEGIN { srand(5); for (i = 0; i < 500; i++) print "u" int(300 * rand()) "\ti" int(200 * rand()) }' |
    awk -F'[,\t]' 'NR == FNR { has[$1]; has[$2]; next } ($1 in has) && ($2 in has)' shop.csv - >shop.pairs
# 800 nodes in groups of 20.
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 3000; i++) {
        a = int(800 * rand()); b = rand() < 0.8 ? a - a % 20 + int(20 * rand()) : int(800 * rand())
        if (a != b) print "n" a " n" b
    }
}' >bare.tsv
awk 'BEGIN { srand(5); for (i = 0; i < 500; i++) { a = int(800 * rand()); print "n" a "\tn" (a + 1 + int(790 * rand())) % 800 } }' |
    awk 'NR == FNR { has[$1]; has[$2]; next } ($1 in has) && ($2 in has)' bare.tsv - >bare.pairs
npgnn convert debian-python -o features.npg >/dev/null
npgnn predict universal features.npg --top-links 400 --exclude none | cut -f1,2 >features.pairs

# hash LABEL COMMAND...: prints the hash of what COMMAND prints and, if it writes the file out, of that
hash()
{
    label=$1
    shift
    rm -f out
    "$@" >printed 2>messages || { echo "bits: $kernels, $label: $(tail -n 1 messages)" >&2; exit 1; }
    [ ! -f out ] || cat out >>printed
    printf '%-11s %-34s %s\n' "$kernels" "$label" "$(sha256sum <printed | cut -c1-16)"
}

# three processes with a thread each
several() { mpirun --oversubscribe -n 3 "$build/npgnn" "$@" --quiet -t 1; }

# judged COMMAND...: the figures of an evaluation, without times
judged() { "$@" --json - | grep -v 'seconds\|threads\|bytes\|processes'; }

# the answers of a live graph, without times
live() { "$build/bench/live" synthetic:nodes=3000,degree=5 20 | grep checksum; }

# searches NAME MODEL DATA...: all kinds of predictions
searches()
{
    name=$1 model=$2
    shift 2
    one=$(head -n 1 "$name.pairs" | cut -f1)
    hash "$name --pairs" npgnn predict "$model" "$@" --pairs "$name.pairs" --format jsonl
    hash "$name --samples" npgnn predict "$model" "$@" --pairs "$name.pairs" --samples 5 --format jsonl
    hash "$name --top" npgnn predict "$model" "$@" --top 5 --format jsonl
    hash "$name --top-links" npgnn predict "$model" "$@" --top-links 200 --format jsonl
    hash "$name --top --samples" npgnn predict "$model" "$@" --for "$one" --top 20 --samples 5 --rank-by lower-bound --format jsonl
    hash "$name --for" npgnn predict "$model" "$@" --top 20 --for "$one" --format jsonl
    hash "$name --explain" npgnn predict "$model" "$@" --top 10 --for "$one" --explain --format jsonl
    ! command -v mpirun >/dev/null || hash "$name mpirun --top" several predict "$model" "$@" --top 5 --format jsonl
}

[ $# -gt 1 ] && shift || set -- baseline x86-64-v3 x86-64-v4
for kernels; do
    export NPGNN_KERNELS=$kernels
    npgnn predict universal bare.tsv --pairs bare.pairs >/dev/null 2>messages || { cat messages >&2; continue; }
    searches features universal features.npg
    searches bare universal --edges bare.tsv
    searches shop universal --edges shop.csv --bipartite
    hash 'train best' npgnn train features.npg --preset best -o out
    hash 'train best, two-sided' npgnn train shop.csv --bipartite --preset best -o out
    npgnn train features.npg --preset best -o best.model >/dev/null
    hash 'train default' npgnn train features.npg --iterations 100 -o out
    hash 'train default --val' npgnn train features.npg --iterations 100 --val 0.05 -o out
    npgnn train features.npg --iterations 50 --val 0.05 -o default.model >/dev/null
    hash 'best --top' npgnn predict best.model features.npg --top 5 --format jsonl
    hash 'best --explain' npgnn predict best.model features.npg --top-links 20 --explain --format jsonl
    hash 'default --top' npgnn predict default.model features.npg --top 5 --format jsonl
    hash 'default --top-links --samples' npgnn predict default.model features.npg --top-links 100 --samples 4 --format jsonl
    hash 'three-steps --top' npgnn predict --method three-steps --edges shop.csv --bipartite --top 5 --format jsonl
    for method in universal best smoothed-cosine katz; do
        case $method in universal | best) option=--preset ;; *) option=--method ;; esac
        hash "eval $method" judged npgnn eval features.npg $option $method --seeds 2 --negatives all
    done
    hash 'eval best, new nodes' judged npgnn eval shop.csv --bipartite --time day --protocol temporal --preset best --seeds 2
    hash 'live' live
done
