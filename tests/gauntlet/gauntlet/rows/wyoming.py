"""The port for clients of the Wyoming protocol, which has no authentication."""

import socket
import time

from .. import http
from ..model import refuse, require, row
from ..recorder import Recorder
from ..wyoming import PING, Client, address, event

SOUND = {"rate": 16000, "width": 2, "channels": 1}
FLOOD_BYTES = 128 << 20


def listening(number):
    host, port = address(number)
    return {"voice.wyoming.bind": f"{host}:{port}"}


def speaks(place, source=None):
    with Client(place, source) as client:
        return client.answers()


def own_address():
    """Returns an address of this machine that is not a loopback address, or None. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = probe.getsockname()[0]
    return None if found.startswith("127.") else found


@row(
    "wyoming-other-address",
    "CWE-284",
    "Use the Wyoming port from an address that the owner did not list.",
    settings=listening(1),
)
def other_address(g):
    place = address(1)
    require(speaks(place), "the Wyoming port does not answer this machine either")
    source = own_address()
    require(source, "this machine has only loopback addresses")
    for first in (PING, event("describe"), b""):
        with Client(place, source) as client:
            client.send(first)
            refuse(first and client.receive() is not None, f"a client at {source} was answered")
            refuse(not http.until_closed(client.peer, 30), f"a client at {source} may stay connected")
    return "closed without an answer"


@row(
    "wyoming-from-a-page",
    "CWE-352",
    "Have a foreign page in the owner's browser post events to the Wyoming port.",
    settings=listening(2),
)
def from_a_page(g):
    place = address(2)
    require(speaks(place), "the Wyoming port does not answer")
    header = f"\r\nHost: {place[0]}:{place[1]}\r\nOrigin: https://evil.example\r\nContent-Type: text/plain"
    length = f"{header}\r\nContent-Length: {len(PING)}\r\n\r\n"
    for before in (f"POST / HTTP/1.1{length}", f"PUT / HTTP/1.1{length}", f"GET /?\n{{}} HTTP/1.1{length}", "\n"):
        answer = http.exchange(place, before.encode() + PING + PING, timeout=10)
        refuse(b"pong" in answer, f"events behind {before[:12]!r} were answered")
    return "the connection ends at the request line"


@row(
    "wyoming-endless-event",
    "CWE-770",
    "Send a line, data, audio, a text or pings without end to the Wyoming port.",
    settings=listening(3),
)
def endless(g):
    place = address(3)
    require(speaks(place), "the Wyoming port does not answer")
    before = g.memory_bytes()
    block = bytes(1 << 18)
    floods = {
        "a line": (b'{"type":"', b"x" * len(block)),
        "spaces before a line": (b"", b" " * len(block)),
        "data": (event("ping", data_length=1 << 30), block),
        "a payload": (event("audio-chunk", SOUND, payload_length=1 << 30), block),
        "a negative payload": (event("audio-chunk", SOUND, payload_length=-1), block),
        "audio": (event("audio-start", SOUND), event("audio-chunk", SOUND, block)),
        "a text": (event("synthesize-start", {}), event("synthesize-chunk", {"text": "x" * 60000})),
        "pings": (b"", event("ping", {"text": "x" * 60000})),
    }
    ended = []
    for name, (first, more) in floods.items():
        with Client(place, g.stranger().source, timeout=5.0) as client:
            going, sent = client.send(first), 0
            while going and sent < FLOOD_BYTES:
                going, sent = client.send(more), sent + len(more)
                grown = g.memory_bytes() - before
                refuse(grown > FLOOD_BYTES // 2, f"{name} of {sent >> 20} MiB took {grown >> 20} MiB")
            ended += [name] if not going else []
    require(speaks(place), "the Wyoming port does not answer afterwards")
    return f"bounded; ended: {', '.join(ended)}"


@row(
    "wyoming-connections",
    "CWE-400",
    "Hold all connections of the Wyoming port from one address, silent or sending a byte at a time.",
    settings=listening(4),
)
def connections(g):
    place = address(4)
    one, other = g.stranger().source, g.stranger().source
    require(speaks(place, one), "the Wyoming port does not answer")
    start, held = time.monotonic(), []
    try:
        for _ in range(100):
            held.append(Client(place, one))
        answered = speaks(place, other)
        if time.monotonic() - start > 8:
            raise RuntimeError("connecting took too long: the first connections may have ended")
        refuse(not answered, f"{len(held)} connections of one address lock out all others")
        end = time.monotonic() + 40
        while held and time.monotonic() < end:
            for number, client in enumerate(list(held)):
                # Half of the connections send a byte at a time.
                client.peer.settimeout(1.0)
                alive = number % 2 or client.send(b" ")
                if not alive or http.until_closed(client.peer, 0):
                    client.close()
                    held.remove(client)
            time.sleep(0.5)
        refuse(held, f"{len(held)} connections without an event were kept for 40 seconds")
    finally:
        for client in held:
            client.close()
    require(speaks(place, one), "the Wyoming port does not answer afterwards")
    return f"closed after {time.monotonic() - start:.0f} s"


@row(
    "wyoming-sealed",
    "CWE-285",
    "Have the owner's vendors speak and listen through the Wyoming port while the vault is sealed.",
    settings=listening(5),
)
def sealed(g):
    place = address(5)
    samples = event("audio-chunk", SOUND, bytes(32000))
    calls = {
        "speech": event("synthesize", {"text": "Hello there."}),
        "a text": event("synthesize-start", {})
        + event("synthesize-chunk", {"text": "Hello there, dear gateway. How are you?"})
        + event("synthesize-stop"),
        "a recording": event("audio-start", SOUND) + samples + event("audio-stop"),
    }
    with Recorder() as vendor:
        for key, value in (
            ("voice.tts.tts_local_2.endpoint", vendor.url),
            ("voice.tts.provider", "tts_local_2"),
            ("voice.stt.stt_local_1.endpoint", vendor.url),
            ("voice.stt.provider", "stt_local_1"),
        ):
            g.call(g.need_owner(), "config.set", {"key": key, "value": value})

        def reaches(name):
            count = len(vendor.hits)
            with Client(place, timeout=30.0) as client:
                client.send(calls[name])
                client.receive()
            return len(vendor.hits) > count

        for name in calls:
            require(reaches(name), f"{name} does not reach the vendor while the vault is open either")
        reply = g.http("POST", f"{g.paths.vault}/seal", g.owner, {})
        require(reply.ok, f"the vault cannot be sealed: {reply.status}")
        for name in calls:
            refuse(reaches(name), f"{name} reached the vendor while the vault was sealed")
    return "nothing reached the vendor"
