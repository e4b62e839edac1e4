"""Requests whose end two programs find in different places."""

from .. import http
from ..model import refuse, require, row


# A login that is refused with 401. Any other status means that the request was not parsed as
# intended.
LOGIN = b'{"password":"wrong password wrong"}'
CHUNKED = b"23\r\n" + LOGIN + b"\r\n0\r\n\r\n"


def smuggle(g, lines, body, source=None, newline="\r\n"):
    """Sends an ambiguous POST with a second request in its body. Open if the second one is answered."""
    path = g.paths.login
    target = f"GET {g.paths.public}?smuggled HTTP/1.1\r\nHost: {g.host}\r\nConnection: close\r\n\r\n"
    text = (
        newline.join([f"POST {path} HTTP/1.1", f"Host: {g.host}", "Content-Type: application/json", *lines])
        + "\r\n\r\n"
    )
    found = http.replies(g.raw(text.encode() + body(target.encode()), source, timeout=2.5))
    statuses = [reply.status for reply in found]
    refuse(len(found) > 1, f"two answers on one connection: {statuses}")
    return found, f"answered {statuses or 'by closing'}"


def rejected(found, seen):
    """Open unless the ambiguous request was refused as malformed or the connection was closed."""
    refuse(found and found[0].status not in (400, 408, 411, 413, 431, 501, 505), f"the request was taken: {seen}")
    return seen


@row(
    "smuggle-cl-te", "CWE-444", "Send Content-Length and Transfer-Encoding, and a second request behind the last chunk."
)
def cl_te(g):
    _, seen = smuggle(g, ["Content-Length: 200", "Transfer-Encoding: chunked"], lambda target: CHUNKED + target)
    return seen


@row(
    "smuggle-te-cl",
    "CVE-2019-16786",
    "Send a Transfer-Encoding that only one of two programs takes for chunked, and a Content-Length.",
)
def te_cl(g):
    for value in ("gzip, chunked", "xchunked", "chunked, identity", '"chunked"', "chunked;x"):
        found, seen = smuggle(
            g, [f"Content-Length: {len(CHUNKED)}", f"Transfer-Encoding: {value}"], lambda target: CHUNKED + target
        )
    return seen


@row("smuggle-two-te", "CVE-2021-21299", "Send two Transfer-Encoding headers, of which the last is not chunked.")
def two_te(g):
    lines = ["Transfer-Encoding: chunked", "Transfer-Encoding: cow"]
    found, seen = smuggle(g, lines, lambda target: CHUNKED + target)
    return rejected(found, seen)


@row("smuggle-plus-length", "CVE-2021-32715", "Send a Content-Length with a plus sign, or another number that is none.")
def plus_length(g):
    for value in ("+35", "0x23", "35, 36", "35 35", "３５"):
        found, seen = smuggle(g, [f"Content-Length: {value}"], lambda target: LOGIN + target)
        rejected(found, f"Content-Length: {value} {seen}")
    return seen


@row("smuggle-two-lengths", "CVE-2019-16792", "Send two Content-Length headers that differ.")
def two_lengths(g):
    for lines in (["Content-Length: 35", "Content-Length: 0"], ["Content-Length: 0", "Content-Length: 35"]):
        found, seen = smuggle(g, lines, lambda target: LOGIN + target)
        rejected(found, seen)
    return seen


@row("smuggle-chunk-overflow", "CVE-2021-32714", "Send a chunk size that overflows 64 bits.")
def chunk_overflow(g):
    for size in (b"f0000000000000023", b"10000000000000023", b"1" * 38 + b"23"):
        found, seen = smuggle(g, ["Transfer-Encoding: chunked"], lambda target: size + b"\r\n" + CHUNKED[4:] + target)
        rejected(found, f"a chunk of {size.decode()} bytes {seen}")
    return seen


@row("smuggle-chunk-bare-lf", "CVE-2025-22871", "End a chunk-size line with a lone LF.")
def chunk_bare_lf(g):
    for head in (b"23\n" + CHUNKED[4:], b"23;x\n" + CHUNKED[4:], b"23\r\n" + LOGIN + b"\n0\n\n"):
        found, seen = smuggle(g, ["Transfer-Encoding: chunked", "Connection: close"], lambda target: head)
        rejected(found, f"{head[:6]!r} {seen}")
    return seen


@row("smuggle-bare-lf-head", "CVE-2019-16785", "Hide a Transfer-Encoding header behind a lone LF in another header.")
def bare_lf_head(g):
    lines = [f"Content-Length: {len(CHUNKED)}", "X-Note: a\nTransfer-Encoding: chunked"]
    found, seen = smuggle(g, lines, lambda target: CHUNKED + target)
    return seen


@row("smuggle-space-before-colon", "CVE-2019-16276", "Put a space between a header's name and its colon.")
def space_before_colon(g):
    for line in ("Transfer-Encoding : chunked", "Content-Length : 35", "Transfer-Encoding\t: chunked"):
        found, seen = smuggle(g, [line], lambda target: CHUNKED + target)
        rejected(found, seen)
    return seen


@row("smuggle-folded-header", "CWE-444", "Fold Transfer-Encoding over two lines.")
def folded(g):
    for line in ("Transfer-Encoding:\r\n chunked", "X-Note: a\r\n Transfer-Encoding: chunked"):
        found, seen = smuggle(g, [line, f"Content-Length: {len(CHUNKED)}"], lambda target: CHUNKED + target)
        rejected(found, seen)
    return seen


@row("smuggle-h2c-upgrade", "CWE-444", "Upgrade to HTTP/2 in clear, past a proxy that sees one request only.")
def h2c_upgrade(g):
    headers = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")]
    data = g.raw(http.head("GET", g.paths.public, g.host, headers), timeout=1.5)
    reply = http.parse(data)[0]
    refuse(reply.status == 101, "the connection was upgraded")
    return f"answered {reply.status}"


@row(
    "smuggle-upgrade-body",
    "CWE-1286",
    "Open a WebSocket with a version the gateway does not speak, and send a second request behind it.",
)
def upgrade_body(g):
    headers = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "1337"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    text = http.head("GET", g.paths.socket, g.host, headers)
    reply = http.parse(g.raw(text, timeout=1.5))[0]
    refuse(reply.status == 101, "a version that does not exist was accepted")
    return f"answered {reply.status}"


@row("header-injection-nul", "CWE-158", "Send NUL, CR and other control characters within a header's value.")
def header_nul(g):
    require(g.paths.public, "there is no public path")
    for value in (b"a\0b", b"a\rb", b"a\x7fb", b"a\x01b"):
        text = (
            f"GET {g.paths.public} HTTP/1.1\r\nHost: {g.host}\r\nConnection: close\r\nX-Note: ".encode()
            + value
            + b"\r\n\r\n"
        )
        reply = http.parse(g.raw(text))[0]
        refuse(reply.ok, f"a header with {value!r} was taken")
    return f"answered {reply.status or 'by closing'}"
