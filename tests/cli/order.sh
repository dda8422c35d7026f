# The order of lines is not a seed: shuffled links, with their ends swapped, and shuffled rows of features give the same bits. So do
# shuffled pairs, whose results are in their order.
python3 - <<'PY'
import random

draw = random.Random(7)
names = [f'p{i}' for i in range(100)] + [str(i) for i in range(7, 27)]
towns = ['Rome', 'Oslo', 'Bern', 'Lima']
links = sorted({tuple(sorted((u, v), key=names.index)) for u in names for v in draw.sample(names, 3)
                if u != v and (names.index(u) % 4 == names.index(v) % 4 or draw.random() < 0.3)})
rows = [f'{name},{towns[i % 4]},{draw.choice(["", draw.randint(18, 80)])},likes {draw.choice(["red wine", "old films"])} and {towns[i % 4]}'
        for i, name in enumerate(names) if i % 9]
bought = sorted({(u, draw.randint(1, 30)) for u in names for _ in range(3)}, key=str)
for version in range(3):
    with open(f'links-{version}.csv', 'w') as file:
        file.write('source,target\n' + ''.join(f'{u},{v}\n' for u, v in links))
    with open(f'nodes-{version}.csv', 'w') as file:
        file.write('id,town,age,about\n' + ''.join(row + '\n' for row in rows))
    with open(f'bought-{version}.csv', 'w') as file:
        file.write('user_id,item_id\n' + ''.join(f'{u},{v}\n' for u, v in bought))
    for lines in (links, rows, bought):
        draw.shuffle(lines)
    links = [pair[:: draw.choice((1, -1))] for pair in links]
ends = sorted({name for pair in links for name in pair})
new = [f'new{i},{towns[i % 4]},{18 + i * 7 % 60},likes old films' for i in range(12)]
for version in range(3):
    with open(f'new-{version}.csv', 'w') as file:
        file.write('id,town,age,about\n' + ''.join(row + '\n' for row in new))
    draw.shuffle(new)
with open('pairs.csv', 'w') as file:
    file.write(''.join(f'{u},{v}\n' for u, v in [draw.sample(ends, 2) for _ in range(200)]))
PY

for version in 0 1 2; do
    links="--edges links-$version.csv" nodes="--features nodes-$version.csv" bought="--edges bought-$version.csv --bipartite"
    npgnn predict universal $links --quiet --top 5 >"top-$version"
    npgnn predict universal $links $nodes --quiet --top-links 40 >"links-$version"
    npgnn predict universal $links $nodes --quiet --pairs pairs.csv --samples 5 >"pairs-$version"
    npgnn predict universal $bought --quiet --top 5 >"sides-$version"
    npgnn predict universal $links $nodes --quiet --new-features new-$version.csv --top 3 >"new-$version"
    npgnn eval $links $nodes --quiet --method three-steps --seeds 2 --json - | grep auc >"eval-$version"
    npgnn train $links $nodes --quiet --preset best -o "best-$version.safetensors"
    npgnn train $links $nodes --quiet --iterations 5 -o "network-$version.safetensors"
done

for what in top links pairs sides new eval; do
    cmp $what-0 $what-1
    cmp $what-0 $what-2
    echo "the same: $what"
    [ "$(wc -l <$what-0)" -gt 3 ]
done
awk -F , '{ print $2 "," $1 }' pairs.csv | sort >swapped.csv
npgnn predict universal --edges links-0.csv --features nodes-0.csv --quiet --pairs swapped.csv --samples 5 |
    awk -F '\t' -v OFS='\t' '{ u = $1; $1 = $2; $2 = u; print }' | sort >swapped
sort pairs-0 | cmp - swapped && echo 'the same: pairs in another order'

for what in best network; do
    cmp $what-0.safetensors $what-1.safetensors
    cmp $what-0.safetensors $what-2.safetensors
    echo "the same: $what"
done
