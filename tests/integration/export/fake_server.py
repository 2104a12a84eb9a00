# SPDX-License-Identifier: BSD-2-Clause
"""Bencher and the Firefox Profiler's server, as far as uploads go: fake_server.py FOLDER [CERTIFICATE]

Listens on a free port of the loopback and writes its number to FOLDER/port. Each request becomes one JSON line in
FOLDER/log. The first word of FOLDER/mode says how to behave; it is read for each request: ok, alert, limit (429 once),
error (500 always), cut (half an answer once), refuse (400). Ends by itself after two minutes.
"""
import base64
import gzip
import http.server
import json
import os
import ssl
import sys
import threading

folder = sys.argv[1]
seen = {}


def mode():
    try:
        return open(os.path.join(folder, "mode")).read().split()[0]
    except (OSError, IndexError):
        return "ok"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def note(self, body):
        text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        with open(os.path.join(folder, "log"), "a") as log:
            log.write(json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers),
                                  "body": text.decode("utf-8", "replace")}) + "\n")

    def once(self, what):
        seen[what] = seen.get(what, 0) + 1
        return seen[what] == 1

    def misbehave(self):
        how = mode()
        if how == "error":
            self.answer(500, {"message": "out of order"})
        elif how == "limit" and self.once("limit"):
            self.answer(429, {"message": "slow down"})
        elif how == "cut" and self.once("cut"):
            self.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\n{")
            self.close_connection = True
        elif how == "refuse":
            self.answer(400, {"message": "bad\n\x1b[31m document"})
        else:
            return False
        return True

    def run_answer(self):
        report = {"uuid": "0" * 36, "project": {"slug": "my-project"}, "counts": {"alerts": {"total": 0}}, "alerts": []}
        if mode() == "alert":
            report["counts"]["alerts"]["total"] = 1
            report["alerts"] = [{"benchmark": {"name": "server/requests"}, "limit": "lower"}]
        self.answer(201, report)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.note(body)
        if self.misbehave():
            return
        if self.path == "/compressed-store":
            if self.headers.get("Accept") != "application/vnd.firefox-profiler+json;version=1.0":
                self.answer(406, "not acceptable", "text/plain")
                return
            payload = base64.urlsafe_b64encode(b'{"profileToken":"abcdefghijklmnop","iat":1}').rstrip(b"=").decode()
            self.answer(200, f"aGVhZA.{payload}.c2lnbg", "text/plain")
        elif self.path.endswith("/measures"):
            self.answer(409, {"message": "it is there"})
        elif self.path == "/v0/run" and self.headers.get("Authorization") in (None, "Bearer secret-key"):
            self.run_answer()
        else:
            self.answer(401, {"message": "who are you?"})

    def do_DELETE(self):
        self.note(b"")
        good = self.headers.get("Authorization", "").startswith("Bearer aGVhZA.")
        self.answer(200 if good else 401, "deleted" if good else "no", "text/plain")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
threading.Timer(120, lambda: os._exit(0)).start()
server.serve_forever()
