# predict --explain: reasons in TSV, CSV and JSON, for given pairs and for searches.
cat >people.edges <<'END'
anna ben
anna carl
anna dora
ben carl
ben dora
carl dora
dora emil
emil fred
emil gina
fred gina
fred hugo
gina hugo
hugo anna
ida jan
jan kim
kim ida
ida emil
END
printf 'hugo ben\nida fred\n' >pairs

note columns
npgnn predict universal people.edges --pairs pairs --explain --header --quiet >scored.tsv
head -n 1 scored.tsv
awk -F '\t' '{ print NF }' scored.tsv
cut -f 1-3 scored.tsv | sed 1d >without
npgnn predict universal people.edges --pairs pairs --quiet | cmp - without
npgnn predict universal people.edges --top 2 --explain --header --quiet | awk -F '\t' 'NR == 1 || NR == 5 { print NF, $4 }'
npgnn predict universal people.edges --top-links 2 --explain --format csv --quiet | head -n 1
npgnn predict universal people.edges --top-links 2 --samples 3 --explain --header --raw --quiet | head -n 1

note words
grep -o '1 neighbour in common (emil)' scored.tsv
grep -c '[a-z)] [+-][0-9]' scored.tsv

note JSON adds up
for samples in 0 3; do
    npgnn predict universal people.edges --pairs pairs --explain --format jsonl --samples $samples --quiet >why.jsonl
    python3 - $samples <<'PY'
import json, math, sys
for line in open('why.jsonl'):
    link = json.loads(line)
    why = link['explanation']
    total = why['baseline'] + sum(column['log_odds'] for column in why['columns'])
    assert abs(total - why['log_odds']) < 1e-6, (total, why)
    assert abs(total - why['baseline'] - sum(why['reasons'].values())) < 1e-6
    if sys.argv[1] == '0':
        assert abs(1 / (1 + math.exp(-total)) - link['probability']) < 1e-5
    print(link['u'], link['v'], len(why['columns']), sorted(why['reasons']), why['neighbors'], why['features'], why['walks'])
PY
done

note what cannot be explained
npgnn train synthetic:nodes=100,words=100 -o network.safetensors --iterations 2 --quiet
status 1 npgnn predict network.safetensors synthetic:nodes=100,words=100 --top 1 --explain
