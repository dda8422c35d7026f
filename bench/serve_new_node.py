"""serve_new_node.py ADDRESS: how long a new node takes from its POST to its suggestions, for nodes that come one by one."""
import http.client
import json
import random
import sys
import time

HOST = sys.argv[1].removeprefix("http://")
COUNT = 100
rng = random.Random(5)
client = http.client.HTTPConnection(HOST, timeout=60)


def ask(method, target, body=None):
    client.request(method, target, json.dumps(body) if body else None, {"Content-Type": "application/json"} if body else {})
    answer = client.getresponse()
    text = answer.read()
    assert answer.status == 200, text


def describe(name, seconds):
    seconds.sort()
    print(f"RESULT {name}: {len(seconds)} nodes; ms: p50 {1e3 * seconds[len(seconds) // 2]:.1f}, p99 {1e3 * seconds[len(seconds) * 99 // 100]:.1f}")


alone, linked = [], []
for i in range(COUNT):
    node = {"id": f"new-{i}", **{str(rng.randrange(1000)): 1 for _ in range(15)}}
    start = time.perf_counter()
    ask("POST", "/nodes", {"nodes": [node]})
    ask("GET", f"/top?k=10&node=new-{i}")
    alone.append(time.perf_counter() - start)
    start = time.perf_counter()
    ask("POST", "/links", {"links": [[f"new-{i}", rng.randrange(20000)] for _ in range(5)]})
    ask("GET", f"/top?k=10&node=new-{i}")
    linked.append(time.perf_counter() - start)
    time.sleep(0.05)
describe("POST /nodes, then GET /top", alone)
describe("POST /links of 5, then GET /top", linked)
