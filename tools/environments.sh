#!/bin/sh
# environments.sh [NAME...]: whether `./run build` and `./run test --quick` work for people whose machine is not set up like yours. A clone
# of HEAD per environment, nothing installed. Without names: all.
#
#   blank     a folder with blanks and an umlaut in its name
#   zone      another time zone
#   german    LC_ALL=de_DE.UTF-8, where the decimal point is a comma
#   c         LC_ALL=C
#   user      neither root nor sudo                   (skipped unless root runs this script)
#   offline   no network                              (skipped unless root runs this script)
#   worst     all of the above at once, without c
#
# How ./run installs packages, with and without sudo, is in tests/packages.sh.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
failed=

german() { localedef -i de_DE -f UTF-8 "$folder/de_DE.UTF-8" >/dev/null 2>&1 || [ -d "$folder/de_DE.UTF-8" ]; }

# try NAME FOLDER VARIABLES COMMAND...: COMMAND runs ./run in a clone in FOLDER.
try()
{
    name=$1 place="$folder/$2" variables=$3
    shift 3
    git clone -q "$root" "$place"
    [ ! -e "$root/../shared" ] || ln -sfn "$(realpath "$root/../shared")" "$(dirname "$place")/shared"
    [ "$(id -u)" -ne 0 ] || chown -R "${owner:-root}" "$place"
    echo "== $name"
    # shellcheck disable=SC2086 # lists of words
    if (cd "$place" && env $variables "$@" ./run --no-install build && env $variables "$@" ./run --no-install test --quick) \
        >"$folder/log" 2>&1; then
        tail -n 1 "$folder/log"
    else
        tail -n 40 "$folder/log"
        failed="$failed $name"
    fi
    rm -rf "$place"
}

# The user nobody, without sudo on the path, in a home of his own.
mkdir "$folder/home" "$folder/bin"
for tool in /usr/bin/* /bin/*; do
    case ${tool##*/} in
    sudo | ccache) ;;
    *) ln -sf "$tool" "$folder/bin/${tool##*/}" ;;
    esac
done
as_nobody="HOME=$folder/home PATH=$folder/bin setpriv --reuid=65534 --regid=65534 --clear-groups"
for_german="LC_ALL=de_DE.UTF-8 LOCPATH=$folder"

[ $# -gt 0 ] || set -- blank zone german c user offline worst
for environment; do
    case $environment in
    user | offline | worst) [ "$(id -u)" -eq 0 ] || { echo "== $environment: skipped, needs root"; continue; } ;;
    esac
    case $environment in
    german | worst) german || { echo "== $environment: skipped, needs the package locales"; continue; } ;;
    esac
    owner=root
    case $environment in
    user | worst) owner=nobody && chown nobody "$folder/home" ;;
    esac
    case $environment in
    blank) try blank 'a folder für alle' '' ;;
    zone) try zone zone TZ=Pacific/Chatham ;;
    german) try german german "$for_german" ;;
    c) try c c LC_ALL=C ;;
    user) try user user "$as_nobody" ;;
    offline) try offline offline '' unshare -n ;;
    worst) try worst 'all für one' "TZ=Pacific/Chatham $for_german unshare -n env $as_nobody" ;;
    *) echo "no environment $environment" && exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
