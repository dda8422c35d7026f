# Very small and degenerate graphs: each command prints a clear error or a sensible result.
train() { npgnn train "$@" -o model.safetensors --iterations 3 --quiet; }
features() { for i in $(seq 0 "$1"); do echo "$i,$((i % 2)),1"; done >features.csv; }

note no edges at all
: >empty.txt
npgnn info --edges empty.txt
status 1 train --edges empty.txt
status 1 train --edges empty.txt --preset best
status 1 npgnn eval --edges empty.txt --quiet

status 1 npgnn train --edges empty.txt --val 0.05 -o model.safetensors --quiet

note one node with a self loop
echo '0 0' >loop.txt
npgnn info --edges loop.txt
status 1 train --edges loop.txt

note no features
printf '0 1\n1 2\n2 3\n3 0\n' >ring.txt
status 1 train --edges ring.txt
status 1 npgnn eval --edges ring.txt --method npgnn --quiet --val 0.25 --test 0.25
npgnn eval --edges ring.txt --method katz --quiet --val 0 --test 0.25 | head -n 1

note two nodes
echo '0 1' >two.txt
features 1
train --edges two.txt --features features.csv
printf '0 1\n' | npgnn predict model.safetensors --edges two.txt --features features.csv --pairs -
train --edges two.txt --features features.csv --preset best
status 1 npgnn train --edges two.txt --features features.csv --val 0.05 -o model.safetensors --quiet
status 1 npgnn eval --edges two.txt --features features.csv --quiet

note complete
printf '0 1\n0 2\n1 2\n' >complete.txt
features 2
train --edges complete.txt --features features.csv
status 1 npgnn eval --edges complete.txt --features features.csv --quiet

note nothing left to train
features 3
status 1 npgnn eval --edges ring.txt --features features.csv --val 0.5 --test 0.5 --quiet
status 2 npgnn eval --edges ring.txt --features features.csv --test 1.5 --quiet

note features all zero
printf '0,0\n1,0\n2,0\n3,0\n' >zero.csv
status 1 train --edges ring.txt --features zero.csv

note nobody to predict for
train --edges ring.txt --features features.csv
: | npgnn predict model.safetensors --edges ring.txt --features features.csv --pairs -

note left behind
ls
