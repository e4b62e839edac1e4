"""A client of the Wyoming protocol: a line of JSON, then data and a payload of the lengths that the line names."""

import json
import os

from . import http


def address(number):
    """Returns an address and port to listen on that no other row and no other run uses."""
    place = os.getpid() % 62500
    return f"127.64.{place // 250}.{place % 250 + 1}", 10300 + number


def event(kind, data=None, payload=b"", **head):
    """Returns the bytes of one event. `head` replaces members of its line."""
    line = {"type": kind, "data": data or {}}
    if payload:
        line["payload_length"] = len(payload)
    return json.dumps(line | head).encode() + b"\n" + payload


PING = event("ping", {"text": "are you there"})


class Client:
    def __init__(self, place, source=None, timeout=10.0):
        self.peer, self.data = http.connect(place, source, timeout), b""

    def send(self, data):
        """Sends bytes. Returns whether the server took them."""
        try:
            self.peer.sendall(data)
        except OSError:
            return False
        return True

    def receive(self):
        """Returns the next event as its kind and data; None if the server closed the connection."""
        line = self.take(lambda: self.data.find(b"\n") + 1)
        if line is None:
            return None
        head = json.loads(line)
        data = dict(head.get("data") or {})
        for name in ("data_length", "payload_length"):
            size = head.get(name) or 0
            part = self.take(lambda size=size: size if len(self.data) >= size else 0) if size else b""
            if part is None:
                return None
            if size and name == "data_length":
                data |= json.loads(part)
        return head["type"], data

    def take(self, size):
        """Returns that many bytes; `size` is 0 until they have arrived."""
        while not (count := size()):
            try:
                part = self.peer.recv(65536)
            except TimeoutError:
                raise http.Silence("no event came in time") from None
            except OSError:
                part = b""
            if not part:
                return None
            self.data += part
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def answers(self):
        """Returns whether a ping is answered. False if the connection is closed."""
        if not self.send(PING):
            return False
        return (self.receive() or ("",))[0] == "pong"

    def close(self):
        self.peer.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
