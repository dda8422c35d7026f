#!/bin/sh
# run.sh NPGNN CHECK.js PAGE: the HTML page of `npgnn reproduce`, `demo` or `compare` in headless Chromium, narrow and wide, light and dark:
# no errors, no overlaps, nothing is loaded. Screenshots are kept in the folder screenshots of the build. Skipped where Chromium is not
# installed.
set -eu
program=$(realpath "$1") check=$(realpath "$2") page=$3
kept=${MESON_BUILD_ROOT:-$PWD}/screenshots
browser=$(command -v chromium || command -v chromium-browser) || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
sandbox=
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox # which root may not use

case $page in
reproduce)
    "$program" reproduce --datasets synthetic:nodes=200,seed=3 --seeds 2 --epochs 10 --quiet --cache kept --html page.html >tables
    ;;
demo)
    "$program" demo --quiet --html page.html >printed
    ;;
compare)
    "$program" compare synthetic:nodes=300,seed=3 --methods universal,katz,cosine --seeds 6 --negatives hard --quiet --html page.html >tables
    ;;
esac
! grep -nE '(src|href)="[^"]|url\(|@import|https?://' page.html | grep -v 'href="data:,"' | cut -c 1-200 | grep . || exit 1

# The check comes first, so that it sees errors of the page's own script.
awk -v check="$check" -v page="$page" '{ print } /^<head>/ { print "<script>const PAGE = \"" page "\";"; while ((getline line <check) > 0) print line; print "</script>" }' \
    page.html >checked.html

# look WIDTH SCHEME: 0 is dark, 1 is light. In a frame, since a window has a least width that phones do not.
look()
{
    cat >frame.html <<HTML
<!DOCTYPE html><iframe src="checked.html" width="$1" height="900"></iframe>
<script>onmessage = event => document.body.setAttribute("data-found", event.data);</script>
HTML
    # shellcheck disable=SC2086 # none or one word
    HOME=$folder timeout 120 "$browser" --headless $sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" \
        --window-size=1400,1000 --blink-settings=preferredColorScheme="$2" --virtual-time-budget=10000 --dump-dom \
        "file://$folder/frame.html" 2>words >dom || { tail -5 words; return 1; }
    found=$(sed -n 's/.*data-found="\([^"]*\)".*/\1/p' dom | head -1)
    echo "scheme $2: ${found:-the script did not run}"
    [ "$found" = "width $1: no problem" ]
    mkdir -p "$kept"
    # shellcheck disable=SC2086
    HOME=$folder timeout 120 "$browser" --headless $sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" \
        --window-size=1400,1000 --blink-settings=preferredColorScheme="$2" --virtual-time-budget=10000 \
        --screenshot="$kept/$page-$1-$2.png" "file://$folder/frame.html" 2>words || { tail -5 words; return 1; }
    [ -s "$kept/$page-$1-$2.png" ]
}
look 360 1
look 1280 1
look 1280 0
