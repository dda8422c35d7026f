# demo: named suggestions, the page, the drawing and the JSON agree.
note the demo
npgnn demo --quiet --html page.html --svg one.svg --json demo.json >printed
sed -n 1,2p printed
tail -n 3 printed | cut -c 1-50
python3 - <<'PY'
import json, re
import xml.etree.ElementTree as xml
demo = json.load(open('demo.json'))
printed, page = open('printed').read(), open('page.html').read()
assert demo['auc'] > 0.9 and demo['hidden'] == 866 and demo['best'] == 100, demo
true = sum(s['came_true'] for node in demo['suggestions'] for s in node['suggestions'])
assert len(re.findall(r'^  \* ', printed, re.M)) == true > 0
assert page.count('came true: it was hidden') == true
for node in demo['suggestions']:
    assert f"\n{node['node']}\n" in printed and len(node['suggestions']) == 5
    for s in node['suggestions']:
        assert s['node'] in printed and s['node'] in page and 0 <= s['probability'] <= 1
        assert re.search(r' [+-]\d', s['reason']), s
assert not re.search(r'https?://|<script|src=', page)
root = xml.parse('one.svg').getroot()
assert root.get('viewBox').startswith('0 0 400 ')
first = demo['suggestions'][0]
labels = [text.text for text in root.iter('{http://www.w3.org/2000/svg}text')]
assert first['node'] in labels and labels.count('suggested') == 1
paths = [path.get('class') for path in root.iter('{http://www.w3.org/2000/svg}path')]
assert paths.count('s t') == sum(s['came_true'] for s in first['suggestions']), paths
assert paths.count('s') + paths.count('s t') == 5
print([node['node'] for node in demo['suggestions']])
PY

note the same for any number of threads, other links for another seed
npgnn demo --quiet --threads 1 --html again.html >printed2
cmp printed printed2
cmp page.html again.html
npgnn demo --quiet --seed 2 --html again.html >printed2
status 1 cmp -s printed printed2

note other packages
npgnn demo --quiet --for numpy --for django --top 2 --html again.html | sed -n '/^numpy/p; /^django/p'
npgnn demo --for numpy --top 1 2>&1 >/dev/null
ls npgnn-demo.html
status 1 npgnn demo --for nobody
status 2 npgnn demo --top 21
status 1 npgnn demo --html absent/page.html

note the graph by itself
npgnn info debian-python | sed -n '1p; 4p; 9p'
npgnn predict universal debian-python --top 1 --for flask --explain --quiet | cut -f 1,4
status 1 npgnn info debian-python --edges other
