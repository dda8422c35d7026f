#!/bin/sh
# serve.sh [NPGNN] [SECONDS] [REQUESTS]: npgnn serve under load on 127.0.0.1: /top and /score at a given rate, for SECONDS each (20); a new
# node from its POST to its suggestions; and memory before and after REQUESTS further requests (100000). Needs wrk (apt-get install wrk)
# and python3. Prints the load of the machine with the figures.
set -eu
program=$(realpath "${1:-$(dirname "$0")/../build/npgnn}") seconds=${2:-20} requests=${3:-100000}
cd "$(dirname "$0")"
export NODES=20000
command -v wrk >/dev/null || { echo 'wrk is missing: apt-get install wrk'; exit 1; }
folder=$(mktemp -d)
"$program" serve universal "synthetic:nodes=$NODES,degree=5" --listen 127.0.0.1:0 --journal "$folder/journal" >"$folder/said" 2>"$folder/errors" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q serving "$folder/said"; do
    kill -0 $server || { cat "$folder/errors"; exit 1; }
    sleep 0.1
done
address=$(sed -n 's,^npgnn: serving \(.*\)/$,\1,p' "$folder/said")
metric() { python3 -c 'import sys, urllib.request
print(next(line.split()[1] for line in urllib.request.urlopen(sys.argv[1] + "/metrics").read().decode().splitlines() if line.startswith(sys.argv[2] + " ")))' "$address" "$1"; }
load() { echo "load $(cut -d ' ' -f 1 /proc/loadavg) on $(nproc) cores"; }

# What a request costs is told by the processor time of the server, which depends less on the load of the machine than latencies do.
# processor BEFORE REQUESTS
processor() { python3 -c 'import sys; before, after, requests = map(float, sys.argv[1:]); print(f"processor time per request: {1e3 * (after - before) / requests:.2f} ms")' \
    "$1" "$(metric process_cpu_seconds_total)" "$2"; }

# measure KIND RATE
measure()
{
    before=$(metric process_cpu_seconds_total)
    KIND=$1 RATE=$2 CONNECTIONS=100 wrk -t 1 -c 100 -d "${seconds}s" -s serve.lua "$address" | grep '^RESULT' | tee "$folder/result"
    processor "$before" "$(sed 's/.*: \([0-9]*\) requests.*/\1/' "$folder/result")"
    load
}

echo "graph: $(metric npgnn_nodes) nodes, $(metric npgnn_links) links"
load
measure top 200
measure score 500
before=$(metric process_cpu_seconds_total)
python3 serve_new_node.py "$address"
processor "$before" 200 # a POST and a GET each
load

until [ "$(metric npgnn_new_nodes)" = 0 ]; do sleep 1; done # the refresh has memory of its own
before=$(metric process_resident_memory_bytes)
middle=
sent=0
while [ $sent -lt "$requests" ]; do
    KIND=mixed RATE=0 CONNECTIONS=16 wrk -t 1 -c 16 -d 10s -s serve.lua "$address" | grep '^RESULT' >"$folder/result"
    sent=$((sent + $(sed 's/.*: \([0-9]*\) requests.*/\1/' "$folder/result")))
    [ -n "$middle" ] || middle=$(metric process_resident_memory_bytes) first=$sent
done
echo "memory: $((before >> 20)) MiB, $((middle >> 20)) MiB after $first requests, $(($(metric process_resident_memory_bytes) >> 20)) MiB after $sent"
