#!/bin/sh
# real.sh NPGNN: the real data sets, fetched from a folder and then loaded by name. Skipped (77) where the data is missing:
# $NPGNN_DATA, or shared/data beside the checkout.
set -eu
program=$1
here=$(dirname "$0")
for mirror in "${NPGNN_DATA:-}/planetoid" "$here/../../../shared/data/planetoid"; do
    [ -f "$mirror/ind.cora.graph" ] && break
done
[ -f "$mirror/ind.cora.graph" ] || exit 77
unset NPGNN_DATA
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME

if "$program" info cora 2>"$folder/said"; then exit 1; fi
grep -F 'npgnn fetch cora' "$folder/said"
"$program" fetch cora,citeseer,pubmed --mirror "$mirror" --quiet
[ "$("$program" fetch --list | grep -c ' downloaded ')" -eq 3 ]
"$program" info cora | grep -E '^nodes +2708$'
"$program" info citeseer | grep -E '^nodes +3327$'
"$program" info pubmed | grep -E '^nodes +19717$'
