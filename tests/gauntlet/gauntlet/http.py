"""Handwritten HTTP/1.1, for requests that a library would correct."""

import json
import socket
import ssl
import time
import zlib
from dataclasses import dataclass


@dataclass
class Reply:
    status: int
    headers: list
    body: bytes

    def header(self, name, default=""):
        return next((value for key, value in self.headers if key == name.lower()), default)

    def all(self, name):
        return [value for key, value in self.headers if key == name.lower()]

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def ok(self):
        return 200 <= self.status < 300

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    @property
    def code(self):
        value = self.json()
        return value.get("code", "") if isinstance(value, dict) else ""

    def cookie(self, name):
        for value in self.all("set-cookie"):
            key, _, rest = value.partition("=")
            if key.strip() == name:
                return rest.split(";")[0]
        return None


GONE = Reply(0, [], b"")


class Silence(RuntimeError):
    """The peer sent nothing within the time limit and did not close; the row has no verdict."""


def connect(address, source=None, timeout=10.0):
    """Opens a connection, optionally from the loopback address `source`."""
    peer = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    peer.settimeout(timeout)
    if source:
        peer.bind((source, 0))
    peer.connect(address)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def head(method, target, host, headers=(), body=None, close=True):
    """Returns the bytes of a request's head."""
    lines = [f"{method} {target} HTTP/1.1"]
    names = {name.lower() for name, _ in headers}
    if "host" not in names and host is not None:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in headers]
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    if close and "connection" not in names:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + (body or b"")


def read_some(peer, limit=64 << 20):
    """Reads until the peer closes, the time limit, or `limit` bytes. Raises `Silence` if nothing was
    received."""
    parts, size = [], 0
    try:
        while size < limit:
            part = peer.recv(65536)
            if not part:
                break
            parts.append(part)
            size += len(part)
    except TimeoutError:
        if not parts:
            raise Silence(f"no answer within {peer.gettimeout():.0f} s") from None
    except OSError:
        pass
    return b"".join(parts)


def parse(data, method="GET"):
    """Returns the first response in `data` and the bytes after it; `GONE` if there is none."""
    while True:
        top, mark, rest = data.partition(b"\r\n\r\n")
        if not mark or not top.startswith(b"HTTP/"):
            return GONE, b""
        lines = top.split(b"\r\n")
        status = int(lines[0].split(b" ")[1])
        if status != 100:
            break
        data = rest
    pairs = [line.partition(b":") for line in lines[1:]]
    headers = [(k.decode("latin-1").lower(), v.strip().decode("latin-1")) for k, _, v in pairs]
    reply = Reply(status, headers, b"")
    if method == "HEAD" or status in (101, 204, 304):
        return reply, rest
    if reply.header("transfer-encoding").lower() == "chunked":
        reply.body, rest = unchunk(rest)
    elif reply.header("content-length").isdigit():
        size = int(reply.header("content-length"))
        reply.body, rest = rest[:size], rest[size:]
    else:
        reply.body, rest = rest, b""
    if reply.header("content-encoding") == "gzip":
        reply.body = zlib.decompress(reply.body, 31)
    return reply, rest


def unchunk(data):
    body = b""
    while True:
        line, mark, data = data.partition(b"\r\n")
        size = int(line.split(b";")[0] or b"0", 16) if mark else 0
        if size == 0:
            return body, data.partition(b"\r\n")[2]
        body, data = body + data[:size], data[size + 2 :]


def replies(data, count=8):
    """Returns all responses in `data`."""
    found = []
    while data and len(found) < count:
        reply, data = parse(data)
        if reply is GONE:
            break
        found.append(reply)
    return found


def exchange(address, data, source=None, timeout=4.0, tls=False):
    """Sends bytes and returns everything received until the end or the time limit."""
    peer = connect(address, source, timeout)
    try:
        if tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            peer = context.wrap_socket(peer, server_hostname="localhost")
        try:
            peer.sendall(data)
        except OSError:
            pass
        return read_some(peer)
    finally:
        peer.close()


def until_closed(peer, seconds):
    """Returns whether the peer closes within this time; with 0, whether it has already closed."""
    end = time.monotonic() + seconds
    while True:
        peer.settimeout(max(0.0, end - time.monotonic()))
        try:
            if not peer.recv(65536):
                return True
        except (TimeoutError, BlockingIOError):
            return False
        except OSError:
            return True
