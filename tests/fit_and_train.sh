#!/bin/sh
# fit_and_train.sh NPGNN FIT: the library's npgnn_fit and `npgnn train`, both with their defaults, write the same model, to the bit,
# also when the latter is stopped and resumed; and it is calibrated.
set -eu
npgnn=$(realpath "$1") fit=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
data=synthetic:nodes=200,seed=3
for preset in default best; do
    "$fit" $data $preset 12 fitted
    "$npgnn" train $data --preset $preset --iterations 12 -o trained.safetensors --quiet
    cmp fitted trained.safetensors
    "$npgnn" info trained.safetensors | grep -q '^probabilities *calibrated'
    [ $preset = default ] || continue # a process is tuned in one go
    "$npgnn" train $data --preset $preset --iterations 12 -o saved --quiet --checkpoint state --checkpoint-every 9
    cmp fitted saved
    "$npgnn" train $data -o resumed --quiet --resume state.prev
    cmp fitted resumed
done
