#!/bin/sh
# run.sh SOURCES BUILD: installs BUILD into a folder and builds a program against what is there, through pkg-config.
set -eu
sources=$1 build=$2
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

DESTDIR=$stage meson install -C "$build" --no-rebuild --quiet >/dev/null
pc=$(find "$stage" -name npgnn.pc)
[ -n "$pc" ] || { echo "npgnn.pc was not installed"; exit 1; }

PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$stage
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
flags=$(pkg-config --cflags --libs npgnn)
libraries=$(dirname "$(find "$stage" -name 'libnpgnn.so' | head -n 1)")

# A library built with sanitizers needs their runtime in the program too.
sanitize=
if nm -D "$libraries/libnpgnn.so" | grep -q __asan_init; then
    sanitize=-fsanitize=address,undefined
fi

# shellcheck disable=SC2086 # lists of words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror $sanitize "$sources/consumer.c" $flags -o "$stage/consumer"
[ "$(LD_LIBRARY_PATH=$libraries "$stage/consumer")" = "4 nodes, 3 edges" ]

# Linking it statically would take these as well.
for name in openblas jansson; do
    PKG_CONFIG_SYSROOT_DIR='' pkg-config --static --libs npgnn | grep -q -- "-l$name" || {
        echo "pkg-config --static does not name $name"
        exit 1
    }
done

# Only the public functions are visible.
if nm -D --defined-only "$libraries/libnpgnn.so" | awk '$2 == "T" { print $3 }' | grep -v '^npgnn_'; then
    echo "the library shows names of its own"
    exit 1
fi

# The header is good C++ too.
if command -v g++ >/dev/null; then
    printf '#include <npgnn/npgnn.h>\nint main() { return npgnn_version() == nullptr; }\n' >"$stage/consumer.cpp"
    # shellcheck disable=SC2046 # a list of words
    g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags npgnn) "$stage/consumer.cpp"
fi

for file in share/man/man1/npgnn.1 share/bash-completion/completions/npgnn include/npgnn/npgnn.h bin/npgnn; do
    find "$stage" -path "*/$file*" | grep -q . || { echo "$file was not installed"; exit 1; }
done
