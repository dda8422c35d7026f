# Graph files: npgnn convert DATA -o FILE.npg, and the file as DATA of every command.
printf 'from,to,rating,day\n' >links.csv
i=0
while [ $i -lt 60 ]; do
    echo "n$i,n$(((i * 7 + 1) % 60)),$((i % 5 + 1)),2024-01-$((i % 28 + 1))"
    echo "n$i,n$(((i + 3) % 60)),2,2023-05-$((i % 28 + 1))"
    i=$((i + 1))
done >>links.csv
{
    echo id,town,age
    i=0
    while [ $i -lt 60 ]; do
        echo "n$i,town $((i % 4)),$((20 + i % 30))"
        i=$((i + 1))
    done
} >nodes.csv
options='--edges links.csv --features nodes.csv --weight rating --time day --quiet'

note the file and its description
npgnn convert --edges links.csv --features nodes.csv --weight rating --time day -o graph.npg 2>&1 | sed 's/fingerprint.*/fingerprint/'
npgnn info --edges links.csv --features nodes.csv --weight rating --time day --json - | grep -v '"dataset"' | sed '/"notices": \[\]/d; /"notices"/,/\]/d' >text
npgnn info graph.npg --weighted --json - | grep -v '"dataset"' | sed '/"notices": \[\]/d; /"notices"/,/\]/d' >mapped
cmp text mapped && echo the same description

note the same bits from text and from the file
for data in "$options" "graph.npg --weighted --quiet"; do
    npgnn train $data --iterations 5 --val 0 -o model.safetensors -t 1
    npgnn predict model.safetensors $data --top 2 >top
    npgnn predict universal $data --top-links 20 >links
    npgnn eval $data --method adamic-adar --protocol temporal --seeds 1 --json - | grep -v '"dataset"\|seconds\|peak_rss' >eval
    npgnn eval $data --preset universal --seeds 1 --json - | grep -v '"dataset"\|seconds\|peak_rss' >universal
    cat model.safetensors top links eval universal | cksum
done >sums
[ "$(sort -u sums | wc -l)" = 1 ] && echo the same

note there and back
npgnn convert graph.npg --weighted -o folder --quiet
npgnn convert folder --weighted --time time -o again.npg --quiet
npgnn info folder --weighted --time time | grep fingerprint >one
npgnn info again.npg --weighted | grep fingerprint | cmp - one && echo the same graph
npgnn info graph.npg | grep 'edges\|dated'

note what is not a graph file
head -c 1000 graph.npg >cut.npg
status 1 npgnn info cut.npg
: >empty.npg
status 1 npgnn info empty.npg
{ head -c 700 graph.npg && printf X && tail -c +702 graph.npg; } >changed.npg
status 1 npgnn predict universal changed.npg --top 1
gzip -k graph.npg
status 1 npgnn info graph.npg.gz
status 1 npgnn info - <graph.npg
status 1 npgnn info graph.npg --features nodes.csv
status 1 npgnn info graph.npg --ignore age
status 1 npgnn info graph.npg --source a
status 1 npgnn info graph.npg --edges links.csv

note a run that is killed while it writes leaves nothing, or the file that was there
cp graph.npg old.npg
for out in new.npg graph.npg; do
    (ulimit -f 8 && npgnn convert synthetic:nodes=1000 -o $out --quiet) 2>/dev/null && echo written
done
ls *.npg*
cmp graph.npg old.npg && echo the old file

note a feature that becomes 0 when its row is divided by its sum
printf '0 1\n1 2\n' >three.txt
printf '%%%%MatrixMarket matrix coordinate real general\n3 20 4\n1 1 1e-30\n1 2 1e30\n2 1 1\n3 2 1\n' >tiny.mtx
npgnn convert --edges three.txt --features tiny.mtx --normalize -o tiny.npg --quiet && npgnn info tiny.npg | grep ^features
