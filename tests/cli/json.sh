# JSON that a JSON parser takes, with the keys that the documentation promises.
command -v python3 >/dev/null || exit 77
data=synthetic:nodes=200,seed=3

note info
npgnn info $data --json | python3 -m json.tool >/dev/null

note train
npgnn train $data -o model.safetensors --iterations 4 --quiet --json train.json --log train.jsonl
python3 -m json.tool train.json >/dev/null
npgnn info model.safetensors --json - | python3 -m json.tool >/dev/null

note log
python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("train.jsonl")]
print(len(lines), sorted(lines[0]))
print([line["iteration"] for line in lines])
PYTHON

note eval
npgnn eval $data --seeds 2 --iterations 4 --quiet --json eval.json >table
python3 - <<'PYTHON'
import json
report = json.load(open("eval.json"))
print(list(report))
print(list(report["seeds"][0]))
print(list(report["mean"]) == list(report["std"]) == list(report["se"]))
print(report["protocol"], report["method"], report["config"]["iterations"], report["config"]["latent"])
auc = [seed["auc"] for seed in report["seeds"]]
print(len(auc), abs(sum(auc) / 2 - report["mean"]["auc"]) < 1e-9, all(0 <= a <= 1 for a in auc))
print(report["peak_rss_bytes"] > 1000000)
print(report["seed_count"], len(report["split_hash"]), report["interval"])
PYTHON

note a single seed has no spread
npgnn eval $data --seeds 1 --method cosine --quiet --json - |
    python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["std"]["auc"], r["se"]["ap"])'
