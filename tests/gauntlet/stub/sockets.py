"""WebSockets of the stub."""

import base64
import hashlib
import json
import zlib

from gauntlet.ws import frame, take

from .http1 import answer

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
DEFLATE = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


def serve_socket(stub, reader, request):
    """Serves the socket until it ends. Returns true."""
    version = request.header("sec-websocket-version")
    if version != "13" and not stub.weak("smuggle-upgrade-body"):
        reader.peer.sendall(stub.finish(request, 400))
        raise ConnectionError
    identity = request.extra["identity"]
    key = request.header("sec-websocket-key").encode()
    headers = [("Upgrade", "websocket"), ("Connection", "Upgrade")]
    headers.append(("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()))
    packed = stub.weak("socket-deflate-bomb") and "permessage-deflate" in request.header("sec-websocket-extensions")
    if packed:
        headers.append(("Sec-WebSocket-Extensions", DEFLATE))
    with stub.lock:
        count = stub.strangers[request.peer] = stub.strangers.get(request.peer, 0) + (identity is None)
    try:
        if count > 20 and identity is None and not stub.weak("socket-unauthenticated-flood"):
            reader.peer.sendall(stub.finish(request, 429))
            raise ConnectionError
        reader.peer.sendall(answer(101, headers))
        Conversation(stub, reader, request, identity, packed).run()
    finally:
        with stub.lock:
            stub.strangers[request.peer] -= identity is None
    return True


class Conversation:
    def __init__(self, stub, reader, request, identity, packed):
        self.stub, self.peer, self.data = stub, reader.peer, reader.data
        self.request, self.identity, self.packed = request, identity, packed

    def run(self):
        parts, held, heard = [], 0, 0
        self.peer.settimeout(20)
        try:
            while True:
                taken = take(self.data)
                if taken is None:
                    part = self.peer.recv(1 << 18)
                    if not part:
                        return
                    self.data += part
                    continue
                (opcode, fin, flags, payload), self.data = taken
                if opcode == 8:
                    return
                if opcode == 2:
                    if not self.stub.lives(self.identity) and not self.stub.weak("talk-outlives-key"):
                        return
                    heard += len(payload)
                    # 30 seconds at 16 kHz.
                    if heard > 30 * 32000 and not self.stub.weak("talk-audio-flood"):
                        return
                    continue
                self.stub.hold(len(payload))
                held += len(payload)
                parts.append(payload)
                if self.stub.held > 200 << 20 and not self.stub.weak("socket-unfinished-messages"):
                    return
                if not fin:
                    continue
                message, parts = b"".join(parts), []
                self.stub.hold(-held)
                held = 0
                if flags and not self.packed:
                    return
                if flags:
                    message = zlib.decompressobj(-15).decompress(message + b"\0\0\xff\xff")
                if not self.message(message):
                    return
        finally:
            self.stub.hold(-held)

    def say(self, value):
        self.peer.sendall(frame(json.dumps(value).encode(), masked=False))

    def message(self, data):
        """Answers one message. Returns false if the socket must be closed."""
        call = json.loads(data)
        if call.get("type") == "start":
            self.say({"type": "ready"})
            return True
        if call.get("method") == "connect":
            self.identity = self.stub.connect(call.get("params") or {}, self.request) or self.identity
            if self.identity is None:
                self.say({"id": call.get("id"), "error": {"code": -32001, "message": "no"}})
                return False
            self.say({"id": call.get("id"), "result": {"protocol": 1}})
            return True
        if self.identity is None and not self.stub.weak("socket-before-connect"):
            self.say({"id": call.get("id"), "error": {"code": -32001, "message": "connect first"}})
            return False
        kept = self.stub.weak("revoked-key-socket") or self.stub.weak("password-change-leaves-sessions")
        if self.identity is not None and not self.stub.lives(self.identity) and not kept:
            return False
        self.say(self.stub.call(self.identity or self.stub.loopback, call))
        return True
