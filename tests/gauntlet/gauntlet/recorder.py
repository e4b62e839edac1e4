"""Local servers that act as vendors and record their requests."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Hit:
    method: str
    path: str
    headers: list
    body: bytes

    def header(self, name, default=""):
        return next((v for k, v in self.headers if k.lower() == name.lower()), default)

    def holds(self, text):
        """Returns whether the request contains the text anywhere."""
        seen = self.path + repr(self.headers)
        return text in seen or text.encode() in self.body


class Recorder:
    """Answers each request with `answer(hit) -> (status, headers, body)` and keeps it in `hits`. The body is bytes, or
    an iterator over pieces, which are sent until the client closes the connection."""

    def __init__(self, answer=None):
        self.hits, self.changed = [], threading.Condition()
        self.answer = answer or (lambda hit: (200, {"Content-Type": "application/json"}, b"{}"))
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def serve(self):
                hit = Hit(self.command, self.path, list(self.headers.items()), self.take_body())
                with outer.changed:
                    outer.hits.append(hit)
                    outer.changed.notify_all()
                status, headers, body = outer.answer(hit)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if isinstance(body, bytes):
                    self.send_header("Content-Length", str(len(body)))
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                for piece in [body] if isinstance(body, bytes) else body:
                    self.wfile.write(piece)

            def take_body(self):
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    body = b""
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                    return body
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = serve

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, count=1, seconds=30.0):
        """Returns the hits once there are this many or the time limit has passed."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.hits) >= count, seconds)
            return list(self.hits)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def redirect(target, status=307):
    """Returns a response that redirects the caller."""
    return lambda hit: (status, {"Location": target}, b"")
