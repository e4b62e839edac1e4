"""How the gate and the router parse a target: identically, except with a weakness."""

import posixpath
import re
from urllib.parse import unquote, unquote_to_bytes, urlsplit

WORDS = ("/health", "/app.js", "/favicon.ico", "/manifest.json", ".js", ".css", ".png")
PLAIN = re.compile(r"^/[A-Za-z0-9_\-.,:@~+=]*(/[A-Za-z0-9_\-.,:@~+=%]+)*/?$")
PROTECTED_EXACTLY = {"/api/gon", "/api/rpc", "/metrics"}


def strict(path):
    """Returns whether the path is unambiguous, so that gate and router cannot disagree about it."""
    if not PLAIN.match(path) or re.search(r"%(2e|2f|5c|00|0a|0d|25)", path, re.I):
        return False
    return not any(part in (".", "..") for part in path.split("/"))


def is_public(path):
    return not path.startswith(("/api", "/v1", "/mcp", "/metrics")) or path.startswith(("/api/auth/", "/api/webhooks/ingest/"))


def collapse(path):
    return posixpath.normpath("/" + path.lstrip("/"))


def parameters(path):
    return re.sub(r";[^/]*", "", path)


def decoded(path, times):
    for _ in range(times):
        path = unquote(path)
    return path


OVERLONG = ((b"\xc0\xae", b"."), (b"\xc0\xaf", b"/"), (b"\xe0\x80\xae", b"."))


def overlong(path):
    data = unquote_to_bytes(path)
    for long, short in OVERLONG:
        data = data.replace(long, short)
    return data.decode("utf-8", "replace")


ROUTERS = {
    "path-dot-segments": collapse,
    "path-encoded-dots": lambda path: collapse(decoded(path, 2)),
    "path-encoding-depth": lambda path: collapse(decoded(path, 6)),
    "path-overlong-utf8": lambda path: collapse(overlong(path)),
    "path-parameter-suffix": parameters,
    "path-dot-dot-semicolon": lambda path: collapse(parameters(path)),
    "path-public-suffix": lambda path: "/api/gon" if path.startswith("/api/gon") else path,
    "path-public-prefix": lambda path: path.replace("/health", "/", 1).replace("//", "/"),
    "path-double-slash": lambda path: re.sub("/+", "/", path),
    "path-backslash": lambda path: collapse(unquote(path).replace("\\", "/").replace("//", "/")),
    "path-case": str.lower,
    "path-space-and-nul": lambda path: re.split(r"%00|%20|%09|%0d|[ \0]", path)[0],
    "path-fragment": lambda path: path.split("#")[0],
    "path-trailing-slash": lambda path: path.rstrip("/."),
    "path-absolute-form": lambda path: urlsplit(path).path or path,
    "static-traversal": lambda path: path,
    "header-splitting": lambda path: path,
    "open-redirect": lambda path: path,
}
EXACT = {"path-space-and-nul", "path-fragment", "path-trailing-slash", "path-case"}


def read(path, weak):
    """(public at the gate, the router's path); None if the target is refused."""
    name = next((name for name in ROUTERS if weak(name)), None)
    if name is None:
        return (is_public(path), path) if strict(path) else None
    if name in EXACT:
        public = path not in PROTECTED_EXACTLY
    elif name in ("path-parameter-suffix", "path-public-suffix"):
        public = is_public(path) or path.endswith(WORDS)
    else:
        public = is_public(path)
    return public, ROUTERS[name](path)
