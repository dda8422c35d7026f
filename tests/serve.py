#!/usr/bin/env python3
"""serve.py NPGNN requests|hostile|journal: npgnn serve, asked over HTTP.

requests: every route, broken requests, limits, token, cells of new nodes, SIGTERM.
hostile: requests that two programs might read in two ways; slow clients; memory; Host and SIGHUP.
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

    def __init__(self, *options, people=PEOPLE):
        self.process = subprocess.Popen(
            [NPGNN, "serve", "universal", "--edges", LINKS, "--features", people, "--threads", "2", "--listen", "127.0.0.1:0", *options],
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

    def exchange(self, text, wanted=b"", times=1):
        """(what comes back, whether the server closed the connection) for these bytes; the client closes nothing, and reads until it has
        seen what is wanted so many times."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=8) as client:
            client.sendall(text)
            answer = b""
            try:
                while part := client.recv(65536):
                    answer += part
                    if wanted and answer.count(wanted) >= times:
                        return answer, False
            except TimeoutError:
                return answer, False
            except ConnectionError:
                pass
            return answer, True

    def memory(self, key):
        """VmRSS or VmHWM, in MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(key + ":")) / 1024

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


def check_malformed(s):
    """Requests that this server and a proxy before it might read in two ways."""
    get, post, host, body = b"GET /healthz HTTP/1.1\r\n", b"POST /score HTTP/1.1\r\n", b"Host: localhost\r\n", b'{"pairs":[]}'
    json_type, length = b"Content-Type: application/json\r\n", b"Content-Length: 12\r\n"
    for text in (
            post + host + json_type + length + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get + host + b"\r\n",
            post + host + json_type + b"Content-Length: 12\r\nContent-Length: 60\r\n\r\n" + body + get + host + b"\r\n",
            post + host + json_type + length + length + b"\r\n" + body,
            post + host + json_type + b"Content-Length: 12, 12\r\n\r\n" + body,
            post + host + json_type + b"Content-Length: +12\r\n\r\n" + body,
            post + host + json_type + b"Content-Length: 18446744073709551615\r\n\r\n" + body,
            post + host + json_type + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            post + host + json_type + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"POST /score HTTP/1.0\r\n" + host + json_type + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            get + host + b"Host: evil.example\r\n\r\n",
            get + b"Host: [::1]evil.example\r\n\r\n",
            get + b"Host: localhost:80evil.example\r\n\r\n",
            get + b"Host: localhost evil.example\r\n\r\n",
            get + b"\r\n",
            get + b"Host : localhost\r\n\r\n",
            post + host + json_type + b"Content-Length : 12\r\n\r\n" + body,
            get + host + b"X\t: y\r\n\r\n",
            get + host + b": y\r\n\r\n",
            get + host + b"X: y\x01\r\n\r\n",
            get + host + b"X: y\0z\r\n\r\n",
            get + b"Host: localhost\0evil.example\r\n\r\n",
            get + host + b"X: y\r\n z\r\n\r\n",
            get + b"Host: evil\r\n\tlocalhost\r\n\r\n",
            get + host + b"X: y\rz\r\n\r\n",
            get + b"Host: localhost\n\r\n",
            get + host + b"X: y\r\nY: z\n\r\n",
            get + host + b"\n",
            b"GET /healthz HTTP/1.1\n" + host + b"\r\n",
            b"GET /healthz%00 HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /healthz\0 HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /healthz\0/../nodes HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /top?node=p7\0&k=3 HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /healthz#x HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /top?node=p7 p8 HTTP/1.1\r\n" + host + b"\r\n",
            b"GET  /healthz HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /healthz  HTTP/1.1\r\n" + host + b"\r\n",
            b"GET\0 /healthz HTTP/1.1\r\n" + host + b"\r\n",
            b"GET healthz HTTP/1.1\r\n" + host + b"\r\n",
            b"GET http://evil.example@localhost/healthz HTTP/1.1\r\n" + host + b"\r\n",
            b"GET http:///healthz HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /healthz HTTP/1.7\r\n" + host + b"\r\n"):
        answer, closed = s.exchange(text)
        if not answer and b"\0" in text.split(b"\n")[0]:  # libmicrohttpd 1.0 closes the connection at once
            answer = b"HTTP/1.1 400 "
        assert closed and answer.startswith(b"HTTP/1.1 400 ") and b" 200 OK" not in answer, (text, closed, answer)
    assert s.exchange(b"GET http://evil.example/healthz HTTP/1.1\r\n" + host + b"\r\n", b"\r\n\r\n")[0].startswith(b"HTTP/1.1 403 ")
    # what is unusual, but sound
    many = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 90) for i in range(150))
    for text in (
            b"GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            b"GET /healthz HTTP/1.0\r\n" + host + b"\r\n",
            b"\r\n" + get + b"hOsT:  \tlocalhost:80\r\nX:\r\nY: \r\nX: y\r\nCookie: a=b; c=d\r\n\r\n",
            get + b"Host: [::1]:8080\r\n\r\n",
            get + b"Host: localhost \t\r\n\r\n",
            b"GET /top?node=p7&k=3&explain=1 HTTP/1.1\r\n" + host + b"\r\n",
            get + host + many + b"\r\n",
            post + host + json_type + b"Transfer-Encoding: Chunked\r\n\r\nc\r\n" + body + b"\r\n0\r\n\r\n",
            post + host + json_type + length + b"Expect: 100-continue\r\n\r\n" + body):
        answer = s.exchange(text, b" 200 OK")[0].removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK"), (text, answer)
    answer, closed = s.exchange(2 * (get + host + b"\r\n"), b" 200 OK", 2)  # two at once
    assert answer.count(b"HTTP/1.1 200 ") == 2 and not closed, answer
    with socket.create_connection(("127.0.0.1", s.port), timeout=5) as client:  # in pieces
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        text = get + host + many + b"\r\n"
        for first in range(0, len(text), 61):
            client.sendall(text[first:first + 61])
            time.sleep(0.0005)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    for method, target, allowed in (("DELETE", "/nodes", "POST"), ("GET", "/score", "POST"), ("POST", "/top", "GET, HEAD"), ("PUT", "/", "GET, HEAD")):
        client = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
        client.request(method, target)
        answer = client.getresponse()
        assert answer.status == 405 and answer.headers["Allow"] == allowed, (answer.status, answer.headers["Allow"])
        client.close()


def drip(port, first, piece, pause, seconds, held):
    """Sends `first` and then a piece now and then, over and over, on new connections; held: seconds that each one lasted."""
    end = time.time() + seconds
    while time.time() < end:
        start = time.time()
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                client.sendall(first)
                client.settimeout(pause)
                while time.time() < end:
                    client.sendall(piece)
                    try:
                        if not client.recv(1):
                            break
                    except TimeoutError:
                        pass
        except OSError:
            pass
        held.append(time.time() - start)
        time.sleep(0.3)


def check_dripping_clients():
    """Clients that are never silent, but never done, on every connection there is."""
    s = Server("--max-connections", "16", "--timeout", "2")
    host = b"Host: localhost\r\n"
    head = b"GET /healthz HTTP/1.1\r\n" + host + b"X: "
    body = b"POST /score HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    for first, piece in ((head, b"y"), (body, b" "), (b"", b"\r\n")):
        held = []
        clients = [threading.Thread(target=drip, args=(s.port, first, piece, 0.5, 4, held)) for _ in range(16)]
        for client in clients:
            client.start()
        time.sleep(0.5)
        for _ in range(3):  # somebody else may be refused now and then, but not for long
            start, answered = time.time(), False
            while not answered:
                try:
                    s.good("GET", "/healthz")
                    answered = True
                except (OSError, http.client.HTTPException):
                    assert time.time() - start < 6
                    time.sleep(0.02)
        for client in clients:
            client.join()
        assert max(held) < 4, max(held)
    # connections that are kept alive make room, and end
    kept = [http.client.HTTPConnection("127.0.0.1", s.port, timeout=60) for _ in range(16)]
    for client in kept:
        s.good("GET", "/healthz", connection=client)
    time.sleep(1.5)
    s.good("GET", "/healthz")
    time.sleep(2)
    assert all(client.sock.recv(1) == b"" for client in kept)
    assert s.end() == 0
    # a client that reads an answer of 8 MB, which the kernel does not hold, at 10 kB/s
    s = Server("--timeout", "2", "--max-body", "16000000")
    name = 800 * "n"
    s.good("POST", "/nodes", {"nodes": [{"id": name}]})
    pairs = json.dumps({"pairs": [[name, "p2"]] * 10000}).encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(30)
        client.connect(("127.0.0.1", s.port))
        client.sendall(b"POST /score HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(pairs) + pairs)
        assert client.recv(12) == b"HTTP/1.1 200"
        start = time.time()
        while "npgnn_requests_active 1\n" not in s.good("GET", "/metrics"):  # only this question is left
            assert time.time() - start < 15
            client.recv(1000)
            time.sleep(0.1)
        assert time.time() - start > 1
    assert s.end() == 0
    s = Server("--max-per-address", "3")
    clients = [socket.create_connection(("127.0.0.1", s.port), timeout=5) for _ in range(3)]
    assert s.exchange(b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n") == (b"", True)
    clients.pop().close()
    time.sleep(0.5)
    s.good("GET", "/healthz")
    assert s.end() == 0


def check_memory():
    """Bodies that make many small values, or are refused late: what they take is bounded, and comes back."""
    s = Server("--max-connections", "100")
    bodies = [b'{"nodes":[' + b"{}," * 349000 + b"{}]}", b'{"pairs":[[' + b"1," * 520000 + b"1]]}", b'{"links":[' + b"[]," * 349000 + b"[]]}",
              b'{"nodes":[{"id":1,' + b",".join(b'"%d":1' % i for i in range(4000)) + b'},{"id":2,' + b",".join(b'"%d":1' % i for i in range(4096)) + b',"x":[]}]}',
              b'{"pairs":[' + b",".join([b"[1,2]"] * 10000) + b",3]}", b"[" * 1000000,
              b'{"pairs":[' + b",".join(b'["%050d","%045d"]' % (i, i) for i in range(10000)) + b"]}",
              b'{"nodes":[' + b",".join(b'{"id":"n%d",' % n + b",".join(b'"%d":1' % i for i in range(1000, 5000)) + b"}" for n in range(28)) + b"]}"]
    targets = {"n": "/nodes", "p": "/score", "l": "/links"}
    for body in bodies:
        assert len(body) <= 1 << 20
        status, answer = s.ask("POST", targets.get(chr(body[2]), "/nodes"), body)
        assert status in (400, 404, 413), (status, answer)
    before = s.memory("VmRSS")
    for body in bodies:
        target = targets.get(chr(body[2]), "/nodes")
        asking = [threading.Thread(target=s.ask, args=("POST", target, body)) for _ in range(64)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
    time.sleep(0.5)
    peak, after = s.memory("VmHWM") - before, s.memory("VmRSS") - before
    print(f"memory: {before:.0f} MiB, at most {peak:.0f} more with 64 bodies of 1 MiB at once, {after:.0f} more afterwards")
    with open(NPGNN, "rb") as file:
        program = file.read()
    if b"__asan_init" in program or b"__tsan_init" in program:  # a sanitizer keeps what is freed
        peak = after = 0
    # the bodies, 8 times the size of each of the three that are parsed at once, and some more
    assert peak < 64 + 3 * 8 + 4, peak
    assert after < 20, after
    assert s.end() == 0


def check_hosts_and_hangup():
    for host in ("a.example:80", ""):
        refused = subprocess.run([NPGNN, "serve", "universal", "--edges", LINKS, "--allow-host", host], capture_output=True, text=True, timeout=60)
        assert refused.returncode == 2 and "without a port" in refused.stderr, refused.stderr
    s = Server("--allow-host", "graph.example", "--allow-host", "Other.Example")
    for host in ("graph.example", "GRAPH.EXAMPLE:443", "other.example", "localhost"):
        s.good("GET", "/healthz", headers={"Host": host})
    for host in ("evil.example", "graph.example.evil", "graph", "evil-graph.example"):
        why = s.bad(403, "GET", "/healthz", headers={"Host": host})
        assert "--allow-host" in why and host in why, why
    for _ in range(3):
        s.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        s.good("GET", "/healthz")
    assert s.end() == 0
    assert "SIGHUP is ignored" in s.said, s.said


def test_hostile():
    s = Server()
    check_malformed(s)
    assert s.end() == 0
    check_dripping_clients()
    check_memory()
    check_hosts_and_hangup()


def check_cells():
    """Cells in JSON mean what they mean in the table."""
    table = os.path.join(FOLDER, "answers.csv")
    with open(table, "w", encoding="utf-8") as out:
        print("id,answer,grade,size,sure,year", file=out)
        for i in range(60):
            answer = ("true", "false", "maybe")[i % 3]
            print(f"p{i},{answer},{1 + i % 3},{1 + i % 4}.0,{('True', 'False', 'no idea')[i % 3]},{1950 + i % 7 * 10 if i % 5 else ''}", file=out)
    kinds = [word for column in ("answer", "grade", "size", "sure") for word in ("--column", column + ":category")]
    s = Server(*kinds, people=table)
    written = {"answer": "true", "grade": "1", "size": "1.0", "sure": "True", "year": ""}
    spellings = [("answer", True), ("grade", 1), ("grade", 1.0), ("size", 1.0), ("size", 1), ("sure", True), ("year", None)]
    nodes = [written, dict(written, answer="maybe"), dict(written, grade="2"), dict(written, size="2.0"), dict(written, sure="no idea"), dict(written, year="1990")]
    nodes += [dict(written, **{column: value}) for column, value in spellings]
    s.good("POST", "/nodes", {"nodes": [dict(node, id=f"n{i}") for i, node in enumerate(nodes)]})
    s.good("POST", "/nodes", '{"nodes": [{"id": "e", "answer": true, "grade": 1e0, "size": 10e-1, "sure": true, "year": null}]}')
    chance = [item["probability"] for item in s.good("POST", "/score", {"pairs": [[f"n{i}", "p3"] for i in range(len(nodes))] + [["e", "p3"]]})["pairs"]]
    assert all(abs(value / chance[0] - 1) > 0.01 for value in chance[1:6]), chance
    assert all(abs(value / chance[0] - 1) < 1e-5 for value in chance[6:]), (chance, spellings)
    s.good("POST", "/nodes", {"nodes": [dict(written, id="code", grade="01"), dict(written, id="none", grade="9")]})
    code, none = [item["probability"] for item in s.good("POST", "/score", {"pairs": [["code", "p3"], ["none", "p3"]]})["pairs"]]
    assert abs(code / chance[0] - 1) > 0.01 and abs(code / none - 1) < 1e-5, (code, none, chance[0])  # 01 is a code, not the number 1
    s.good("POST", "/nodes", {"nodes": [{"id": 123456789012345678901234567890}]})
    assert s.good("GET", "/node?node=123456789012345678901234567890")["link_count"] == 0
    for value in ("true", "false", "null", "1.5", "1.0", "1e3", "[1]", "{}", '""'):
        shown = value if value[0] not in "[{" else ""
        for target, body in (("/nodes", '{"nodes": [{"answer": "true", "id": %s}]}'), ("/links", '{"links": [["p1", "p2"], ["p1", %s]]}'),
                             ("/score", '{"pairs": [[%s, "p2"]]}')):
            why = s.bad(400, "POST", target, body % value)
            assert "must be a text that is not empty, or an integer" in why and shown in why, why
    s.bad(404, "GET", "/top?node=true")
    assert s.end() == 0


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
    check_cells()


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
{"requests": test_requests, "hostile": test_hostile, "journal": test_journal}[sys.argv[2]]()
subprocess.run(["rm", "-rf", FOLDER], check=True)
