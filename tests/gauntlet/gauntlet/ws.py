"""A WebSocket client without a library, for frames that a library would not send."""

import base64
import json
import os
import socket
import struct
import time

from . import http


def frame(payload, opcode=1, fin=True, masked=True, flags=0):
    """Returns the bytes of one frame."""
    first = bytes([(0x80 if fin else 0) | flags | opcode])
    size, bit = len(payload), 0x80 if masked else 0
    if size < 126:
        first += bytes([bit | size])
    elif size < 65536:
        first += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        first += bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return first + payload
    # A zero mask leaves the payload unchanged.
    return first + b"\0\0\0\0" + payload


def take(data):
    """Returns the first complete frame of `data` as (opcode, fin, flags, payload), and the remaining bytes; or
    None."""
    if len(data) < 2:
        return None
    size, at = data[1] & 0x7F, 2
    if size == 126:
        size, at = int.from_bytes(data[2:4], "big"), 4
    elif size == 127:
        size, at = int.from_bytes(data[2:10], "big"), 10
    mask = b""
    if data[1] & 0x80:
        mask, at = data[at : at + 4], at + 4
    if len(data) < at + size:
        return None
    payload = data[at : at + size]
    if mask.strip(b"\0"):
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return (data[0] & 0x0F, bool(data[0] & 0x80), data[0] & 0x70, payload), data[at + size :]


class Socket:
    """An open WebSocket. `status` is 101 or the status of the refusal."""

    def __init__(self, address, path, headers=(), source=None, timeout=10.0, host=None, extensions=None):
        self.peer = http.connect(address, source, timeout)
        nonce = base64.b64encode(os.urandom(16)).decode()
        wanted = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", nonce),
            *headers,
        ]
        if extensions:
            wanted.append(("Sec-WebSocket-Extensions", extensions))
        self.peer.sendall(http.head("GET", path, host or f"{address[0]}:{address[1]}", wanted))
        self.data, self.closed, self.next = b"", None, 0
        try:
            while b"\r\n\r\n" not in self.data:
                part = self.peer.recv(65536)
                if not part:
                    break
                self.data += part
        except OSError:
            pass
        self.reply, rest = http.parse(self.data)
        self.status = self.reply.status
        self.data = rest if self.status == 101 else b""

    def send(self, value):
        text = value if isinstance(value, (bytes, str)) else json.dumps(value)
        self.peer.sendall(frame(text.encode() if isinstance(text, str) else text))

    def receive(self, timeout=10.0):
        """Returns the next text message as JSON; None if the socket closed or the time limit has passed."""
        end = time.monotonic() + timeout
        while True:
            taken = take(self.data)
            if taken:
                (opcode, _, _, payload), self.data = taken
                if opcode == 8:
                    self.closed = int.from_bytes(payload[:2], "big") or 1005
                    return None
                if opcode in (1, 0):
                    return json.loads(payload)
                continue
            left = end - time.monotonic()
            if left <= 0:
                return None
            self.peer.settimeout(left)
            try:
                part = self.peer.recv(1 << 20)
            except socket.timeout:
                return None
            except OSError:
                part = b""
            if not part:
                self.closed = self.closed or 1006
                return None
            self.data += part

    def call(self, method, params=None, timeout=10.0):
        """Returns the response to a call, skipping events. None if the socket ends first."""
        self.next += 1
        try:
            self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params or {}})
        except OSError:
            self.closed = self.closed or 1006
            return None
        return self.answer(self.next, timeout)

    def answer(self, number, timeout=10.0):
        """Returns the response with this ID, skipping events. None if the socket ends first."""
        while True:
            message = self.receive(timeout)
            if message is None and self.closed is None:
                raise http.Silence(f"no answer over the socket within {timeout:.0f} s")
            if message is None or (isinstance(message, dict) and message.get("id") == number):
                return message

    def close(self):
        self.peer.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
