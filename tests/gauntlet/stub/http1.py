"""HTTP/1.1 parsed like a careful server, or like careless ones."""

import re
import time
from dataclasses import dataclass, field

TOKEN = re.compile(rb"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
MAX_HEAD, MAX_HEADERS, MAX_BODY = 65536, 100, 36 << 20


class Bad(Exception):
    """A request that is refused with this status before it has any effect."""

    def __init__(self, status=400):
        super().__init__(status)
        self.status = status


@dataclass
class Request:
    method: str
    target: str
    headers: list
    body: bytes = b""
    peer: str = ""
    rest: bytes = b""
    extra: dict = field(default_factory=dict)

    def all(self, name):
        return [value for key, value in self.headers if key == name.lower()]

    def header(self, name, default=""):
        return (self.all(name) or [default])[0]


class Reader:
    """Reads requests from one connection."""

    def __init__(self, peer, weak, buffered=b""):
        self.peer, self.weak, self.data = peer, weak, buffered

    def more(self):
        part = self.peer.recv(1 << 16)
        if not part:
            raise ConnectionError
        self.data += part

    def head(self):
        """Returns the next request without its body; None at the end."""
        end = time.monotonic() + 4
        while b"\r\n\r\n" not in self.data:
            if len(self.data) > MAX_HEAD and not self.weak("head-too-large"):
                raise Bad(431)
            self.peer.settimeout(60 if self.weak("head-too-slow") else max(0.05, end - time.monotonic()))
            try:
                self.more()
            except ConnectionError:
                return None
        top, _, self.data = self.data.partition(b"\r\n\r\n")
        if len(top) > MAX_HEAD and not self.weak("head-too-large"):
            raise Bad(431)
        return self.parse(top)

    def parse(self, top):
        weak = self.weak
        if weak("smuggle-bare-lf-head"):
            top = top.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        if weak("smuggle-folded-header"):
            top = re.sub(rb"\r\n[ \t]+", b" ", top)
        lines = top.split(b"\r\n")
        if len(lines) - 1 > MAX_HEADERS and not weak("head-too-many"):
            raise Bad(431)
        for line in lines:
            if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", line) and not weak("header-injection-nul"):
                if not (weak("path-space-and-nul") and line is lines[0]):
                    raise Bad
        start = lines[0].split(b" ")
        if weak("path-space-and-nul"):
            start = [start[0], b" ".join(start[1:-1]), start[-1]]
        if len(start) != 3 or not TOKEN.match(start[0]) or not start[1]:
            raise Bad
        headers = []
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if weak("smuggle-space-before-colon"):
                name = name.strip()
            if not colon or not TOKEN.match(name):
                raise Bad
            headers.append((name.decode().lower(), value.strip(b" \t").decode("latin-1")))
        return Request(start[0].decode("latin-1"), start[1].decode("latin-1"), headers)

    def framing(self, request):
        """`"chunked"` or a number of bytes."""
        weak = self.weak
        coding, lengths = request.all("transfer-encoding"), request.all("content-length")
        if coding:
            if weak("smuggle-te-cl") and lengths and coding[0] != "chunked":
                return int(lengths[0])
            if weak("smuggle-two-te") and "chunked" in coding:
                return "chunked"
            both = lengths and not any(map(weak, ("smuggle-cl-te", "smuggle-bare-lf-head", "smuggle-folded-header")))
            if both or len(coding) > 1 or coding[0].strip().lower() != "chunked":
                raise Bad
            return "chunked"
        if not lengths:
            return 0
        if len(lengths) > 1 and not weak("smuggle-two-lengths"):
            raise Bad
        if weak("smuggle-plus-length"):
            return int(re.search(r"\d+", lengths[0].encode("latin-1").decode("utf-8", "replace")).group(0))
        if not re.fullmatch(r"[0-9]{1,18}", lengths[0]):
            raise Bad
        return int(lengths[0])

    def body(self, request, limit, hold=lambda size: None):
        """Reads the body. More than `limit` bytes are refused with 413 before the rest is read."""
        how = self.framing(request)
        self.peer.settimeout(20)
        if how == "chunked":
            request.body = self.chunks(limit, hold)
            return
        if how > limit:
            raise Bad(413)
        parts, size = [self.data], len(self.data)
        while size < how:
            hold(size)
            self.data = b""
            self.more()
            parts.append(self.data)
            size += len(self.data)
        data = b"".join(parts)
        request.body, self.data = data[:how], data[how:]

    def line(self):
        while b"\n" not in self.data:
            self.more()
        line, _, self.data = self.data.partition(b"\n")
        if line.endswith(b"\r"):
            return line[:-1]
        if not self.weak("smuggle-chunk-bare-lf"):
            raise Bad
        return line

    def chunks(self, limit, hold):
        body = b""
        while True:
            size = self.line().split(b";")[0]
            if not re.fullmatch(rb"[0-9a-fA-F]+", size):
                raise Bad
            number = int(size, 16)
            if self.weak("smuggle-chunk-overflow"):
                number &= 0xFFFFFFFFFFFFFFFF
            if self.weak("smuggle-chunk-overflow") and len(size) == 17 and size.startswith(b"f"):
                number &= 0xFFFF
            if number == 0:
                self.line()
                return body
            if number > limit or len(body) + number > limit:
                raise Bad(413)
            while len(self.data) < number:
                hold(len(self.data))
                self.more()
            body, self.data = body + self.data[:number], self.data[number:]
            self.line()


def answer(status, headers=(), body=b"", close=True):
    """Returns the bytes of a response."""
    lines = [f"HTTP/1.1 {status} X"]
    lines += [f"{name}: {value}" for name, value in headers]
    if status not in (101, 204):
        lines.append(f"Content-Length: {len(body)}")
    if close and status != 101:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body
