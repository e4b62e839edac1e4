"""HTTP/2 with the limits of a careful server, or without them."""

import struct
import threading
from collections import deque

from gauntlet.h2 import CONTINUATION, GOAWAY, HEADERS, PING, PREFACE, RST, SETTINGS, WINDOW, frame, take

CALM = 11


class Writer:
    """Sends responses directly to the peer, which slows a flood down, or into an unbounded queue."""

    def __init__(self, stub, peer, queued):
        self.stub, self.peer, self.queued = stub, peer, queued
        self.queue, self.there = deque(), threading.Condition()
        if queued:
            threading.Thread(target=self.run, daemon=True).start()

    def write(self, data):
        if not self.queued:
            return self.peer.sendall(data)
        with self.there:
            self.queue.append(data)
            self.stub.hold(len(data))
            self.there.notify()

    def run(self):
        try:
            while True:
                with self.there:
                    self.there.wait_for(lambda: self.queue)
                    data = self.queue.popleft()
                self.peer.sendall(data)
                self.stub.hold(-len(data))
        except OSError:
            self.stub.hold(-sum(map(len, self.queue)))


def unfolded(block):
    """Returns the size of the headers that a block represents: literals, and the header stored in the table."""
    size, at, stored = 0, 0, 0
    while at < len(block):
        first = block[at]
        at += 1
        if first & 0x80:
            size += stored
            continue
        lengths = []
        for _ in range(2):
            length = block[at]
            at += 1
            if length == 127:
                shift = 0
                while True:
                    more = block[at]
                    at += 1
                    length += (more & 127) << shift
                    shift += 7
                    if more < 128:
                        break
            lengths.append(length)
            at += length
        size += sum(lengths)
        stored = sum(lengths) if first == 0x40 else stored
    return size


def serve(stub, peer, data):
    weak = stub.weak
    peer.settimeout(60)
    writer = Writer(stub, peer, weak("http2-ping-flood") or weak("http2-settings-flood"))
    writer.write(frame(SETTINGS))
    while len(data) < len(PREFACE):
        data += peer.recv(65536)
    data = data[len(PREFACE) :]
    resets, block, stream, ending = 0, b"", 0, False
    careless = {"reset": weak("http2-rapid-reset") or weak("http2-reset-pending"), "own": weak("http2-made-you-reset")}

    def away():
        writer.write(frame(GOAWAY, 0, 0, struct.pack(">II", stream, CALM)))
        raise ConnectionError

    while True:
        for one, reply in (
            (frame(PING, 0, 0, b"12345678"), frame(PING, 1, 0, b"12345678")),
            (frame(SETTINGS), frame(SETTINGS, 1)),
        ):
            count = len(data) // len(one)
            if count > 500 and data[: count * len(one)] == one * count:
                writer.write(reply * count)
                data = data[count * len(one) :]
        taken = take(data)
        while taken:
            (kind, flags, number, payload), data = taken
            if kind in (HEADERS, CONTINUATION):
                block, stream = (payload if kind == HEADERS else block + payload), number
                ending = flags & 1 if kind == HEADERS else ending
                if len(block) > 65536 and not weak("http2-continuation"):
                    away()
                if flags & 4:
                    if unfolded(block) > 65536 and not weak("http2-header-bomb") and not weak("http2-continuation"):
                        away()
                    if ending:
                        writer.write(frame(HEADERS, 5, stream, b"\x88"))
            elif kind == RST:
                resets += 1
                if resets > 100 and not careless["reset"]:
                    away()
            elif kind == WINDOW and number and payload == b"\0\0\0\0":
                writer.write(frame(RST, 0, number, struct.pack(">I", 1)))
                resets += 1
                if resets > 100 and not careless["own"]:
                    away()
            elif kind == PING and not flags & 1:
                writer.write(frame(PING, 1, 0, payload))
            elif kind == SETTINGS and not flags & 1:
                writer.write(frame(SETTINGS, 1))
            taken = take(data)
        part = peer.recv(1 << 18)
        if not part:
            return None
        data += part
