#!/bin/sh
# blas.sh NPGNN TEST_BLAS FORK: the same model for any number of threads under every build of OpenBLAS that is installed: Debian has
# three, in folders side by side. NPGNN_OPENBLAS lists other folders. Ends with 77 (skipped) where none is found.
set -eu
npgnn=$(realpath "$1") products=$(realpath "$2") fork=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

train()
{
    timeout 200 env "$2" "$npgnn" train synthetic:nodes=600,seed=3 --loss exact --iterations 10 --threads "$3" --quiet -o "$1"
}

found=0
same()
{
    cmp "$1" "$2" || {
        echo "$3: another model"
        exit 1
    }
}

# Where the system's choice is one of the builds, it is tried twice.
for build in '' ${NPGNN_OPENBLAS-/usr/lib/*/openblas-serial /usr/lib/*/openblas-pthread /usr/lib/*/openblas-openmp}; do
    if [ -n "$build" ] && [ ! -e "$build/libopenblas.so.0" ]; then
        echo "not installed: $build"
        continue
    fi
    echo "OpenBLAS: ${build:-the one of the system}"
    export LD_LIBRARY_PATH="$build"
    [ -n "$build" ] || unset LD_LIBRARY_PATH
    train one A=B 1
    for _ in 1 2 3; do
        train many A=B 8
        same one many "$build, 8 threads"
    done
    for setting in OMP_THREAD_LIMIT=1 OMP_DYNAMIC=true OMP_NUM_THREADS=3 OPENBLAS_NUM_THREADS=3; do
        train many $setting 8
        same one many "$build, $setting"
    done
    timeout 200 "$products" >products.txt 2>&1 || {
        cat products.txt
        exit 1
    }
    timeout 200 "$fork" 10
    found=$((found + 1))
done
[ $found -gt 0 ] || exit 77
