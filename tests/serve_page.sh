#!/bin/sh
# serve_page.sh NPGNN CHECK.py CLICK.py: the page of npgnn serve in headless Chromium, at two nodes, narrow and wide: what is drawn, and where
# clicks lead. Screenshots are kept in the folder screenshots of the build. Skipped where Chromium is not installed.
set -eu
program=$(realpath "$1") check=$(realpath "$2") click=$(realpath "$3")
kept=${MESON_BUILD_ROOT:-$PWD}/screenshots
browser=$(command -v chromium || command -v chromium-browser) || exit 77
folder=$(mktemp -d)
sandbox=
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox # which root may not use
"$program" serve universal debian-python --listen 127.0.0.1:0 >"$folder/said" 2>"$folder/errors" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$folder"' EXIT
tries=0
until grep -q serving "$folder/said"; do
    kill -0 $server && [ $tries -lt 600 ] || { cat "$folder/errors"; exit 1; }
    tries=$((tries + 1))
    sleep 0.1
done
address=$(sed -n 's/^npgnn: serving //p' "$folder/said")
mkdir -p "$kept"

# browse OPTION... ADDRESS
browse()
{
    # shellcheck disable=SC2086 # none or one word
    HOME=$folder timeout 120 "$browser" --headless $sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" \
        --virtual-time-budget=20000 "$@" 2>"$folder/words" || { tail -5 "$folder/words"; return 1; }
}
for node in numpy flask; do # the address of a node is what a click on it leads to
    browse --window-size=1280,1000 --dump-dom "$address#$node" >"$folder/dom"
    python3 "$check" "$node" "$address" <"$folder/dom"
done
browse --window-size=1280,1000 --dump-dom "$address#%3Cb%3Enobody" >"$folder/dom" # no such node: a sentence, and no markup from its name
grep -q "there is no node '&lt;b&gt;nobody'" "$folder/dom"
# shellcheck disable=SC2086 # none or one word
HOME=$folder timeout 120 python3 "$click" "$browser" "$folder" "$address" $sandbox
for width in 500 1280; do
    browse --window-size=$width,1000 --screenshot="$kept/serve-$width.png" "$address#numpy"
    [ -s "$kept/serve-$width.png" ]
done
