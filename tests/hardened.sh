#!/bin/sh
# hardened.sh NPGNN LIBRARY SANITIZER: checks that the binaries have the hardening that the build asks for. Skipped (77) without readelf.
set -eu
command -v readelf >/dev/null || exit 77

fail() { echo "$1: $2" && exit 1; }

for binary in "$1" "$2"; do
    readelf -hW "$binary" | grep -q 'Type: *DYN' || fail "$binary" 'is not position-independent'
    readelf -lW "$binary" | grep -q GNU_RELRO || fail "$binary" 'has no read-only relocations'
    readelf -dW "$binary" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || fail "$binary" 'binds lazily'
    readelf -lW "$binary" | grep 'GNU_STACK' | grep -q 'RW ' || fail "$binary" 'has an executable stack'
    readelf -sW "$binary" | grep -q __stack_chk_fail || fail "$binary" 'has no stack protector'
    [ "$3" != none ] || readelf -sW "$binary" | grep -q '_chk@' || fail "$binary" 'has no fortified calls'
done
