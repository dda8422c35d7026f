#!/usr/bin/env python3
"""serve.py NPGNN requests|journal: npgnn serve, asked over HTTP.

requests: every route, broken requests, limits, token, SIGTERM.
journal: kill -9 in the middle of additions, twenty times: nothing that was acknowledged is lost; a torn record; a second server."""
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

NPGNN = os.path.realpath(sys.argv[1])
KILLS = int(os.environ.get("NPGNN_KILLS", "20"))
FOLDER = tempfile.mkdtemp(prefix="npgnn-serve-")
PEOPLE = os.path.join(FOLDER, "people.csv")
LINKS = os.path.join(FOLDER, "links.csv")


def make_graph():
    """Sixty people in two towns, who know those who live near."""
    rng = random.Random(3)
    with open(PEOPLE, "w", encoding="utf-8") as out:
        print("id,town,age,likes", file=out)
        for i in range(60):
            print(f"p{i},{'Rome' if i % 2 else 'Oslo'},{20 + i},{'tea and books' if i % 3 else 'wine and films'}", file=out)
    with open(LINKS, "w", encoding="utf-8") as out:
        print("source,target", file=out)
        for i in range(60):
            for j in range(i + 1, 60):
                if (i - j) % 2 == 0 and rng.random() < 0.15:
                    print(f"p{i},p{j}", file=out)


class Server:
    """A running server on a port of its own."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [NPGNN, "serve", "universal", "--edges", LINKS, "--features", PEOPLE, "--threads", "2", "--listen", "127.0.0.1:0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("npgnn: serving http://127.0.0.1:"):
            raise RuntimeError(line + self.process.stderr.read())
        self.port = int(line.rstrip("/\n").rsplit(":", 1)[1])

    def check_port_is_taken(self):
        second = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--listen", f"127.0.0.1:{self.port}"],
                                capture_output=True, text=True, timeout=60)
        assert second.returncode == 1 and "in use" in second.stderr, second

    def ask(self, method, target, body=None, headers=None, connection=None):
        """(status, JSON or text)"""
        client = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        client.request(method, target, body, headers)
        answer = client.getresponse()
        text = answer.read().decode()
        if not connection:
            client.close()
        return answer.status, json.loads(text) if answer.headers["Content-Type"] == "application/json" else text

    def good(self, method, target, body=None, **more):
        status, answer = self.ask(method, target, body, **more)
        assert status == 200, (method, target, status, answer)
        return answer

    def bad(self, status, method, target, body=None, **more):
        got, answer = self.ask(method, target, body, **more)
        assert got == status and len(answer["error"]) > 10, (method, target, got, answer)
        return answer["error"]

    def raw(self, text):
        """What comes back for these bytes, until the server closes or five seconds have passed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
            parts = []
            try:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                while part := client.recv(65536):
                    parts.append(part)
            except OSError:
                pass
            return b"".join(parts)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(30)
        self.said = self.process.stderr.read()
        return self.process.returncode


def names(answer):
    return [item["node"] for item in answer["suggestions"]]


def check_routes(s):
    health = s.good("GET", "/healthz")
    assert health["status"] == "ok" and health["nodes"] == 60 and health["explains"] is True, health
    top = s.good("GET", "/top?node=p7&k=5")
    assert top["node"] == "p7" and len(top["suggestions"]) == 5
    chances = [item["probability"] for item in top["suggestions"]]
    assert chances == sorted(chances, reverse=True) and 0 < chances[0] < 1, chances
    # the same as POST /score says, and as the command line says
    scored = s.good("POST", "/score", {"pairs": [["p7", name] for name in names(top)]})["pairs"]
    assert [item["probability"] for item in scored] == chances and not any(item["known"] for item in scored), scored
    printed = subprocess.run([NPGNN, "predict", "universal", "--edges", LINKS, "--features", PEOPLE, "--top", "5", "--for", "p7", "--quiet"],
                             capture_output=True, text=True, check=True).stdout
    assert [line.split("\t")[1] for line in printed.splitlines()] == names(top), printed
    for line, chance in zip(printed.splitlines(), chances):
        assert abs(float(line.split("\t")[2]) - chance) < 1e-5 * chance
    explained = s.good("GET", "/top?node=p7&k=5&explain=1")
    assert names(explained) == names(top)
    for item in explained["suggestions"]:
        assert abs(item["baseline"] + sum(item["reasons"].values()) - item["log_odds"]) < 1e-5, item
        assert item["reason"]
    node = s.good("GET", "/node?node=p7")
    assert node["link_count"] == len(node["links"]) and not set(node["links"]) & set(names(top))
    assert s.good("GET", "/search?q=P5")["nodes"][0] == "p5"
    assert "paths" in s.good("GET", "/openapi.json")
    for path, methods in s.good("GET", "/openapi.json")["paths"].items():  # every route that is described is there
        for method in methods:
            assert s.ask(method.upper(), path, {} if method == "post" else None)[0] in (200, 400), path
    page = s.good("GET", "/")
    assert page.startswith("<!DOCTYPE html>")
    metrics = s.good("GET", "/metrics")
    assert 'npgnn_requests_total{route="top",status="2xx"} 2' in metrics and "npgnn_nodes 60" in metrics, metrics
    client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
    client.request("HEAD", "/healthz")
    answer = client.getresponse()
    assert answer.status == 200 and answer.read() == b""


def check_additions(s):
    s.bad(404, "GET", "/top?node=zoe")
    assert "'Z\u00fcrich'" in s.bad(404, "GET", "/top?node=Z%C3%BCrich")
    assert s.good("POST", "/nodes", {"nodes": [{"id": "zoe", "town": "Rome", "age": 31, "likes": "tea and books"}, {"id": 99}]}) == {"added": 2}
    first = s.good("GET", "/top?node=zoe&k=8")
    assert len(first["suggestions"]) == 8
    assert s.good("POST", "/links", {"links": [["zoe", "p7"], ["p9", "zoe"], ["p7", "zoe"]]}) == {"added": 2}
    assert s.good("POST", "/links", {"links": [["zoe", "p7"]]}) == {"added": 0}
    assert s.good("POST", "/score", {"pairs": [["zoe", "p7"]]})["pairs"][0]["known"] is True
    odd = 'a "b" \\ \u00e9\t\U0001f600'
    s.good("POST", "/nodes", {"nodes": [{"id": odd}]})
    pair = s.good("POST", "/score", {"pairs": [[odd, "p7"]]})["pairs"][0]
    assert (pair["u"], pair["v"], pair["known"]) == (odd, "p7", False) and 0 < pair["probability"] < 1, pair
    long = "n" * 9000  # a name may have any length that an address has
    s.good("POST", "/nodes", {"nodes": [{"id": long}]})
    assert s.good("GET", "/top?node=" + long)["node"] == long and s.good("GET", "/node?node=" + long)["link_count"] == 0
    assert s.ask("GET", "/top?node=" + 40000 * "n")[0] == 414
    now = s.good("GET", "/top?node=zoe&k=8&explain=1")
    assert "p7" not in names(now) and "p9" not in names(now)
    assert sorted(s.good("GET", "/node?node=zoe")["links"]) == ["p7", "p9"]
    for status, target, body, word in (
            (400, "/nodes", {"nodes": [{"id": "p7"}]}, "p7"),
            (400, "/nodes", {"nodes": [{"id": "ann"}, {"id": "bob", "shoes": 42}]}, "shoes"),
            (400, "/nodes", {"nodes": [{"id": "ann"}, {"id": "bob", "age": "old"}]}, "age"),
            (400, "/nodes", {"nodes": [{"id": "ann"}, {"id": "ann"}]}, "ann"),
            (400, "/links", {"links": [["p7", "p7"]]}, "itself"),
            (400, "/score", {"pairs": [["p7", "p8"], ["p7", "p7"]]}, "one node"),
            (404, "/links", {"links": [["p7", "nobody"]]}, "nobody"),
            (404, "/score", {"pairs": [["p7", "nobody"]]}, "nobody")):
        assert word in s.bad(status, "POST", target, body)
    s.bad(404, "GET", "/top?node=ann")  # all or none
    deadline = time.time() + 60
    while s.good("GET", "/healthz")["new_nodes"] > 0:  # the refresh in the background
        assert time.time() < deadline
        time.sleep(0.1)
    assert s.good("GET", "/healthz")["nodes"] == 64
    assert len(s.good("GET", "/top?node=zoe&k=8")["suggestions"]) == 8


def check_bad_requests(s):
    s.bad(404, "GET", "/nothing")
    s.check_port_is_taken()
    s.bad(404, "GET", "/../etc/passwd")
    s.bad(405, "DELETE", "/nodes")
    s.bad(405, "GET", "/score")
    s.bad(400, "GET", "/top")
    s.bad(400, "GET", "/top?node=p7&k=0")
    s.bad(400, "POST", "/score", b"\xff\xfe")
    s.bad(400, "POST", "/score", "[" * 100000)
    s.bad(400, "POST", "/score", "")
    s.bad(415, "POST", "/score", "{}", headers={"Content-Type": "text/plain"})
    s.bad(403, "GET", "/healthz", headers={"Host": "evil.example"})
    s.bad(413, "POST", "/score", b" " * 2000000)
    s.bad(413, "POST", "/score", {"pairs": [["p1", "p2"]] * 10001})
    # without a length, in chunks: cut off at the limit
    client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
    client.request("POST", "/score", (b" " * 65536 for _ in range(40)), {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert client.getresponse().status == 413
    client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)  # endless: the server hangs up
    try:
        client.request("POST", "/score", (b" " * 65536 for _ in range(2000)), {"Content-Type": "application/json", "Transfer-Encoding": "chunked"},
                       encode_chunked=True)
        client.getresponse()
        assert False, "130 MB were read"
    except (OSError, http.client.HTTPException):
        pass
    for text in (b"\0\0\0\0", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                 b"GET /top?node=" + b"x" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
                 b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\nshort"):
        answer = s.raw(text)
        assert not answer or answer.split(b" ")[1][:1] == b"4" or answer.split(b" ")[1] == b"505", answer[:100]
    assert s.good("GET", "/healthz")["status"] == "ok"


def check_slow_clients(s):
    """Clients that send nothing do not keep others from being answered, and are sent away."""
    idle = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(20)]
    for client in idle[:10]:
        client.sendall(b"POST /score HTTP/1.1\r\nHost: localhost\r\n")
    assert s.good("GET", "/healthz")["status"] == "ok"
    for client in idle:
        client.settimeout(10)
        try:
            while client.recv(65536):
                pass
        except ConnectionError:
            pass
        client.close()


def check_keep_alive(s):
    client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
    for i in range(30):
        assert s.good("GET", f"/top?node=p{i}&k=3", connection=client)["node"] == f"p{i}"
        s.bad(404, "GET", "/top?node=nobody", connection=client)
    client.close()


def check_token():
    path = os.path.join(FOLDER, "token")
    refused = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--listen", "0.0.0.0:0"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--token-file" in refused.stderr, refused.stderr
    with open(path, "w", encoding="ascii") as out:
        out.write("short\n")
    refused = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--token-file", path], capture_output=True, text=True)
    assert refused.returncode == 1 and "16" in refused.stderr, refused.stderr
    token = "0123456789abcdef0123456789abcdef"
    with open(path, "w", encoding="ascii") as out:
        out.write(token + "\n")
    for wrong, why in (("70000", "not a port"), ("no.such.host:80", "not an address"), ("[::1", "ADDRESS:PORT")):
        refused = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--listen", wrong], capture_output=True, text=True)
        assert refused.returncode == 2 and why in refused.stderr, refused.stderr
    s = Server("--token-file", path, "--listen", "0")  # a port alone
    s.good("GET", "/healthz")
    s.good("GET", "/")
    for given in ({}, {"Authorization": "Bearer " + token[:-1]}, {"Authorization": "Bearer " + token + "0"}, {"Authorization": token},
                  {"Authorization": "Bearer "}, {"Authorization": "Basic " + token}):
        s.bad(401, "GET", "/top?node=p7", headers=given)
        s.bad(401, "POST", "/nodes", {"nodes": [{"id": "x"}]}, headers=given)
        s.bad(401, "GET", "/metrics", headers=given)
    s.good("GET", "/top?node=p7", headers={"Authorization": "Bearer " + token})
    assert s.end() == 0


def test_requests():
    s = Server("--refresh-after", "0.5", "--timeout", "2")
    check_routes(s)
    check_additions(s)
    check_bad_requests(s)
    check_keep_alive(s)
    check_slow_clients(s)
    # requests that are being answered when the signal comes get their answer
    answers = []
    pairs = {"pairs": [[f"p{i % 60}", f"p{(i * 7 + 1) % 60}"] for i in range(10000)]}
    asking = [threading.Thread(target=lambda: answers.append(s.ask("POST", "/score", pairs)[0])) for _ in range(4)]
    for thread in asking:
        thread.start()
    while "npgnn_requests_active 0\n" in s.good("GET", "/metrics").replace("active 1\n", "active 0\n") and not answers:
        pass
    assert s.end() == 0, s.said
    for thread in asking:
        thread.join()
    assert [status for status in answers if status != 200] == [] and answers, answers
    # what train and predict note too, and the note that it ends
    assert "became" in s.said and "features" in s.said and s.said.count("shutting down") == 1, s.said
    assert s.said.count("npgnn:") == 2, s.said
    check_token()


def add_forever(s, number, acknowledged):
    """Adds nodes and links until the server is gone."""
    try:
        client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
        for i in range(100000):
            name = f"n{s.process.pid}-{number}-{i}"
            s.good("POST", "/nodes", {"nodes": [{"id": name, "town": "Rome", "age": i}]}, connection=client)
            acknowledged.append(name)
            link = [name, f"p{i % 60}"]
            s.good("POST", "/links", {"links": [link]}, connection=client)
            acknowledged.append(link)
    except (OSError, http.client.HTTPException):
        pass


def check_kept(s, kept):
    pairs = [item for item in kept if isinstance(item, list)]
    for first in range(0, len(pairs), 5000):
        for item in s.good("POST", "/score", {"pairs": pairs[first:first + 5000]})["pairs"]:
            assert item["known"], item
    wanted = [[item, "p0"] for item in kept if isinstance(item, str)]
    for first in range(0, len(wanted), 5000):  # a name that is not there would be a 404
        s.good("POST", "/score", {"pairs": wanted[first:first + 5000]})


def test_journal():
    path = os.path.join(FOLDER, "journal")
    kept, torn = [], 0
    rng = random.Random(1)
    for _ in range(KILLS):
        s = Server("--journal", path)
        check_kept(s, kept)
        lists = [[] for _ in range(3)]
        adding = [threading.Thread(target=add_forever, args=(s, i, lists[i])) for i in range(3)]
        for thread in adding:
            thread.start()
        time.sleep(rng.uniform(0.05, 0.4))
        s.end(signal.SIGKILL)
        torn += "incomplete" in s.said
        for thread, got in zip(adding, lists):
            thread.join()
            kept += got
    assert len(kept) > 5 * KILLS, len(kept)
    # half a record at the end, as after a loss of power
    with open(path, "ab") as out:
        out.write(b'0123abcd {"nodes":[{"id":"half')
    s = Server("--journal", path)
    check_kept(s, kept)
    s.bad(404, "GET", "/top?node=half")
    size = s.good("GET", "/healthz")["nodes"]
    assert "\n# TYPE npgnn_journal_writable gauge\nnpgnn_journal_writable 1\n" in s.good("GET", "/metrics")
    second = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--features", PEOPLE, "--journal", path, "--listen", "127.0.0.1:0"],
                            capture_output=True, text=True)
    assert second.returncode == 1 and "another server" in second.stderr, second.stderr
    assert s.end() == 0
    assert "incomplete" in s.said and "30 bytes" in s.said, s.said
    # a journal of another graph, and one with damage in the middle
    other = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--journal", path, "--listen", "127.0.0.1:0"],
                           capture_output=True, text=True)
    assert other.returncode == 1 and "another graph" in other.stderr, other.stderr
    with open(path, "r+b") as file:
        file.seek(60)
        file.write(b"#")
    damaged = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--features", PEOPLE, "--journal", path, "--listen", "127.0.0.1:0"],
                             capture_output=True, text=True)
    assert damaged.returncode == 1 and "damaged" in damaged.stderr, damaged.stderr
    print(f"{KILLS} kills, {len(kept)} acknowledged additions kept, {size} nodes at the end")


make_graph()
{"requests": test_requests, "journal": test_journal}[sys.argv[2]]()
subprocess.run(["rm", "-rf", FOLDER], check=True)
