#!/bin/sh
# run.sh SOURCES BUILD VERSION: installs BUILD into a folder and uses what is there as a stranger would: the program, and the library
# through pkg-config, through CMake and from C++.
set -eu
sources=$1 build=$2 version=$3
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
unset LD_LIBRARY_PATH

fail() { echo "$*"; exit 1; }

DESTDIR=$stage/staged meson install -C "$build" --no-rebuild --quiet >/dev/null
for file in share/man/man1/npgnn.1 share/bash-completion/completions/npgnn include/npgnn/npgnn.h bin/npgnn; do
    find "$stage" -path "*/$file*" | grep -q . || fail "$file was not installed"
done

# The prefix, moved to a place that was not known when it was built, with a name that has to be quoted.
prefix="$stage/a prefix"
mv "$(dirname "$(dirname "$(find "$stage" -path '*/bin/npgnn')")")" "$prefix"
libraries=$(dirname "$(find "$prefix" -name 'libnpgnn.so' | head -n 1)")
[ "$("$prefix/bin/npgnn" --version)" = "npgnn $version" ] || fail 'the installed program does not start'
"$prefix/bin/npgnn" info synthetic:nodes=100 >/dev/null
# the library that it loads is the one beside it
ldd "$prefix/bin/npgnn" | grep -qF "$prefix" || fail 'the installed program uses another library than the installed one'

# A library built with sanitizers needs their run time in the program too.
sanitize=
if nm -D "$libraries/libnpgnn.so" | grep -q __asan_init; then
    sanitize=-fsanitize=address,undefined
fi

# ---- pkg-config ----

PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion npgnn)" = "$version" ] || fail 'pkg-config gives another version'
cp "$sources/consumer.c" "$stage"
# The prefix is in quotes and escapes here, so the shell has to read the flags.
flags=$(pkg-config --define-variable=prefix="$(echo "$prefix" | sed 's/ /\\ /g')" --cflags --libs npgnn)
eval "${CC:-cc} -std=c11 -Wall -Wextra -Werror $sanitize $stage/consumer.c $flags -o $stage/consumer"
[ "$(LD_LIBRARY_PATH=$libraries "$stage/consumer")" = "4 nodes, 3 edges" ] || fail 'consumer with pkg-config'

# Linking it statically would take these as well.
for name in openblas jansson; do
    pkg-config --static --libs npgnn | grep -q -- "-l$name" || fail "pkg-config --static does not name $name"
done

# ---- CMake ----

# configure VERSION: asks find_package for at least that version.
configure()
{
    cmake -G Ninja -S "$sources" -B "$stage/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DNPGNN_VERSION="$1" -DCMAKE_C_FLAGS="$sanitize"
}
if command -v cmake >/dev/null; then
    ! configure 99.0 >"$stage/log" 2>&1 || fail 'CMake takes a version that is too old'
    rm -rf "$stage/cmake"
    (configure "$version" && cmake --build "$stage/cmake") >"$stage/log" 2>&1 || fail "CMake: $(cat "$stage/log")"
    # in its build folder the program knows where the library is
    [ "$("$stage/cmake/consumer")" = "4 nodes, 3 edges" ] || fail 'the program that CMake built'
else
    echo 'no cmake: its package is not tested'
fi

# ---- what the library shows ----

# Only the public functions, under a version of their own.
nm -D --defined-only "$libraries/libnpgnn.so" | awk '$2 == "T" { print $3 }' >"$stage/symbols"
! grep -v '^npgnn_[a-z_0-9]*@@NPGNN_0$' "$stage/symbols" || fail 'the library shows other names than npgnn_*@@NPGNN_0'

# The header is good C++ too.
if command -v g++ >/dev/null; then
    printf '#include <npgnn/npgnn.h>\nint main() { return npgnn_version() == nullptr; }\n' >"$stage/consumer.cpp"
    g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$stage/consumer.cpp"
fi
