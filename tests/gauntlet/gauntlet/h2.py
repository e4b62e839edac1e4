"""Handwritten HTTP/2 frames, for floods that a library would not send."""

import struct

from . import http

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    data = value.encode()
    size, prefix = len(data), b""
    if size >= 127:
        prefix, size = b"\x7f", size - 127
        while size >= 128:
            prefix, size = prefix + bytes([size % 128 | 128]), size // 128
        return prefix + bytes([size]) + data
    return bytes([size]) + data


def literal(name, value):
    """Returns a header without indexing."""
    return b"\x00" + text(name) + text(value)


def request(host, path="/health", method="GET"):
    pairs = [(":method", method), (":scheme", "http"), (":path", path), (":authority", host)]
    return b"".join(literal(name, value) for name, value in pairs)


def take(data):
    """Returns the first complete frame of `data` as (kind, flags, stream, payload), and the remaining bytes; or
    None."""
    if len(data) < 9:
        return None
    size = int.from_bytes(data[:3], "big")
    if len(data) < 9 + size:
        return None
    stream = int.from_bytes(data[5:9], "big") & 0x7FFFFFFF
    return (data[3], data[4], stream, data[9 : 9 + size]), data[9 + size :]


class Connection:
    """A connection with prior knowledge. `ended` describes how the server ended it."""

    def __init__(self, address, source=None, timeout=10.0):
        self.peer = http.connect(address, source, timeout)
        self.peer.sendall(PREFACE + frame(SETTINGS))
        self.data, self.ended = b"", None
        self.frames = []

    def send(self, data):
        """Returns whether the server still accepts bytes."""
        try:
            self.peer.sendall(data)
            return True
        except OSError:
            self.ended = self.ended or "connection closed"
            return False

    def read(self, timeout=2.0, until=None):
        """Reads frames until one of the kind `until`, the end of the connection, or a timeout."""
        self.peer.settimeout(timeout)
        while True:
            taken = take(self.data)
            while taken:
                (kind, flags, stream, payload), self.data = taken
                self.frames.append((kind, flags, stream, payload))
                if kind == SETTINGS and not flags & 1:
                    self.send(frame(SETTINGS, 1))
                if kind == GOAWAY:
                    self.ended = f"GOAWAY {int.from_bytes(payload[4:8], 'big')}"
                if kind == until:
                    return True
                taken = take(self.data)
            try:
                part = self.peer.recv(1 << 16)
            except TimeoutError:
                return False
            except OSError:
                part = b""
            if not part:
                self.ended = self.ended or "connection closed"
                return False
            self.data += part

    def alive(self, timeout=3.0):
        """Returns whether the server answers a ping sent after everything else."""
        if self.ended or not self.send(frame(PING, 0, 0, b"gauntlet")):
            return False
        while self.read(timeout, PING):
            if self.frames[-1][1] & 1 and self.frames[-1][3] == b"gauntlet":
                return self.ended is None
        return False

    def close(self):
        self.peer.close()
