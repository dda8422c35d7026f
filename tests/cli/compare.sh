# npgnn compare.
data=synthetic:nodes=300,seed=3

note three methods on six seeds
npgnn compare $data --methods cosine,katz,universal --seeds 6 --quiet --json all.json --html page.html
python3 - <<'PYTHON'
import json
report = json.load(open("all.json"))
print(report["reference"], report["seed_count"], [method["name"] for method in report["methods"]])
first, second = report["methods"][:2]
assert first["difference"] is None
for metric in "auc", "ap", "mrr":
    pairs = [(a[metric], b[metric]) for a, b in zip(first["seeds"], second["seeds"])]
    got = second["difference"][metric]
    assert abs(sum(b - a for a, b in pairs) / 6 - got["mean"]) < 1e-9, metric
    assert got["better"] == sum(b > a for a, b in pairs) and got["worse"] == sum(b < a for a, b in pairs)
    assert got["interval"][0] <= got["mean"] <= got["interval"][1] and 0.03 < got["p"] <= 1
assert all(a["split_hash"] == b["split_hash"] for a, b in zip(first["seeds"], second["seeds"]))
PYTHON
grep -c '<path class="curve' page.html

note the same as eval, for any number of threads
npgnn eval $data --method katz --seeds 6 --quiet --json eval.json >eval.txt
for file in eval all; do
    python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
runs = report.get("methods", [report, report])[1]["seeds"]
print([(run["auc"], run["ap"], run["mrr"], run["split_hash"]) for run in runs])' $file.json >$file.runs
done
cmp eval.runs all.runs
npgnn compare $data --methods cosine,katz --seeds 6 --quiet --threads 1 >one
npgnn compare $data --methods cosine,katz --seeds 6 --quiet --threads 3 | cmp - one

note presets, and too few seeds for p
npgnn compare $data --methods best,universal --seeds 2 --quiet >few
sed -n 's/^\(universal  *[AM][A-Z]*\) .* of 2\( .*\)/\1\2/p' few # the rest depends on the machine
npgnn compare $data --methods universal,cosine --seeds 1 --quiet

note hard negatives, all nodes, one split for all seeds, and options of the model, as in eval
npgnn compare $data --methods cosine,katz --seeds 6 --negatives hard --quiet
npgnn compare $data --methods cosine,katz --seeds 6 --negatives all --quiet --json full.json | head -4
npgnn eval $data --method katz --seeds 6 --negatives all --quiet --json eval.json >eval.txt
npgnn compare $data --methods cosine,npgnn --seeds 1 --split authors --epochs 3 --quiet --json fixed.json >fixed.txt
npgnn eval $data --seeds 1 --split authors --epochs 3 --quiet --json model.json >model.txt
python3 - <<'PYTHON'
import json
load = lambda name: json.load(open(name + ".json"))
full, fixed = load("full")["methods"][1]["seeds"], load("fixed")["methods"][1]["seeds"]
keys = "auc", "mrr", "full_mrr", "full_hits10"
print([[run[key] for key in keys] for run in full] == [[run[key] for key in keys] for run in load("eval")["seeds"]])
print([run[key] for run in fixed for key in ("auc", "split_hash")] == [run[key] for run in load("model")["seeds"] for key in ("auc", "split_hash")])
PYTHON

note splits for other programs
npgnn compare $data --save-splits splits --seeds 2 --quiet
ls splits
npgnn eval $data --method cosine --seeds 1 --quiet --save-split same.tsv >eval.txt
cmp same.tsv splits/split-1.tsv
sort -n -k 1,1 -k 2,2 -c splits/pairs-1.tsv
awk '$1 > $2' splits/pairs-1.tsv

note scores of another program: those of a perfect one, and those of one that knows nothing
for seed in 1 2; do
    awk -v seed=$seed '$1 == "test" { print seed, $3, $2, $4 }' splits/split-$seed.tsv
done >perfect
awk '{ print $1 "\t" $2 "\t" $3 "\t" 7 }' perfect | sort -r >blind
npgnn compare $data --methods cosine --scores perfect=perfect --scores 'a <b>=blind' --seeds 2 --quiet --json scores.json --html scores.html
python3 - <<'PYTHON'
import json
perfect, blind = json.load(open("scores.json"))["methods"][1:]
for run in perfect["seeds"]:
    assert (run["auc"], run["ap"], run["mrr"]) == (1, 1, 1) and run["degree_auc"] is None
assert all(run["auc"] == 0.5 for run in blind["seeds"])
PYTHON
grep -c '<td>a &lt;b&gt;</td>' scores.html

note scores that differ by less than a float can tell
awk '{ print $1, $2, $3, $4 ? "1.000000000001" : "1.0" }' perfect >close
npgnn compare $data --scores perfect=perfect --scores close=close --seeds 2 --quiet | grep -A 3 '^close *AUC' | tr -s ' '

note broken scores
broken()
{
    status 1 npgnn compare $data --methods cosine --scores theirs=broken --seeds 2 --quiet
}
sed 3d perfect >broken
status 1 npgnn compare $data --methods cosine --scores theirs=broken --seeds 2 --quiet 2>words
sed -E "s/line [0-9]+ of/line N of/; s/'[0-9]+'/NODE/g" words
{ cat perfect; sed -n 5p perfect; } >broken
broken
# a pair of seed 1 that is no test pair: a training link
awk '$1 == "train" && !done { print 1, $2, $3, 0.5; done = 1 }' splits/split-1.tsv >broken
broken 2>words
sed -E "s/'[0-9]+'/NODE/g" words
for line in '3 1 2 0.5' '1 1 2' '1 1 2 0.5 0.5' 'one 1 2 0.5' '-1 1 2 0.5' '1 1 9999 0.5' '1 1 2 high' '1 1 2 nan'; do
    echo "$line" >broken
    broken
done
: >broken
broken
status 1 npgnn compare $data --methods cosine --scores theirs=missing --seeds 2 --quiet
# the splits of other seeds have other pairs
status 1 npgnn compare $data --methods cosine --scores perfect=perfect --seeds 2 --val 0.2 --quiet 2>words
grep -c 'test pair' words

note wrong usage
status 2 npgnn compare $data
status 2 npgnn compare $data --methods cosine
status 2 npgnn compare $data --methods cosine,cosin
status 2 npgnn compare $data --methods cosine,zzzzzzzzz
status 2 npgnn compare $data --methods cosine,cosine
status 2 npgnn compare $data --methods cosine,
status 2 npgnn compare $data --methods cosine --scores perfect
status 2 npgnn compare $data --methods cosine --scores cosine=perfect
status 2 npgnn compare $data --methods cosine --scores perfect=perfect --negatives hard
status 2 npgnn compare $data --methods cosine,katz --preset best
status 2 npgnn compare $data --methods best,katz --epochs none
status 1 npgnn compare $data --methods cosine,katz --html none/page.html --quiet
