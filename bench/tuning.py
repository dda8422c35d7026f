#!/usr/bin/env python3
"""What tuning is worth: `best` against `universal`, on many graphs and in every protocol.

    bench/tuning.py --seeds 3 links.tsv 'shop.csv --bipartite --time date' 'cora' ...

Each argument is what `npgnn eval` is to read, with its options. Graphs with --time get the temporal protocol too. Prints the mean
AUC of both in percent and their difference on the same splits, with its standard error; then the mean over the graphs.
"""

import argparse
import json
import math
import shlex
import statistics
import subprocess

PROTOCOLS = ["transductive", "inductive", "few-shot", "production"]


def aucs(program, data, protocol, seeds, first):
    """AUC of `universal` and of `best`, of each seed, in percent."""
    command = [program, "eval", *data, "--protocol", protocol, "--preset", "best", "--seeds", str(seeds), "--seed", str(first)]
    output = subprocess.run(command + ["--quiet", "--json", "-"], check=True, capture_output=True, text=True).stdout
    runs = json.loads(output)["seeds"]
    return [[100 * run[which] for run in runs] for which in ("untuned_auc", "auc")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", help="what npgnn eval reads, with options")
    parser.add_argument("--program", default="build/npgnn")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    options = parser.parse_args()
    gains = {}
    print(f"{'protocol':13} {'graph':32} universal   best  difference")
    for graph in options.graphs:
        data = shlex.split(graph)
        for protocol in PROTOCOLS + ["temporal"] * ("--time" in data):
            try:
                universal, best = aucs(options.program, data, protocol, options.seeds, options.seed)
            except subprocess.CalledProcessError as failure:  # too small to be split so
                print(f"{protocol:13} {data[0]:32} {failure.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            gain = [b - u for b, u in zip(best, universal)]
            error = statistics.stdev(gain) / math.sqrt(len(gain)) if len(gain) > 1 else math.nan
            gains.setdefault(protocol, []).append(statistics.mean(gain))
            print(f"{protocol:13} {data[0]:32} {statistics.mean(universal):9.1f} {statistics.mean(best):6.1f} "
                  f"{gains[protocol][-1]:+6.1f} ± {error:.1f}", flush=True)
    for protocol, of in gains.items():
        print(f"{protocol:13} mean of {len(of)}: {statistics.mean(of):+.2f}; least {min(of):+.1f}; below -0.5: "
              f"{sum(g < -0.5 for g in of)}")


if __name__ == "__main__":
    main()
