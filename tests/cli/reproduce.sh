# npgnn reproduce on small graphs.
command -v python3 >/dev/null || exit 77
data=synthetic:nodes=200,seed=3

# reproduce OPTION...: small and quiet.
reproduce() { npgnn reproduce --epochs 5 --quiet "$@"; }

# Which results are in a folder, and when they were written.
listing() { (cd "$1" && stat -c '%n %y' *.json); }

note a table
reproduce --datasets $data --seeds 2 --table ablation --json first.json --html report.html

note nothing is run twice
listing reproduce-cache >before
npgnn reproduce --epochs 5 --datasets $data --seeds 2 --table ablation --json second.json 2>&1 >/dev/null |
    sed 's/[0-9]* results/N results/'
listing reproduce-cache | cmp before -
cmp first.json second.json

note an incomplete result is computed again
broken=$(ls reproduce-cache/*.json | head -1)
head -c 100 "$broken" >cut
cp cut "$broken"
reproduce --datasets $data --seeds 2 --table ablation --json second.json >/dev/null
python3 -m json.tool "$broken" >/dev/null

note --fresh computes everything again, with the same results
reproduce --datasets $data --seeds 2 --table ablation --json second.json --fresh >/dev/null
listing reproduce-cache >after
join before after | awk '$3 == $6' # results that were not written again
python3 - <<'PYTHON'
import json
def scores(name):
    return [(seed["auc"], seed["ap"]) for cell in json.load(open(name))["cells"] for seed in cell["seeds"]]
print(scores("first.json") == scores("second.json"), len(scores("first.json")))
PYTHON

note other options give other results
npgnn reproduce --epochs 6 --quiet --datasets $data --seeds 2 --table ablation --json second.json >/dev/null
python3 - <<'PYTHON'
import json
first, second = (json.load(open(name))["cells"] for name in ("first.json", "second.json"))
scores = lambda cell: [seed["ap"] for seed in cell["seeds"]]
print(any(scores(a) == scores(b) for a, b in zip(first, second)))
variants = {cell["variant"]: scores(cell) for cell in first if cell["protocol"] == "paper-inductive"}
print([name for name in variants if name != "default" and variants[name] == variants["default"]])
PYTHON

note json
python3 - <<'PYTHON'
import json
report = json.load(open("first.json"))
print(list(report))
print([cell["label"] for cell in report["cells"]][:4])
cell = report["cells"][0]
print(sorted(cell))
print(cell["verdict"], cell["n"], cell["config"]["iterations"], cell["split"], cell["peak_rss_bytes"] > 1000000)
auc = [seed["auc"] for seed in cell["seeds"]]
print(abs(sum(auc) / 2 - cell["mean"]["auc"]) < 1e-9, abs(abs(auc[0] - auc[1]) / 2 - cell["se"]["auc"]) < 1e-9)
print("curves" in cell)
PYTHON

note the same as eval
npgnn eval $data --seed 2 --seeds 1 --iterations 5 --protocol paper-inductive --quiet --json eval.json >/dev/null
python3 - <<'PYTHON'
import json
run = json.load(open("eval.json"))["seeds"][0]
cells = json.load(open("first.json"))["cells"]
cell = next(c for c in cells if c["protocol"] == "paper-inductive" and c["variant"] == "default")
print(all(cell["seeds"][1][key] == run[key] for key in ("auc", "ap", "split_hash", "seed")))
PYTHON

note the HTML report is complete
grep -cE 'https?://' report.html || true
python3 - <<'PYTHON'
import json, re
page = open("report.html").read()
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
print(len(data["cells"]), list(data["plots"]))
plot = next(iter(data["plots"].values()))
print(len(plot["x"]) == len(plot["y"]) == len(plot["label"]) == plot["nodes"] == 200)
curves = data["cells"][0]["curves"]
print(sorted(curves), all(len(c["x"]) == len(c["y"]) <= 200 for c in curves.values()))
print(curves["roc"]["x"][0] == 0, curves["roc"]["y"][-1] == curves["pr"]["x"][-1] == 1)
x, y = curves["roc"]["x"], curves["roc"]["y"] # few pairs: no point was left out, and the area is the AUC
area = sum((x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2 for i in range(len(x) - 1))
print(abs(area - data["cells"][0]["seeds"][0]["auc"]) < 1e-4)
x, y, label = plot["x"], plot["y"], plot["label"] # along both axes, the classes differ by more than chance would have it
def between(place):
    mean = lambda items: sum(items) / len(items)
    groups = [[p for p, l in zip(place, label) if l == c] for c in set(label)]
    return sum(len(g) * (mean(g) - mean(place)) ** 2 for g in groups) / sum((p - mean(place)) ** 2 for p in place)
print(plot["projection"], between(x) > between(y) > 0.2, max(map(abs, x)) == max(map(abs, y)) == 1)
print(1 > plot["nearest"] > 2 / len(set(label)), plot["classes"], all(0 < share < 1 for share in plot["share"]))
PYTHON

note verdicts, rows beyond the paper, and the split of the authors
mkdir cora
seq 0 299 | awk '{ print $1 "\t" ($1 + 1) % 300; print $1 "\t" ($1 + 7) % 300 }' >cora/edges.tsv
seq 0 299 | awk '{ print $1 % 2, $1 % 3, $1 % 5 }' OFS=, >cora/features.csv
reproduce --datasets cora --data-dir . --table transductive --seeds 1 --cache kept --json part.json >tables 2>words
cat words
python3 - <<'PYTHON'
import json
report = json.load(open("part.json"))
print(report["missing"])
for cell in report["cells"]:
    print(cell["label"], cell["variant"], cell["split"], cell["verdict"], "paper" in cell, cell["config"]["process"])
PYTHON
npgnn eval cora/edges.tsv --features cora/features.csv --split authors --method cosine --seeds 1 --quiet --save-split authors.tsv >eval.txt
python3 - <<'PYTHON'
import json
cells = {cell["label"]: cell for cell in json.load(open("part.json"))["cells"]}
print(cells["npgnn, authors' split"]["seeds"][0]["split_hash"] in open("eval.txt").readline())
PYTHON

note a run that fails, and the others: this graph has too few non-links for the split of the authors
mkdir -p small/cora
seq 0 13 | awk '{ for (j = $1 + 1; j < 14; j++) if (($1 * 5 + j * 3) % 4) print $1 "\t" j }' >small/cora/edges.tsv
seq 0 13 | awk '{ print $1 % 2, $1 % 3, $1 % 5 }' OFS=, >small/cora/features.csv
cd small
status 1 reproduce --datasets cora --table transductive --seeds 1 --json part.json >tables
grep 'not finished' tables
python3 -c 'import json; print(json.load(open("part.json"))["missing"])'
cd ..

note an interrupt
npgnn reproduce --datasets $data --table few-shot --seeds 100 --epochs 300 --quiet --cache stopped >/dev/null 2>words &
job=$!
for _ in $(seq 600); do
    [ "$(ls stopped 2>/dev/null | grep -c 'json$')" -lt 3 ] && kill -0 $job || break
    sleep 0.1
done
kill -s TERM $job
status 143 wait $job
cat words
ls stopped | grep -cv 'json$' || true # no partial files are left
python3 -c 'import glob; print(3 <= len(glob.glob("stopped/*.json")) < 300)'

note continuing after it
listing stopped >before
reproduce --epochs 300 --datasets $data --table few-shot --seeds 2 --cache stopped --json rest.json >/dev/null
listing stopped | join before - | awk '$3 != $6' # results that were written again
python3 -c 'import json; print(all(cell["n"] == 2 for cell in json.load(open("rest.json"))["cells"]))'

note usage
status 2 npgnn reproduce --table none
status 2 npgnn reproduce --datasets ''
status 1 npgnn reproduce --datasets no-such-graph --data-dir . --cache kept
