"""The stub's port for clients of the Wyoming protocol."""

import json
import socket
import threading
import time

from . import outbound

LINE_BYTES, PAYLOAD_BYTES, SOUND_BYTES = 64 << 10, 512 << 10, 4 << 20
PLACES, PLACES_OF_ONE = 32, 16
FIRST_EVENT_SECONDS = 3.0


class Wyoming:
    def __init__(self):
        self.is_sealed, self.wyoming, self.wyoming_clients = False, None, {}
        bind = self.settings.get("voice.wyoming.bind")
        if bind:
            host, _, port = bind.rpartition(":")
            self.wyoming = socket.create_server((host, int(port)), backlog=512)
            threading.Thread(target=self.accept_wyoming, daemon=True).start()

    def close_wyoming(self):
        if self.wyoming:
            # Wakes the thread that accepts. Otherwise the port would stay open until the next connection.
            self.wyoming.shutdown(socket.SHUT_RDWR)
            self.wyoming.close()

    def accept_wyoming(self):
        while True:
            try:
                peer, (source, _) = self.wyoming.accept()
            except OSError:
                return
            most = PLACES if self.weak("wyoming-connections") else PLACES_OF_ONE
            is_here = source.startswith("127.") or self.weak("wyoming-other-address")
            with self.lock:
                is_full = sum(self.wyoming_clients.values()) >= PLACES or self.wyoming_clients.get(source, 0) >= most
                if is_full or not is_here:
                    peer.close()
                    continue
                self.wyoming_clients[source] = self.wyoming_clients.get(source, 0) + 1
            threading.Thread(target=self.serve_wyoming, args=(peer, source), daemon=True).start()

    def serve_wyoming(self, peer, source):
        conversation = Conversation(self, peer)
        try:
            conversation.run()
        except (OSError, ValueError):
            pass
        finally:
            self.hold(-conversation.held)
            peer.close()
            with self.lock:
                self.wyoming_clients[source] -= 1


class Conversation:
    def __init__(self, stub, peer):
        self.stub, self.peer, self.data = stub, peer, bytearray()
        self.held, self.sound, self.until = 0, 0, None
        self.is_endless = stub.weak("wyoming-endless-event")

    def hold(self, size):
        self.held += size
        self.stub.hold(size)

    def run(self):
        if not self.stub.weak("wyoming-connections"):
            self.until = time.monotonic() + FIRST_EVENT_SECONDS
        while (line := self.take(lambda: self.data.find(b"\n") + 1, LINE_BYTES)) is not None:
            try:
                head = json.loads(line)
            except ValueError:
                if not self.stub.weak("wyoming-from-a-page"):
                    raise
                continue
            data = dict(head.get("data") or {})
            data |= json.loads(self.part(head.get("data_length", 0), LINE_BYTES) or b"{}")
            payload = self.part(head.get("payload_length", 0), PAYLOAD_BYTES)
            self.until = None
            self.answer(head["type"], data, payload)

    def part(self, size, most):
        if size < 0 or size > most and not self.is_endless:
            raise ValueError("too long")
        return self.take(lambda: size if len(self.data) >= size else 0, most) if size else b""

    def take(self, size, most):
        while not (count := size()):
            if len(self.data) > most + PAYLOAD_BYTES and not self.is_endless:
                raise ValueError("too long")
            self.peer.settimeout(30.0 if self.until is None else max(0.01, self.until - time.monotonic()))
            part = self.peer.recv(1 << 20)
            if not part:
                return None
            self.data += part
            self.hold(len(part))
        taken = bytes(self.data[:count])
        del self.data[:count]
        self.hold(-count)
        return taken

    def answer(self, kind, data, payload):
        if kind == "ping":
            self.say("pong", data)
        if kind == "audio-chunk":
            # What is longer is discarded.
            self.sound += len(payload)
            if self.sound < SOUND_BYTES:
                self.hold(len(payload))
        if kind not in ("synthesize", "synthesize-stop", "audio-stop"):
            return
        stub = self.stub
        if stub.is_sealed and not stub.weak("wyoming-sealed"):
            self.say("error", {"code": "VAULT_SEALED"})
            return
        setting = "voice.stt.stt_local_1.endpoint" if kind == "audio-stop" else "voice.tts.tts_local_2.endpoint"
        outbound.send(stub.settings[setting], "POST", {}, b"{}")
        self.say("transcript" if kind == "audio-stop" else "audio-stop", {})

    def say(self, kind, data):
        self.peer.settimeout(5.0)
        self.peer.sendall(json.dumps({"type": kind, "data": data}).encode() + b"\n")
