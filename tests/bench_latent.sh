#!/bin/sh
# bench_latent.sh LATENT: the experiment on z runs on a small corpus, tests every family in some fold, and prints the same
# for any number of threads.
set -eu
latent=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/corpus"
for family in oak-1 oak-2 ash_1 elm_7.1 elm_7.2 fir; do
    size=$((50 + $(echo "$family" | wc -c) * 7))
    awk -v n="$size" 'BEGIN { for (i = 0; i < n; i++) { print i, (i + 1) % n; print i, (i * i + 3) % n } }' \
        >"$folder/corpus/$family.edges"
done
"$latent" "$folder/corpus" --steps 2 --least-links 6 --threads 1 >"$folder/one" 2>/dev/null
"$latent" "$folder/corpus" --steps 2 --least-links 6 --threads 3 >"$folder/three" 2>/dev/null
cmp "$folder/one" "$folder/three"
grep -q '^6 tasks with at least 6 hidden links, 4 families in 2 folds' "$folder/one"
grep -q '^whole graphs: 6 tasks' "$folder/one"
grep -q 'context    - none            families    4' "$folder/one"
"$latent" "$folder/corpus" --steps 2 --least-links 6 --cap 1 --coarse 1 2>/dev/null | grep -q '^whole graphs: 4 tasks'
! "$latent" "$folder/corpus" --folds 1 2>/dev/null
