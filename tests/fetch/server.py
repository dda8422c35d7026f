"""A server for the tests of npgnn fetch that behaves and misbehaves in many ways: server.py PORT-FILE [CERTIFICATE KEY].

The first part of a path says how the file in its last part is served. The port goes to PORT-FILE."""
import http.server
import os
import re
import ssl
import sys
import time

FILES = {'toy.bin': bytes(i * i // 7 % 251 for i in range(300000)), 'toy.txt': b'a small file\n'}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_GET(self):
        # a request to a proxy names the whole address
        manner, name = re.sub('^http://[^/]*', '', self.path).strip('/').split('/')
        getattr(self, manner.replace('-', '_'))(name, FILES.get(name, b''))

    def begin(self, body):
        """Answers with `body`, or from where the client wants to go on; returns what is to be sent."""
        wanted = re.match(r'bytes=(\d+)-', self.headers.get('Range', ''))
        first = int(wanted.group(1)) if wanted else 0
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header('Content-Range', f'bytes {first}-{len(body) - 1}/{len(body)}')
        return self.send_length(body[first:])

    def send_length(self, body):
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        return body

    def good(self, name, body):
        self.wfile.write(self.begin(body))

    def no_range(self, name, body):
        self.send_response(200)
        self.wfile.write(self.send_length(body))

    def only_rest(self, name, body):
        if self.headers.get('Range') == 'bytes=250000-':
            self.good(name, body)
        else:
            self.send_error(404)

    def missing(self, name, body):
        self.send_error(404)

    def cut(self, name, body):
        """Breaks off now and then, but can go on from there."""
        self.wfile.write(self.begin(body)[:100000])

    def cut_once(self, name, body):
        """Breaks off after a third, and does not know the file again."""
        if self.headers.get('Range'):
            self.send_error(503)
        else:
            self.wfile.write(self.begin(body)[:len(body) // 3])

    def short(self, name, body):
        """Claims to be whole after a third, and has no more."""
        if self.headers.get('Range'):
            self.send_error(416)
        else:
            self.send_response(200)
            self.wfile.write(self.send_length(body[:len(body) // 3]))

    def wrong(self, name, body):
        self.wfile.write(self.begin(body[::-1]))

    def endless(self, name, body):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(bytes(10000))

    def stalled(self, name, body):
        self.wfile.write(self.begin(body)[:1000])
        self.wfile.flush()
        time.sleep(60)

    def dripping(self, name, body):
        """Never stalls, and never ends."""
        for byte in self.begin(body):
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.4)

    def mute(self, name, body):
        time.sleep(60)

    def redirect(self, location):
        self.send_response(302)
        self.send_header('Location', location)
        self.send_length(b'')

    def moved(self, name, body):
        self.redirect(f'/good/{name}')

    def to_file(self, name, body):
        self.redirect(f'file://{os.getcwd()}/{name}')

    def to_ftp(self, name, body):
        self.redirect(f'ftp://127.0.0.1/{name}')

    def in_circles(self, name, body):
        self.redirect(f'/in-circles/{name}')


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client):
        pass  # clients go away: that is what is tested


server = Server(('127.0.0.1', 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
for name, body in FILES.items():
    with open(name, 'wb') as file:
        file.write(body)
with open(sys.argv[1] + '.new', 'w') as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + '.new', sys.argv[1])
server.serve_forever()
