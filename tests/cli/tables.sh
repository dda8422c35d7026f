# Feature tables as people have them: kinds of columns, ids, scales, encodings that are stored and applied again.

# The data of a guess: towns and hobbies decide who knows whom.
awk 'function draw(n) { s = (s * 16807) % 2147483647; return s % n }
BEGIN {
  s = 7; n = 300
  for (i = 0; i < n; i++) {
    town[i] = draw(6); a[i] = draw(8); b[i] = draw(8); row = "p" i
    for (t = 0; t < 6; t++) row = row "," (t == town[i])
    for (h = 0; h < 8; h++) row = row "," (h == a[i] || h == b[i])
    print row > "plain.csv"
    print row "," 20000 + draw(90000) > "salary.csv"
    if (i == 20) sub(/,[01],/, ",1e9,", row)
    print row > "cell.csv"
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < i; j++) {
      shared = (a[i] == a[j]) + (a[i] == b[j]) + (b[i] == a[j]) + (b[i] == b[j])
      if (draw(1000) < (town[i] == town[j] ? 20 + 150 * shared : 2 + 6 * shared)) print "p" i ",p" j > "friends.csv"
    }
}'

note numbers of any scale do not ruin the model
auc() { npgnn eval --edges friends.csv --features "$1" --seeds 3 --quiet $2 | awk '/mean/ { print $2 }'; }
for preset in default best; do
    before=$(auc plain.csv "--preset $preset")
    for table in salary.csv cell.csv; do
        auc $table "--preset $preset" | awk -v before="$before" -v name="$preset $table" \
            '{ print name, ($1 > before - 1.5 && before > 85 ? "as before" : "worse: " $1 " after " before) }'
    done
done

note a column of ids stays one, whatever occurs twice
printf '0,1\n1,2\n2,3\n' >edges.csv
printf 'user_id,height\n2,0.9\n0,0.1\n1,0.5\n3,0.7\n1,0.5\n' >twice.csv
status 1 npgnn info --edges edges.csv --features twice.csv
npgnn info --edges edges.csv --features twice.csv --skip-bad-rows | grep -E '^nodes|skipped'
awk 'BEGIN { print "person,x"; for (i = 0; i < 300; i++) print i "," i % 7; print "5,5" }' >ring.csv
awk 'BEGIN { for (i = 0; i < 300; i++) print i "," (i + 1) % 300 }' >ring_edges.csv
status 1 npgnn info --edges ring_edges.csv --features ring.csv
printf 'age,height\n31,1.5\n42,1.9\n53,1.7\n64,1.6\n' >ages.csv
npgnn info --edges edges.csv --features ages.csv | grep -E '^nodes|number'
npgnn info --edges edges.csv --features twice.csv --id height --skip-bad-rows 2>&1 | tail -n 1

note every kind of column
cp "$EXAMPLES/members.csv" "$EXAMPLES/friendships.csv" .
status 1 npgnn info --edges friendships.csv --features members.csv
npgnn info --edges friendships.csv --features members.csv --skip-bad-rows | sed -n '/^column/,$p'
npgnn info --edges friendships.csv --features members.csv --skip-bad-rows --column born:text --column newsletter:category \
    --ignore income --ignore town | sed -n '/^column/,/^$/p'
status 1 npgnn info --edges friendships.csv --features members.csv --skip-bad-rows --column age:number
status 1 npgnn info --edges friendships.csv --features members.csv --skip-bad-rows --column born:colour
printf 'id,x\na,1\nb,2\nc,three\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\nj,10\nk,11\n' >mostly.csv
printf 'a,b\nb,c\nc,d\n' >named.csv
status 1 npgnn info --edges named.csv --features mostly.csv

note from CSV to suggestions in three commands
npgnn convert --edges friendships.csv --features members.csv --skip-bad-rows --output club --quiet
npgnn train club --iterations 100 --output club.safetensors --quiet
npgnn predict club.safetensors club --top 3 --for m1007 | cut -f 1,4

note the encoding is stored and applied to new nodes
printf 'member_id,town,born,income,newsletter,about me,shoe size\nnew,Atlantis,31.12.1990,,maybe,"likes chess",44\n' >new.csv
status 1 npgnn predict club.safetensors club --new-features new.csv --top 1 --for new
sed -i s/maybe/yes/ new.csv
npgnn predict club.safetensors club --new-features new.csv --top 1 --for new | cut -f 1
printf 'member_id,born,income,newsletter,about me\nnew,31.12.1990,,yes,"likes chess"\n' >short.csv
status 1 npgnn predict club.safetensors club --new-features short.csv --top 1 --for new
npgnn predict club.safetensors club --top 40 --for m1007 >from_folder
npgnn predict club.safetensors --edges friendships.csv --features members.csv --skip-bad-rows --top 40 --for m1007 | cmp - from_folder
npgnn train club --preset best --iterations 1 --output tuned.safetensors --quiet # a table that has grown is encoded as the model's was
(cat members.csv && printf '999,m2000,"Zoe New",Paris,01.01.1990,1,no,"chess"\n') >grown.csv
npgnn predict tuned.safetensors --edges friendships.csv --features grown.csv --skip-bad-rows --top 1 --for m1007 --quiet | cut -f 1,4
npgnn info club.safetensors | grep -c 'text'

note the round trip
npgnn info club | grep fingerprint >one
npgnn info --edges friendships.csv --features members.csv --skip-bad-rows | grep fingerprint | cmp - one
npgnn convert club --output again --quiet
cmp club/encoding.json again/encoding.json
cmp club/features.mtx again/features.mtx
sed -i 's/"version":1/"version":9/' again/encoding.json
status 1 npgnn info again
awk -F, 'NR < 200' members.csv >half.csv
npgnn convert --edges friendships.csv --features half.csv --skip-bad-rows --output other --quiet
status 1 npgnn predict club.safetensors other --top 1

note a matrix with a column that rules it
awk 'BEGIN { print "%%MatrixMarket matrix array real general\n4 30"; for (c = 0; c < 30; c++) for (i = 0; i < 4; i++) print c == 17 ? 50000 + i : (i + c) % 3 }' >rules.mtx
npgnn info --edges edges.csv --features rules.mtx | grep 'squared length'

note two-sided graphs
awk 'BEGIN { s = 5; print "user_id,item_id,rating,timestamp"
  for (u = 0; u < 60; u++) for (k = 0; k < 8; k++) { s = (s * 16807) % 2147483647
    print u "," (u % 3 + 3 * (s % 10)) "," 1 + s % 5 "," 880000000 + k * 1000 + u } }' >ratings.csv
awk 'BEGIN { print "user_id,age,taste"; for (u = 0; u < 60; u++) print u "," 20 + u % 50 "," (u % 3 ? u % 3 == 1 ? "red" : "blue" : "green") }' >users.csv
awk 'BEGIN { print "item_id,colour,price"; for (i = 0; i < 30; i++) print i "," (i % 3 ? i % 3 == 1 ? "red" : "blue" : "green") "," i * 3.5 }' >items.csv
npgnn info ratings.csv | grep -E '^nodes|two kinds'
npgnn info ratings.csv --bipartite --features users.csv --target-features items.csv | grep -vE 'finger|duplic'
npgnn eval ratings.csv --bipartite --features users.csv --target-features items.csv --seeds 1 --quiet --save-split split.tsv | head -n 1 | cut -d, -f 1-3
awk 'NR > 1 && (substr($2, 1, 4) == substr($3, 1, 4)) { wrong++ } END { print wrong + 0, "pairs within a side" }' split.tsv
for protocol in inductive production; do
    npgnn eval ratings.csv --bipartite --seeds 1 --quiet --protocol $protocol --method three-steps --save-split split.tsv >/dev/null
    awk '$4 == 0 && (substr($2, 1, 4) == substr($3, 1, 4)) { wrong++ } END { print wrong + 0, "non-links within a side" }' split.tsv
done
npgnn eval ratings.csv --bipartite --seeds 1 --quiet --negatives hard --method item-cosine | head -n 1 | cut -d, -f 1-3
npgnn train ratings.csv --bipartite --features users.csv --target-features items.csv --iterations 50 --output sides.safetensors --quiet
npgnn predict sides.safetensors ratings.csv --bipartite --features users.csv --target-features items.csv --top 2 --quiet | cut -f 1,2 |
    sed 's/:[0-9]*//g' | sort | uniq -c | tr -s ' '
npgnn convert ratings.csv --bipartite --features users.csv --target-features items.csv --output sides --quiet
npgnn predict sides.safetensors sides --top 5 >from_folder
npgnn predict sides.safetensors ratings.csv --bipartite --features users.csv --target-features items.csv --top 5 --quiet | cmp - from_folder
printf 'item_id,colour,price\nnewest,red,10\n' >new.csv
npgnn predict sides.safetensors sides --new-features new.csv --top 2 --for item_id:newest | cut -f 1,2 | sed 's/:[0-9]*$//'
printf 'item_id,colour,price\n7,red,10\n' >new.csv
status 1 npgnn predict sides.safetensors sides --new-features new.csv --top 2 --for item_id:7
status 1 npgnn info ratings.csv --target-features items.csv

note two-sided graphs from matrices
awk -F, 'NR > 1 && !seen[$1, $2]++ { line[++m] = $1 + 1 " " $2 + 1 }
  END { print "%%MatrixMarket matrix coordinate pattern general\n60 30 " m; for (i = 1; i <= m; i++) print line[i] }' ratings.csv >ratings.mtx
status 1 npgnn info ratings.mtx
npgnn info ratings.mtx --bipartite --features users.csv --target-features items.csv | grep -E '^nodes|two sides|^edges|called'
npgnn eval ratings.mtx --bipartite --preset universal --seeds 1 --quiet --save-split split.tsv | head -n 1 | cut -d, -f 1-3
awk '$4 == 0 && (substr($2, 1, 3) == substr($3, 1, 3)) { wrong++ } END { print wrong + 0, "non-links within a side" }' split.tsv

note dated links
npgnn eval ratings.csv --bipartite --time timestamp --protocol temporal --seeds 1 --quiet --method three-steps --save-split split.tsv | head -n 1 | cut -d, -f 1-3
npgnn eval ratings.csv --bipartite --time timestamp --split split.tsv --seeds 1 --quiet --method three-steps | head -n 1 | cut -d, -f 1-3
awk 'NR == FNR { if (FNR > 1) { split($0, f, ","); key = "user_id:" f[1] SUBSEP "item_id:" f[2]
    if (!(key in time) || f[4] < time[key]) time[key] = f[4] } next }
  $4 == 1 { t = ($2, $3) in time ? time[$2, $3] : time[$3, $2]
            if (!($1 in least) || t < least[$1]) least[$1] = t; if (t > most[$1]) most[$1] = t }
  END { print most["train"] < least["val"] && most["val"] < least["test"] ? "the future is tested" : "out of order" }' ratings.csv split.tsv
status 1 npgnn eval ratings.csv --protocol temporal --seeds 1 --quiet
npgnn eval --edges friendships.csv --features members.csv --skip-bad-rows --time since --protocol temporal --seeds 1 --quiet | head -n 1 | cut -d, -f 1-3
printf 'source,target,when\na,b,2020-01-31\nb,c,soon\n' >when.csv
status 1 npgnn info when.csv --time when
