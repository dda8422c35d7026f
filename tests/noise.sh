#!/bin/sh
# noise.sh NOISE: every method and preset is at chance on noise, with every protocol; the authors' inductive protocol is not,
# which shows that the program can tell. `build/bench/noise` does it in full.
set -eu
noise=$1
"$noise" --graphs 3 --nodes 100 --iterations 5 --slow-graphs 0
for method in best vgae sage; do
    "$noise" --graphs 2 --nodes 100 --method $method --kind random --protocol inductive
done
if "$noise" --graphs 6 --nodes 100 --method katz --kind random --protocol paper-inductive; then
    echo "the authors' protocol passed"
    exit 1
fi
