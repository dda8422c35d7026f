"""seeds.py: writes the seed corpora, corpus/TARGET/NAME. They are committed; run it again after a change to a format."""
import gzip
import io
import json
import pathlib
import struct
import zipfile

HERE = pathlib.Path(__file__).parent / "corpus"
MARK = b"\n=====\n"  # between the files of a set, as in fuzz.h


def seed(target, name, content):
    path = HERE / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


# ---- text ----

EDGES = {
    "triples": "a knows b\nb knows c\nc likes a\n",
    "metis": "4 3 11 1\n5 2 9\n5 1 9 3 8\n5 2 8 4 7\n5 3 7\n",
    "neighbours": "1: 2 3\n2: 1\n3: 1\n",
    "matrix": ",a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n",
    "counts": "5 5\n0 1\n1 2\n2 3\n3 4\n4 0\n",
    "dimacs": "c a comment\np edge 3 2\ne 1 2\ne 2 3\n",
    "integers": "0 1\n1 2\n2 0\n2 3\n",
    "names": "source,target,weight\nann,bob,1\nbob,\"c \"\"d\"\"\",2.5\n# comment\n\nbob,ann,1\n",
    "tabs": "7\t8\r\n8\t9\r\n9\t9\r\n",
    "mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n% triangle\n3 3 3\n2 1\n3 1\n3 2\n",
    "header": "paper cites\n10 11\n11 12\n",
    "sparse": "5 100\n100 2147483646\n",
    "chosen": ",user_id,item_id,rating\n0,a,b,4\n1,b,c,5\n",
    "words": "a,b\nann,bob\nbob,cyd\ncyd,ann\n",
    "returns": "a,b\rb,c\r\nc,a\r",
    "marks": "# comment\n#cats,dogs\ndogs,%5\n",
    "held": "a,b,weight\nann,bob,2\nbob,cyd,1\n",
}
JSONL = {
    "weights": '{"source": "a", "target": "b", "weight": 2.5}\n\n{"u": "b", "v": 7}\n',
    "integers": '{"from": 0, "to": 1}\n{"from": 1, "to": 0}\n',
    "array": '[{"source": "a", "target": "b"}, {"u": 1, "v": "b", "weight": 2}]',
}
JSON = {"three": '{"0": [1, 0], "1": [], "x": [7]}'}
GRAPHML = {
    "people": "<?xml version='1.0'?>\n<graphml xmlns='x'><key id='a' for='node' attr.name='age' attr.type='int'><default>3"
              "</default></key><key id='c' for='node' attr.name='class' attr.type='string'/><key id='w' for='edge' "
              "attr.name='weight' attr.type='double'/><graph edgedefault='directed'><node id='n'><data key='a'>1</data>"
              "<data key='c'>red</data></node><node id='m'/><edge source='n' target='m'><data key='w'>2</data></edge>"
              "</graph></graphml>",
    "plain": "<graphml><graph><node id='0'/><node id='1'/><edge source='0' target='1'/></graph></graphml>",
    "entities": "<!DOCTYPE g [<!ENTITY a 'aa'>]><graphml>&a;</graphml>",
}
CSV = {
    "ids": "id,w1,w2,label\na,1,0,red\nb,0.5,-2e3,blue\nc,0,0,red\n",
    "plain": "0.5 1 0\n1 0 0\n",
    "ambiguous": "3\t1\n4\t2\n3\t5\n",
    "column": "1\n2\n2\n",
    "quoted": "name;x\n\"a;b\";1\n\"c\";2\n",
    "kinds": ",user_id,town,age,member,since,about\n0,a,Rome,30,yes,2020-01-31,\"red wine\nand cheese\"\n1,b,Rome,,no,2021-02-28,"
             "beer and no wine\n2,c,Oslo,1e9,N/A,2022-12-01,cheese above all\n3,d,NA,4.5,yes,,films about cheese\n",
    "days": "31.12.2020,007\n1.2.2021,008\n3.4.1999,007\n",
    "counts": "x,y\n0,5\n0,-5\n3,1e300\n0,-1e300\n",
}
REQUEST = {
    "top": "GET /top?node=an%6Ea&k=3&explain=1\n",
    "search": "GET /search?q=a+b\n",
    "score": 'POST /score\n{"pairs": [["anna", "bert"], [3, "4"]]}',
    "links": 'POST /links\n{"links": [["zoe", "anna"]]}',
    "nodes": 'POST /nodes\n{"nodes": [{"id": "zoe", "age": 31, "x": 0.5, "in": true, "no": null}, {"id": 7}]}',
    "unknown": "PUT /nodes?x=%zz\n{",
}
SIDES = {
    "two": (1 | 2, ["user_id,item_id,time\n0,0,5\n0,1,6\n1,1,7\n1,2,8\n2,0,2020-01-01\n", "user_id,age\n0,20\n1,30\n2,40\n",
                    "item_id,kind\n0,a\n1,a\n2,b\n"]),
    "one": (2 | 4 | 8, ["a,b,1,2\nb,c,2,0.5\nc,,3,1\nc,a,4,1\n", "id,x\na,1\nb,2\nc,3\n", ""]),
    "matrix": (1, ["%%MatrixMarket matrix coordinate pattern general\n4 3 4\n1 1\n2 1\n2 2\n4 2\n", "",
                   "id,colour\n0,red\n1,red\n2,blue\n"]),
    "pandas": (8, [",user,item,when\n0,a,b,1\n1,b,c,2\n2,a,c,\n3,c,d,4\n", "", ""]),
}
ENCODING = {
    "all": ['{"columns":[{"center":3.0,"flags_missing":true,"high":9.0,"kind":"number","least":1.0,"low":1.0,"missing":1,"most":9.0,'
            '"name":"age","rows":3,"scale":2.0,"side":0},{"counts":[2],"flags_missing":false,"kind":"category","missing":0,'
            '"name":"town","other":true,"rows":3,"side":0,"values":["Rome"]},{"counts":[2],"flags_missing":false,"kind":"text",'
            '"missing":0,"name":"about","rows":3,"side":0,"values":["wine"],"weights":[1.5]},{"kind":"date","order":"dmy",'
            '"center":1,"scale":1,"low":0,"high":2,"least":0,"most":2,"name":"born"},{"kind":"flag","center":0.5,"name":"is"}],'
            '"id":"who","version":1}',
            "who,age,town,about,born,is\na,5,Rome,red wine,1.2.1970,yes\nb,,Oslo,beer,,no\n"],
    "empty": ['{"version":1,"id":null,"columns":[]}', "a,b\n1,2\n"],
}
SVM = {"two": "1 1:1 3:0.5\n2 2:1e-3 # comment\n", "unordered": "a 9:1 4:2\n\nb\n", "empty": "# nothing\n"}
MTX = {
    "coordinate": "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.25\n2 1 -1\n",
    "array": "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n",
    "pattern": "%%MatrixMarket matrix coordinate pattern general\n3 1048576 1\n3 1048576\n",
}
LABELS = {"named": "1id label\na red\nb blue\nh red\n", "numbers": "00\t4\n7\t9\n", "commas": "1c,1\nd,2\n"}
SPLIT = {
    "transductive": "set\tu\tv\tlabel\nuntested\t0\t-\t-\ntrain\t0\t1\t1\ntrain\t1\t2\t1\ntrain\t3\t4\t1\ntrain\t4\t5\t1\n"
                    "train\t6\t7\t1\nval\t2\t3\t1\nval\t1\t4\t0\ntest\t5\t6\t1\ntest\t2\t5\t0\n",
    "random": "# protocol: random-links\nset\tu\tv\tlabel\ntrain\t0\t1\t1\ntrain\t1\t2\t1\nval\t2\t3\t1\nval\t0\t2\t0\n"
              "test\t3\t4\t1\ntest\t0\t3\t0\n",
    "inductive": "# protocol: inductive\nset\tu\tv\tlabel\nval-node\t10\t-\t-\ntest-node\t11\t-\t-\nval\t9\t10\t1\n"
                 "val\t10\t0\t0\ntest\t11\t0\t1\ntest\t11\t1\t0\n",
    "few-shot": "# protocol: few-shot\nset u v label\ntest-node 11 - -\ntest 11 0 1\ntest 11 1 0\n",
    "hidden": "# protocol: inductive-hidden\nset\tu\tv\tlabel\ntest-node\t10\t-\t-\ntest-node\t11\t-\t-\n"
              "test-node\t9\t-\t-\ntest\t10\t11\t1\ntest\t9\t11\t0\n",
    "paper": "# protocol: paper-inductive\nset\tu\tv\tlabel\ntest-node\t11\t-\t-\ntest\t11\t0\t1\ntest\t1\t9\t0\n",
    "production": "# protocol: production\nset\tu\tv\tlabel\ntest-node\t11\t-\t-\nknown\t11\t0\t1\ntest\t10\t11\t1\n"
                  "test\t11\t1\t0\n",
}
OPTIONS = {
    "numbers": "learning-rate=0.01\niterations=200\nseed=18446744073709551615\nhidden=32\nkl-weight=1e-3\n",
    "words": "latent=off\nencoder-output=relu\naggregate=scalar\nloss=sampled\ncontext=auto\nlikelihood=plain\n",
    "bad": "hidden=0\nradius=nan\nbeta1=2\nnothing=1\nsamples=1.5\nlatent=maybe\n",
}
SYNTHETIC = {"small": "nodes=100,topics=2,words=40,degree=2,length=5,seed=7", "default": "", "bad": "nodes=1e9,words=x"}
ARGS = {
    "train": "2cora\n-o\nm.safetensors\n--seed\n3\n--no-latent\n--learning-rate=0.1\n-qt2\n",
    "eval": "3data\n--protocol\ninductive\n--seeds=3\n--json\n--val\n0.1\n--negative-ratio=full\n",
    "predict": "4m\ndata\n--pairs\n-\n--samples\n10\n--\n-x\n",
    "reproduce": "5--table=1\n--datasets\ncora,citeseer\n--threads\n0\n",
    "unknown": "6--sead\n1\n--help\n",
}
PAIRS = {"plain": "0 1\n1,2\n\n# no\n3\t0\r\n2 2\n", "bad": "0 1 2\n", "unknown": "0 9\n"}

for target, texts in {"edges": EDGES, "jsonl": JSONL, "json": JSON, "graphml": GRAPHML, "csv": CSV, "svmlight": SVM, "mtx": MTX, "plain": {"numbers": "0.5,1,0\n1,0,-2e3\n", "one": "7\n"}, "labels": LABELS, "split": SPLIT,
                      "options": OPTIONS, "synthetic": SYNTHETIC, "args": ARGS, "pairs": PAIRS}.items():
    for name, text in texts.items():
        seed(target, name, text)

seed("edges", "gzip", gzip.compress(EDGES["integers"].encode(), mtime=0))
for name, parts in {
    "named": ["a b\nb c\nc z\n", CSV["ids"], "a 1\nz 2\n"],
    "indexed": [EDGES["integers"], "1 2:1\n1 1:1\n2 3:1\n1 1:2\n", "0 x\n3 y\n"],
    "mtx": [EDGES["mtx"], "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n", ""],
}.items():
    seed("tables", name, "\n=====\n".join(parts))

OGB = ["0,1\n1,2\n2,0\n", "0.5,1\n0,0\n1,-1\n", "0\n1\nnan\n", "", "", "3\n"]
for name, parts in {
    "ogb": ["1" + OGB[0], *OGB[1:]],
    "linqs": ["0ann bob\nbob cyd\n", "ann 0 1 red\nbob 1 1 blue\ncyd 0 0 red\n", "", "", "", ""],
    "weighted": ["2a b 2.5\nb c 1e-3\n", "", "", "a\nb\nc\n", "", ""],
    "columns": ["00 1\n1 2\n", "1 2\n3 4\n5 6\n", "0 x\n2 y\n", "", "first\nsecond\n", ""],
}.items():
    seed("files", name, "\n=====\n".join(parts))

# ---- numpy ----


def npy(descr, shape, data, fortran=False, version=1):
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


seed("npy", "f4", npy("<f4", (2, 3), struct.pack("<6f", 0, 1.5, 0, -2, 0, 1e-40)))
seed("npy", "i8-fortran", npy(">i8", (3, 2), struct.pack(">6q", 1, 2, 3, 0, 0, 9), fortran=True))
seed("npy", "half", npy("<f2", (1, 2), b"\x00\x3c\x01\x00", version=2))
seed("npy", "bool", npy("|b1", (2, 2), b"\x01\x00\x00\x01", version=3))
seed("npy", "empty", npy("<u2", (0, 5), b""))



def vector(kind, *numbers):
    return npy("<" + {"i": "i4", "q": "i8", "f": "f4"}[kind], (len(numbers),), struct.pack(f"<{len(numbers)}{kind}", *numbers))


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", ".") + ".npy"), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def sparse(prefix, rows, cols, ptr, col):
    return {prefix + "data": vector("f", *[1] * len(col)), prefix + "indices": vector("i", *col),
            prefix + "indptr": vector("i", *ptr), prefix + "shape": vector("q", rows, cols)}


ADJ, ATTR = sparse("adj_", 3, 3, [0, 1, 3, 3], [1, 0, 2]), sparse("attr_", 3, 2, [0, 0, 1, 2], [1, 0])
seed("npz", "scipy", npz(format=npy("|S3", (), b"csr"), **sparse("", 3, 3, [0, 1, 3, 3], [1, 0, 2])))
seed("npz", "coo", npz(format=npy("|S3", (), b"coo"), data=vector("f", 1, 2), row=vector("i", 0, 1), col=vector("i", 1, 2),
                       shape=vector("q", 3, 3)))
seed("npz", "set", npz(**ADJ, **ATTR, labels=vector("q", 1, 0, -1), node_names=npy("<U1", (3,), "abc".encode("utf-32-le")),
                       attr_names=npy("|S1", (2,), b"xy")))
seed("npz", "list", npz(edge_index=npy("<i8", (2, 2), struct.pack("<4q", 0, 1, 1, 2)), x=npy("<f4", (3, 1), bytes(12)),
                        y=npy("|u1", (3,), b"\1\0\1")))
seed("npz", "objects", npz(**ADJ, labels=npy("|O", (3,), b"\x80\3]q\0.")))
seed("npz_features", "csc", npz(format=npy("|S3", (), b"csc"), **sparse("", 2, 3, [0, 1, 1, 2], [0, 1])))
seed("npz_features", "dense", npz(x=npy("<f4", (2, 2), struct.pack("<4f", 0, 1, 2, 0))))

# ---- pickles, as Python 2 and Python 3 write them ----


def short(data):
    return b"U" + bytes([len(data)]) + data


def array(kind, shape, data):
    size = b"".join(b"K" + bytes([n]) for n in shape) + (b"\x85" if len(shape) == 1 else b"\x86")
    return (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R(K\1" + size +
            b"cnumpy\ndtype\n" + short(kind) + b"K\0K\1\x87R(K\3U\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89" +
            short(data) + b"tb")


def ints(*numbers):
    return array(b"i4", (len(numbers),), struct.pack(f"<{len(numbers)}i", *numbers))


def matrix(rows, cols, ptr, col, val):
    return (b"\x80\2cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\6_shapeK" + bytes([rows]) + b"K" + bytes([cols]) +
            b"\x86U\6indptr" + ints(*ptr) + b"U\7indices" + ints(*col) + b"U\4data" +
            array(b"f4", (len(val),), struct.pack(f"<{len(val)}f", *val)) + b"ub.")


def labels(rows, cols, data):
    return b"\x80\2" + array(b"i4", (rows, cols), struct.pack(f"<{rows * cols}i", *data)) + b"."


GRAPH = b"\x80\2ccollections\ndefaultdict\nq\1c__builtin__\nlist\nq\2\x85Rq\3(K\0]q\4(K\1K\2eK\1]q\5K\0aK\2]q\6K\0au."
ALLX = matrix(2, 3, [0, 1, 3], [1, 0, 2], [7, 5, 6])
TX = matrix(1, 3, [0, 1], [2], [4])
ALLY, TY = labels(2, 2, [1, 0, 0, 1]), labels(1, 2, [0, 1])
seed("pickle", "matrix", ALLX)
seed("pickle", "labels", ALLY)
seed("pickle", "graph", GRAPH)
seed("pickle", "protocol4", b"\x80\x04\x95\x0e\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1M\0\1eu.")
seed("pickle", "latin1", b"\x80\2c_codecs\nencode\nX\3\0\0\0a\xc3\xbfX\6\0\0\0latin1\x86R.")
seed("pickle", "long", b"\x80\2(\x8a\2\xff\xff\x88\x89N\x8a\0t.")
seed("planetoid", "three", MARK.join([ALLX, ALLY, TX, TY, GRAPH, b"2\n"]))
seed("planetoid", "gap", MARK.join([ALLX, ALLY, TX, TY, GRAPH, b"4\n"]))

# ---- models ----

OPTION_TEXTS = {"hidden": "2", "latent-size": "1", "decoder-hidden": "2", "output-size": "1"}


def model(options, shapes, columns=2):
    info = {"columns": columns, "iterations": 3, "fingerprint": "00000000000000ff", "context": "00000000000000ff", "train_nodes": 4, "train_edges": 5,
            "normalize": False, "binarize": True, "weighted": False, "val_auc": 0.75, "val_ap": None, "link_rate": 0.25}
    scorer = {"weights": {"intercept": -1, "embeddings": 0.5, "cosine": 2, "degrees": 0, "neighbors": 0, "paths": 0, "regions": 0},
              "calibration": {"knots": [0.2], "offset": -1.3, "slopes": [0.4, 1.1]}}
    metadata = {"format": "npgnn-model", "format_version": "1", "npgnn_version": "0.1.0",
                "options": json.dumps(options), "info": json.dumps(info), "scorer": json.dumps(scorer)}
    header, data = {"__metadata__": metadata}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = struct.pack(f"<{count}f", *[0.25 * (i % 5) - 0.5 for i in range(count)])
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


seed("model", "small", model(OPTION_TEXTS, {"W1": (2, 2), "W_mu": (2, 1), "W_sigma": (2, 1), "W2": (3, 2), "b1": (2,),
                                            "W3": (2, 1), "b2": (1,), "z_mean": (1,), "z_log_sigma": (1,)}))
seed("model", "no-latent", model({**OPTION_TEXTS, "latent": "off"}, {"W2": (2, 2), "b1": (2,), "W3": (2, 1), "b2": (1,)}))
seed("model", "other", struct.pack("<Q", 2) + b"{}")


# ---- models across graphs ----

def process(columns=24, hidden=2, latent=1, factor=1.0, deviation=1.0):
    sizes = {"columns": columns, "feature_columns": 11, "hidden": hidden, "latent": latent, "steps": 3}
    metadata = {"format": "npgnn-process", "format_version": "1", "npgnn_version": "0.1.0", "process": json.dumps(sizes)}
    e, h, d = columns, hidden, latent
    shapes = {"vote_w1": (2 * e + 1, h), "vote_b1": (1, h), "vote_w2": (h, h), "vote_b2": (1, h), "vote_w3": (h, 2 * d),
              "vote_b3": (1, 2 * d), "prior": (1, 2 * d), "score_w1": (e, h), "score_b1": (1, h), "score_w2": (h, h),
              "score_b2": (1, h), "score_w3": (h, 1), "score_b3": (1, 1), "film_w": (d, 4 * h), "film_b": (1, 4 * h),
              "line_w": (d, e + 1), "line_b": (1, e + 1), "mean": (1, e), "deviation": (1, e)}
    header, data = {"__metadata__": metadata}, b""
    for name, (rows, cols) in shapes.items():
        numbers = [deviation if name == "deviation" else factor * (0.25 * (i % 5) - 0.5) for i in range(rows * cols)]
        values = struct.pack(f"<{rows * cols}f", *numbers)
        header[name] = {"dtype": "F32", "shape": [cols] if rows == 1 else [rows, cols], "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


seed("process", "small", process())
seed("process", "wide", process(hidden=3, latent=4))
seed("process", "huge-numbers", process(factor=1e38))
seed("process", "tiny-units", process(deviation=1e-38))
seed("process", "other-columns", process(columns=23))
seed("process", "no-units", process(deviation=0.0))


# ---- bundles of graphs ----

def links(*numbers):
    return npy("<i8", (len(numbers) // 2, 2), struct.pack(f"<{len(numbers)}q", *numbers))


seed("bundle", "two", npz(path=links(3, 0, 0, 1, 1, 2), lonely=links(5, 0)))
seed("bundle", "outside", npz(good=links(2, 0, 0, 1), bad=links(2, 0, 0, 2)))
seed("bundle", "many-nodes", npz(large=links(2**31 - 2, 0)))
seed("bundle", "floats", npz(x=npy("<f4", (2, 2), struct.pack("<4f", 3, 0, 0, 1))))


# ---- what is done to a checkpoint: its length (0: whole), then places and bytes ----

seed("checkpoint", "as-it-was", struct.pack("<H", 0))
seed("checkpoint", "cut", struct.pack("<H", 700))
seed("checkpoint", "changed", struct.pack("<H", 0) + b"".join(struct.pack("<HB", place, 48 + place % 10) for place in (9, 400, 900, 1300)))
seed("checkpoint", "a-number", struct.pack("<H", 0) + struct.pack("<HB", 65535 - 40, 255))


# ---- two-sided and dated tables: the options, then three files; encodings and tables ----

for name, text in REQUEST.items():
    seed("request", name, text)
for name, (flags, files) in SIDES.items():
    seed("sides", name, bytes([flags]) + MARK.join(text.encode() for text in files))
for name, files in ENCODING.items():
    seed("encoding", name, MARK.join(text.encode() for text in files))


# ---- graph files: the target writes the checksums ----

def siphash13(key, data):
    """As src/base/siphash.c: with the key (key, 0)."""
    mask = 2**64 - 1
    v = [key ^ 0x736F6D6570736575, 0x646F72616E646F6D, key ^ 0x6C7967656E657261, 0x7465646279746573]

    def rounds(count):
        def rotate(x, bits):
            return (x << bits | x >> (64 - bits)) & mask
        for _ in range(count):
            for a, b, c, d, first, second in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a] = (v[a] + v[b]) & mask
                v[c] = (v[c] + v[d]) & mask
                v[b] = rotate(v[b], first) ^ v[a]
                v[d] = rotate(v[d], second) ^ v[c]
                v[a] = rotate(v[a], 32)
    whole = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for i in range(0, len(whole), 8):
        word = int.from_bytes(whole[i:i + 8], "little")
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def name_sections(names):
    slots = 2 * len(names) + 2
    text, starts, table = b"", [], [(-1, 0)] * slots
    for i, name in enumerate(names):
        tag = siphash13(0, name) >> 32
        at = tag * slots >> 32
        while table[at][0] >= 0:
            at = (at + 1) % slots
        table[at] = i, tag
        starts.append(len(text))
        text += name + b"\0"
    return [text, struct.pack(f"<{len(starts)}Q", *starts), b"".join(struct.pack("<iI", *slot) for slot in table)]


def npg(nodes, edges, columns=0, classes=0, weights=None, times=None, labels=None, sides=None, sparse=None, dense=None, names=None,
        column_names=None, encoding=None):
    """sparse: a list of (column, value) per node, or of columns where all values are 1."""
    rows = [sorted([(v, e) for e, (u, v) in enumerate(edges) if u == i] + [(u, e) for e, (u, v) in enumerate(edges) if v == i])
            for i in range(nodes)]
    flat = [entry for row in rows for entry in row]

    def offsets(lists):
        ends = [0]
        for one in lists:
            ends.append(ends[-1] + len(one))
        return struct.pack(f"<{len(ends)}q", *ends)

    def pack(kind, values):
        return None if values is None else struct.pack(f"<{len(values)}{kind}", *values)
    if sparse is None and dense is None:
        sparse = [[]] * nodes
    elements = [e if isinstance(e, tuple) else (e, None) for row in sparse or [] for e in row]
    values = None if not elements or elements[0][1] is None else [value for _, value in elements]
    sections = [offsets(rows), pack("i", [v for v, _ in flat]), pack("f", weights and [weights[e] for _, e in flat]),
                pack("d", times and [times[e] for _, e in flat]), pack("i", labels), sides,
                sparse is not None and offsets(sparse) or None, None if sparse is None else pack("i", [c for c, _ in elements]),
                pack("f", values), pack("f", dense),
                *(name_sections(names) if names else [None] * 3), *(name_sections(column_names) if column_names else [None] * 3),
                encoding]
    table, content = [], b""
    for section in sections:
        content += b"" if section is None else bytes(-len(content) % 64)
        table += [0, 0] if section is None else [384 + len(content), len(section)]
        content += section or b""
    content += bytes(-len(content) % 64)
    header = b"\x89NPG\r\n\x1a\n" + struct.pack("<2IQ4q4q3Q34Q", 1, 1 << 20, 384 + len(content), nodes, len(edges), columns, classes,
                                                  len(edges), 0, 0, 0, 0, 0, 0, *table)
    return header + content + bytes(16)


PATH = [(0, 1), (1, 2), (2, 3)]
seed("npg", "plain", npg(4, PATH))
seed("npg", "empty", npg(0, []))
seed("npg", "no-links", npg(3, [], labels=[0, -1, 1], classes=2))
seed("npg", "named", npg(4, PATH, columns=3, names=[b"a", b"b c", b"\xff\t", b"d"], column_names=[b"x", b"y", b"z"],
                         sparse=[[0, 2], [], [1], [0, 1]], labels=[7, 7, -1, 0], classes=2))
seed("npg", "two-sided", npg(5, [(0, 2), (0, 3), (1, 3), (1, 4)], sides=b"\0\0\1\1\1", weights=[1, 2, 0.5, 4], times=[1, 2, 3, -4.5],
                             columns=2, dense=[0, 1, 2, 0, 1, 1, 3, -1, 0, 0.5]))
seed("npg", "values", npg(3, [(0, 2)], columns=2, sparse=[[(0, 0.5)], [(1, -2.0)], []]))
seed("npg", "encoded", npg(2, [(0, 1)], columns=5, column_names=[b"age", b"age=(missing)", b"town=Rome", b"town=(other)", b"is"],
                           sparse=[[(0, 0.5)], [(1, 1.0)]],
                           encoding=b'{"columns":[{"center":3.0,"flags_missing":true,"high":9.0,"kind":"number","least":1.0,"low":1.0,'
                                    b'"missing":1,"most":9.0,"name":"age","rows":2,"scale":2.0,"side":0},{"counts":[2],'
                                    b'"flags_missing":false,"kind":"category","missing":0,"name":"town","other":true,"rows":2,"side":0,'
                                    b'"values":["Rome"]},{"kind":"flag","center":0.5,"name":"is"}],"id":null,"version":1}\0'))
seed("npg", "raw", b"X" + npg(4, PATH)[1:])
seed("npg", "future", npg(4, PATH)[:8] + b"\2" + npg(4, PATH)[9:])
