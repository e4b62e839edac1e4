"""Little traffic with a high cost for the gateway: memory, processor time, or connection slots."""

import base64
import json
import resource
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

from .. import h2, http
from ..adapter import PASSWORD
from ..h2 import CONTINUATION, HEADERS, PING, RST, SETTINGS, WINDOW, Connection, frame
from ..model import refuse, require, row, within_a_minute
from ..ws import frame as ws_frame


def speaks_http2(g):
    connection = Connection(g.address, g.stranger().source)
    require(connection.alive(), "the gateway does not speak HTTP/2 without TLS")
    return connection


def flood(g, make, count, step=100):
    """Sends frames in steps. Open if the connection accepts all of them and is alive afterwards."""
    connection = speaks_http2(g)
    try:
        for number in range(0, count, step):
            if not connection.send(b"".join(make(n) for n in range(number, number + step))):
                return f"ended after {number} of {count}: {connection.ended}"
            connection.read(0.001)
            if connection.ended:
                return f"ended after {number} of {count}: {connection.ended}"
        alive = connection.alive(6)
        refuse(alive, f"all {count} were taken, and the connection lives")
        return f"ended: {connection.ended}"
    finally:
        connection.close()


@row("http2-rapid-reset", "CVE-2023-44487", "Open thousands of streams and cancel each at once.")
def rapid_reset(g):
    block = h2.request(g.host)
    make = lambda n: frame(HEADERS, 5, 2 * n + 1, block) + frame(RST, 0, 2 * n + 1, struct.pack(">I", 8))
    return flood(g, make, 4000)


@row("http2-reset-pending", "CVE-2023-26964", "Cancel streams faster than the gateway accepts them, in one piece.")
def reset_pending(g):
    block = h2.request(g.host)
    make = lambda n: frame(HEADERS, 4, 2 * n + 1, block) + frame(RST, 0, 2 * n + 1, struct.pack(">I", 8))
    return flood(g, make, 4000, 2000)


@row(
    "http2-made-you-reset",
    "CVE-2025-8671",
    "Make the gateway itself cancel thousands of streams by faulty window updates.",
)
def made_you_reset(g):
    block = h2.request(g.host)
    make = lambda n: frame(HEADERS, 4, 2 * n + 1, block) + frame(WINDOW, 0, 2 * n + 1, struct.pack(">I", 0))
    return flood(g, make, 4000)


@row("http2-continuation", "GHSA-q6cp-qfwq-4gcv", "Send the headers of one request in CONTINUATION frames without end.")
def continuation(g):
    field = h2.literal("x-a", "b" * 200)
    make = lambda n: frame(HEADERS, 1, 1, h2.request(g.host)) if n == 0 else frame(CONTINUATION, 0, 1, field * 4)
    connection = speaks_http2(g)
    try:
        for number in range(0, 2000, 50):
            sent = connection.send(b"".join(make(n) for n in range(number, number + 50)))
            connection.read(0.001)
            if not sent or connection.ended:
                return f"ended after {number} frames: {connection.ended}"
        connection.send(frame(CONTINUATION, 4, 1, b""))
        refuse(connection.alive(6), "2,000 frames and 1.6 MiB of headers were taken")
        return f"ended: {connection.ended}"
    finally:
        connection.close()


@row(
    "http2-header-bomb",
    "CVE-2016-6581",
    "Repeat a large header by its index, so that a little request unfolds to megabytes.",
)
def header_bomb(g):
    connection = speaks_http2(g)
    try:
        large = b"\x40" + h2.text("x-bomb") + h2.text("b" * 3900)
        block = h2.request(g.host) + large + b"\xbe" * 8000
        connection.send(frame(HEADERS, 1, 1, block[:16000]) + frame(CONTINUATION, 4, 1, block[16000:]))
        connection.read(4, HEADERS)
        answered = [payload for kind, _, stream, payload in connection.frames if kind == HEADERS and stream == 1]
        # Index 8 of the static table is `:status: 200`.
        refuse(answered and answered[0][:1] == b"\x88", "a request with 30 MiB of headers was answered 200")
        return connection.ended or "refused"
    finally:
        connection.close()


@row("http2-ping-flood", "CVE-2019-9512", "Send pings and never read the answers.")
def ping_flood(g):
    return unread(g, frame(PING, 0, 0, b"12345678"), 17)


@row("http2-settings-flood", "CVE-2019-9515", "Send settings and never read the acknowledgements.")
def settings_flood(g):
    return unread(g, frame(SETTINGS), 9)


def unread(g, one, size):
    """Open if the gateway buffers responses for a client that never reads."""
    speaks_http2(g).close()
    before = g.memory_bytes()
    connection = Connection(g.address, g.stranger().source)
    connection.peer.settimeout(1.5)
    piece, sent = one * 4000, 0
    while sent < 96 << 20 and connection.send(piece):
        sent += len(piece)
    grown = g.memory_bytes() - before
    connection.close()
    refuse(
        sent >= 96 << 20 and grown > 48 << 20, f"{sent >> 20} MiB were read, and the gateway grew by {grown >> 20} MiB"
    )
    return f"{sent >> 20} MiB were taken, and the gateway grew by {max(0, grown) >> 20} MiB"


@row(
    "idle-connections-lock-out",
    "CWE-410",
    "Hold idle connections until nobody else gets one.",
    settings={"open_files": 1024},
)
def idle(g):
    """Limits the number of open files, so that a loopback client, which has no limit of its own, can
    exhaust them."""
    speaks_http2(g).close()
    peers, source = [], g.stranger().source
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    require(files > g.too_many_connections + 1000, "this machine allows too few open files")
    with g.socket(g.need_owner()) as kept:
        require(kept.call("system.status"), "the owner's socket does not work")
        try:
            for number in range(g.too_many_connections):
                try:
                    peers.append(Connection(g.address, source, 20))
                except ConnectionError:
                    break
                if number % 100 == 99 and not peers[-1].alive(20):
                    if not peers[-1].ended:
                        raise RuntimeError(f"connection {number + 1} is neither answered nor closed")
                    break
            end = time.monotonic() + 20
            while True:
                held = sum(not http.until_closed(connection.peer, 0.0) for connection in peers)
                if held < g.too_many_connections or time.monotonic() > end:
                    break
                time.sleep(0.5)
            refuse(held >= g.too_many_connections, f"one client holds {held} idle connections")
            refuse(not g.http("GET", g.paths.public).ok, "nobody else is answered")
            refuse(not g.reaches(g.owner), "the owner is not answered")
            refuse(not kept.call("system.status"), "the owner's socket was closed")
            return f"one client holds {held} of {len(peers)} connections"
        finally:
            for connection in peers:
                connection.close()


@row("head-too-large", "CVE-2018-12121", "Send a request head that is larger than the documented limit.")
def head_large(g):
    for size in (g.max_head_bytes + (32 << 10), 300 << 10):
        text = f"GET {g.paths.public} HTTP/1.1\r\nHost: {g.host}\r\nConnection: close\r\nX-Large: {'a' * size}\r\n\r\n"
        reply = http.parse(g.raw(text.encode()))[0]
        refuse(reply.ok, f"a head of {size >> 10} KiB was taken")
    return f"answered {reply.status or 'by closing'}"


@row("head-too-many", "CVE-2024-37890", "Send a request, and an upgrade, with thousands of headers.")
def head_many(g):
    for count in (500, 3000):
        for upgrade in (
            "",
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        ):
            lines = "".join(f"X-{n}: 1\r\n" for n in range(count))
            text = f"GET {g.paths.socket if upgrade else g.paths.public} HTTP/1.1\r\nHost: {g.host}\r\nConnection: {'Upgrade' if upgrade else 'close'}\r\n{upgrade}{lines}\r\n"
            reply = http.parse(g.raw(text.encode(), timeout=30))[0]
            refuse(reply.ok or reply.status == 101, f"{count} headers were taken")
    refuse(not g.http("GET", g.paths.public).ok, "the gateway is gone")
    return f"answered {reply.status or 'by closing'}"


@row("head-too-slow", "CVE-2007-6750", "Send a head slowly, and hold the connection for ever.")
def head_slow(g):
    peers = [g.connect(timeout=30) for _ in range(3)]
    try:
        for peer in peers:
            peer.sendall(f"GET {g.paths.public} HTTP/1.1\r\nHost: {g.host}\r\n".encode())
        end, number = time.monotonic() + 45, 0
        while time.monotonic() < end:
            number += 1
            for peer in list(peers):
                try:
                    peer.sendall(b"X-a: b\r\n")
                except OSError:
                    peers.remove(peer)
            if not peers:
                return f"closed after some {number} s"
            for peer in list(peers):
                if http.until_closed(peer, 0.33):
                    peers.remove(peer)
            if not peers:
                return f"closed after some {number} s"
        refuse(True, "a head that trickled for 45 s is still waited for")
    finally:
        for peer in peers:
            peer.close()


@row(
    "socket-unfinished-messages",
    "CWE-789",
    "Send large messages over sockets and never end them.",
    instance="fresh",
)
def unfinished(g):
    key = g.make_key(["operator.read"])
    before = g.memory_bytes()
    piece = b"[" + b" " * (1 << 20)
    sockets, sent = [], 0
    try:
        for _ in range(20):
            socket = g.socket(key.caller.but(source=g.stranger().source), timeout=2)
            if socket.status != 101:
                break
            sockets.append(socket)
            try:
                socket.peer.settimeout(1.0)
                socket.peer.sendall(ws_frame(piece, 1, fin=False))
                for _ in range(29):
                    socket.peer.sendall(ws_frame(piece, 0, fin=False))
                    sent += len(piece)
            except OSError:
                continue
        grown = g.memory_bytes() - before
        refuse(grown > g.max_memory_bytes * 1.25, f"{sent >> 20} MiB of unfinished messages cost {grown >> 20} MiB")
        return f"{sent >> 20} MiB were sent, and cost {grown >> 20} MiB"
    finally:
        for socket in sockets:
            socket.close()


@row("half-sent-bodies", "CWE-400", "Send large bodies and hold back their last byte.", instance="fresh")
def half_sent(g):
    key = g.make_key(["operator.read"])
    before = g.memory_bytes()
    size = 30 << 20
    peers, sent = [], 0
    try:
        for _ in range(20):
            peer = g.connect(timeout=1.0)
            peers.append(peer)
            head = http.head(
                "POST",
                g.paths.rpc,
                g.host,
                [*key.caller.headers, ("Content-Type", "application/json"), ("Content-Length", str(size))],
                close=False,
            )
            try:
                peer.sendall(head)
                for _ in range(29):
                    peer.sendall(b" " * (1 << 20))
                    sent += 1 << 20
            except OSError:
                continue
        grown = g.memory_bytes() - before
        refuse(grown > g.max_memory_bytes * 1.25, f"{sent >> 20} MiB of unfinished bodies cost {grown >> 20} MiB")
        return f"{sent >> 20} MiB were sent, and cost {grown >> 20} MiB"
    finally:
        for peer in peers:
            peer.close()


@row(
    "batch-answer-grows",
    "CWE-405",
    "Ask for a large answer many times in one small message.",
    instance="fresh",
)
def batch_answer(g):
    owner = g.need_owner()
    text = "x" * (1 << 20)
    session = g.call(owner, "chat.send_sync", {"text": text})["session"]
    g.call(owner, "chat.send_sync", {"text": text, "session": session})
    batch = [{"id": n, "method": "chat.history", "params": {"session": session, "limit": 100}} for n in range(64)]
    data = g.raw_request("POST", g.paths.rpc, owner, json.dumps(batch).encode(), [("Connection", "close")])
    before, size, peak = g.memory_bytes(), 0, 0
    peer = g.connect("127.0.0.1")
    peer.settimeout(0.25)
    try:
        peer.sendall(data)
        end = time.monotonic() + 150
        while time.monotonic() < end and max(peak, size) < 100 << 20:
            peak = max(peak, g.memory_bytes() - before)
            try:
                part = peer.recv(1 << 18)
            except TimeoutError:
                continue
            size += len(part)
            if not part:
                break
        else:
            refuse(max(peak, size) >= 100 << 20, f"{len(data)} bytes got {size >> 20} MiB, and cost {peak >> 20} MiB")
            raise RuntimeError(f"no answer within 150 s; so far {size >> 20} MiB, at a cost of {peak >> 20} MiB")
    finally:
        peer.close()
    return f"{len(data)} bytes got {size >> 20} MiB, and cost {peak >> 20} MiB"


@row("socket-deflate-bomb", "CVE-2026-1526", "Send a compressed socket message that grows a thousandfold.")
def deflate(g):
    key = g.make_key(["operator.read"])
    with g.socket(key.caller, extensions="permessage-deflate; client_max_window_bits") as socket:
        require(socket.status == 101, "no socket opens")
        agreed = socket.reply.header("sec-websocket-extensions")
        if "deflate" not in agreed:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = packer.compress(b'{"id":1,"method":"system.status"}' + b" " * (50 << 20)) + packer.flush(
                zlib.Z_SYNC_FLUSH
            )
            socket.peer.sendall(ws_frame(packed[:-4], 1, flags=0x40))
            answer = socket.answer(1, 60)
            refuse(answer and "result" in answer, "a compressed message was taken although none was agreed")
            return f"not agreed; closed with {socket.closed}"
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(b'{"id":1,"method":"system.status"}' + b" " * (200 << 20)) + packer.flush(
            zlib.Z_SYNC_FLUSH
        )
        socket.peer.sendall(ws_frame(packed[:-4], 1, flags=0x40))
        answer = socket.answer(1, 60)
        refuse(answer and "result" in answer, f"{len(packed) >> 10} KiB became 200 MiB")
        return f"closed with {socket.closed}"


@row("socket-unauthenticated-flood", "CWE-770", "Hold more sockets without a credential than one client may.")
def unauthenticated(g):
    source, sockets = g.stranger().source, []
    try:
        for _ in range(30):
            sockets.append(g.socket(g.stranger().but(source=source), timeout=30))
        open_ones = sum(s.status == 101 for s in sockets)
        refuse(open_ones > 25, f"{open_ones} of 30 sockets of one stranger opened")
        require(open_ones, "no socket opened")
        return f"{open_ones} of 30 opened"
    finally:
        for socket in sockets:
            socket.close()


@row("socket-before-connect", "CWE-306", "Call methods over a socket before authentication.")
def before_connect(g):
    for method in ("system.status", "sessions.list", "env.list", "rpc.discover", "config.get"):
        with g.socket() as socket:
            require(socket.status == 101, "no socket opens for strangers")
            answer = socket.call(method, timeout=60)
            refuse(answer and "result" in answer, f"{method} was answered")
    for credential in (
        {"api_key": "mk_" + "a" * 43},
        {"password": ""},
        {"device_token": "gd_x"},
        {"api_key": None},
        {},
    ):
        with g.socket() as socket:
            answer = socket.call("connect", {"auth": credential}, timeout=60)
            refuse(answer and "result" in answer, f"connect with {credential} was taken")
    return f"closed with {socket.closed}"


def locked_key(rounds):
    """Returns a private key that needs this many KDF rounds and cannot be opened."""
    pack = lambda data: struct.pack(">I", len(data)) + data
    public = pack(b"ssh-ed25519") + pack(b"\1" * 32)
    options = pack(b"\2" * 16) + struct.pack(">I", rounds)
    blob = (
        b"openssh-key-v1\0"
        + pack(b"aes256-ctr")
        + pack(b"bcrypt")
        + pack(options)
        + struct.pack(">I", 1)
        + pack(public)
        + pack(b"\3" * 144)
    )
    lines = base64.encodebytes(blob).decode()
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{lines}-----END OPENSSH PRIVATE KEY-----\n"


@row(
    "key-derivation-cost",
    "CWE-407",
    "Import private keys that are slow to open, so that no login gets its turn.",
    instance="fresh",
)
def derivation(g):
    data = []
    for rounds in (1000, 1000, 1000, 1000):
        params = {"name": "slow", "private_key": locked_key(rounds), "passphrase": "wrong"}
        body = json.dumps({"id": 1, "method": "ssh_keys.import", "params": params}).encode()
        data.append(g.raw_request("POST", g.paths.rpc, g.need_owner(), body))
    # The duration of a login without other load.
    start = time.monotonic()
    require(g.login(PASSWORD).ok, "the password does not log in")
    alone = time.monotonic() - start
    peers = [g.connect(timeout=2) for _ in data]
    try:
        for peer, text in zip(peers, data):
            peer.sendall(text)
        time.sleep(0.5)
        start = time.monotonic()
        reply = g.http("POST", g.paths.login, body={"password": PASSWORD}, timeout=90)
        took = time.monotonic() - start
    finally:
        for peer in peers:
            peer.close()
    refuse(took > 6 + 5 * alone or not reply.ok, f"a login was answered {reply.status} after {took:.0f} s")
    return f"a login was answered after {took:.1f} s"


@row(
    "audit-flood",
    "CWE-223",
    "Fill the audit log as a stranger, so that what matters is not found.",
    instance="fresh",
)
def audit_flood(g):
    def one(_):
        g.http("POST", g.paths.setup, g.stranger(), {"password": "wrong password wrong", "setup_code": "000000"})
        with g.socket() as socket:
            socket.call("connect", {"auth": {"api_key": "mk_" + "a" * 43}}, timeout=5)

    start = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(250)))
    within_a_minute(start)
    events = g.call(g.need_owner(), "audit.list", {"limit": 500})["events"]
    kinds = {}
    for event in events:
        kinds[event["kind"]] = kinds.get(event["kind"], 0) + 1
    most = max(kinds.values(), default=0)
    refuse(most > 120, f"500 requests of strangers left {most} rows of one kind")
    return f"500 requests of strangers left {len(events)} rows"
