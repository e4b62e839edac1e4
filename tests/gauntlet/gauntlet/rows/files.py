"""Files that people attach to messages."""

import struct
import zlib

from ..model import refuse, require, row

PAGE = b"<!doctype html><script>fetch('/api/rpc')</script>"
PICTURE = b"<svg xmlns='http://www.w3.org/2000/svg'><script>fetch('/api/rpc')</script></svg>"


def png(width, height):
    """Returns a transparent image. Its pixels, of four bytes each, compress to almost nothing."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    line = b"\0" * (1 + 4 * width)
    packer = zlib.compressobj(9)
    pixels = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def conversation(g):
    return g.call(g.need_owner(), "sessions.create")["id"]


def stored(g, session, name, data, kind):
    """Uploads a file. Returns its ID, or `None` if the file was refused."""
    reply = g.upload(g.need_owner(), session, name, data, kind)
    return reply.json()["id"] if reply.ok else None


@row("file-active-content", "CWE-434", "Attach a page and a picture with a script, named and declared as a photo, and open them.")
def active(g):
    session = conversation(g)
    require(stored(g, session, "a.png", png(8, 8), "image/png"), "a photo is refused too")
    for name, data, kind in (("a.png", PAGE, "image/png"), ("a.svg", PICTURE, "image/svg+xml"), ("a.html", PAGE, "text/html")):
        file = stored(g, session, name, data, kind)
        if file is None:
            continue
        reply = g.http("GET", g.file_path(session, file), g.owner)
        require(reply.ok, f"the file was answered {reply.status}")
        shown = not reply.header("content-disposition").startswith("attachment")
        guessed = reply.header("x-content-type-options") != "nosniff"
        page = reply.header("content-type").startswith(("text/html", "image/svg", "application/xhtml", "text/xml"))
        isolated = "sandbox" in reply.header("content-security-policy")
        refuse(shown and (page or guessed) and not isolated, f"{kind} named {name} runs in a browser")
    return "such files are only downloaded"


@row("file-of-another-conversation", "CVE-2026-54010", "Name a file of one conversation in another, and read or delete it through that.")
def another(g):
    mine, other = conversation(g), conversation(g)
    file = stored(g, mine, "mine.png", png(8, 8), "image/png")
    require(file, "a photo is refused")
    body = g.http("GET", g.file_path(mine, file), g.owner).body
    require(body, "the file cannot be read in its own conversation either")
    reply = g.http("GET", g.file_path(other, file), g.owner)
    refuse(reply.ok and reply.body == body, "another conversation has the file")
    refuse(g.http("DELETE", g.file_path(other, file), g.owner).ok, "another conversation deletes the file")
    refuse(g.http("GET", g.file_path(mine, file)).ok, "a caller without a credential has the file")
    reader = g.make_key(["operator.read"])
    refuse(g.http("DELETE", g.file_path(mine, file), reader.caller).ok, "a key that may only read deletes the file")
    require(g.http("GET", g.file_path(mine, file), g.owner).body == body, "the file is gone")
    return "a file belongs to its conversation"


@row("file-pixel-bomb", "CWE-409", "Attach pictures of a few kilobytes that unpack to hundreds of megabytes.", instance="fresh")
def bomb(g):
    session = conversation(g)
    require(stored(g, session, "a.png", png(8, 8), "image/png"), "a photo is refused too")
    before = g.memory_bytes()
    # The largest that is accepted counts too, so there are several sizes.
    for side in (5_600, 7_000, 10_000, 20_000):
        data = png(side, side)
        stored(g, session, f"{side}.png", data, "image/png")
        grown = g.peak_memory_bytes() - before
        refuse(grown > g.max_memory_bytes, f"{len(data) >> 10} KiB took {grown >> 20} MiB")
    return f"they took {grown >> 20} MiB"
