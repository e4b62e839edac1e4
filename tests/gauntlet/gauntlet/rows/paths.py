"""Spellings of a path that the gate and the router interpret differently."""

import urllib.parse

from ..model import refuse, row
from ..adapter import Caller


def attempt(gateway, targets, headers=(), method="GET"):
    """Sends each target without a credential. Open if one returns what only an authenticated caller may
    see."""
    statuses = []
    for target in targets:
        line = f"{method} {target} HTTP/1.1\r\nHost: {gateway.host}\r\nConnection: close\r\n"
        line += "".join(f"{name}: {value}\r\n" for name, value in headers)
        from .. import http

        reply = http.parse(gateway.raw(line.encode("latin-1") + b"\r\n"), method)[0]
        refuse(gateway.is_inside(reply), f"{method} {target} answered {reply.status} with protected data")
        statuses.append(str(reply.status))
    return f"{len(statuses)} spellings, answered {', '.join(sorted(set(statuses)))}"


def segments(gateway):
    """Returns the protected path without its slash, and a public path."""
    return gateway.paths.protected.lstrip("/"), gateway.paths.public, gateway.paths.assets


@row("path-dot-segments", "CVE-2021-41773", "Climb from a public path to a protected one with dot segments.")
def dot_segments(g):
    inside, public, assets = segments(g)
    return attempt(g, [f"{public}/../{inside}", f"{assets}/../{inside}", f"/./{inside}", f"{assets}/x/../../{inside}"])


@row("path-encoded-dots", "CVE-2021-42013", "Climb from a public path with encoded dot segments.")
def encoded_dots(g):
    inside, public, assets = segments(g)
    dots = ["%2e%2e", ".%2e", "%2E%2E", "%2e%2e%2f..", "%%32%65%%32%65"]
    return attempt(g, [f"{base}/{dot}/{inside}" for base in (public, assets) for dot in dots])


@row(
    "path-encoding-depth",
    "CWE-174",
    "Climb from a public path with dots and slashes that are encoded two to five times.",
)
def encoding_depth(g):
    inside, public, assets = segments(g)
    found, dot, slash = [], "%2e", "%2f"
    for _ in range(4):
        dot, slash = dot.replace("%", "%25"), slash.replace("%", "%25")
        found += [
            f"{public}/{dot}{dot}/{inside}",
            f"{assets}{slash}..{slash}{inside}",
            f"/{inside.replace('/', slash)}",
        ]
    return attempt(g, found)


@row("path-overlong-utf8", "CVE-2008-2938", "Climb from a public path with dots and slashes as overlong UTF-8.")
def overlong(g):
    inside, public, assets = segments(g)
    return attempt(
        g,
        [
            f"{public}/%c0%ae%c0%ae/{inside}",
            f"{assets}%c0%af..%c0%af{inside}",
            f"{public}/%e0%80%ae%e0%80%ae/{inside}",
            f"/{inside.replace('/', '%c0%af')}",
            f"{public}/%uff0e%uff0e/{inside}",
        ],
    )


@row("path-parameter-suffix", "CVE-2024-27198", "Append a public word to a protected path as a path parameter.")
def parameter_suffix(g):
    inside, public, assets = segments(g)
    return attempt(
        g, [f"/{inside};{public}", f"/{inside};.css", f"/{inside};x=1", f"/{inside};{assets}/a.js", f"/{inside}%3b.css"]
    )


@row("path-dot-dot-semicolon", "CVE-2020-5902", "Climb from a public path with `/..;/`.")
def dot_dot_semicolon(g):
    inside, public, assets = segments(g)
    return attempt(
        g, [f"{public}/..;/{inside}", f"{assets}/..;/{inside}", f"{public}/..;x=1/{inside}", f"{public};/../{inside}"]
    )


@row("path-public-suffix", "CWE-187", "End a protected path with the words of a public one.")
def public_suffix(g):
    inside, public, assets = segments(g)
    words = [public, f"{assets}/app.js", "/favicon.ico", "/manifest.json", ".js", ".css", ".png"]
    return attempt(g, [f"/{inside}{word}" for word in words] + [f"/{inside}?{public}", f"/{inside}?x={public}"])


@row(
    "path-public-prefix", "CWE-625", "Put words of a public path in front of a protected one, without a slash between."
)
def public_prefix(g):
    inside, public, assets = segments(g)
    return attempt(
        g,
        [
            f"{public}{inside}",
            f"{public}-x/../{inside}",
            f"{public}x/{inside}",
            f"{assets}x/../{inside}",
            f"{public}/{inside}",
        ],
    )


@row("path-double-slash", "CWE-50", "Double the slashes, so that a check by prefix misses.")
def double_slash(g):
    inside, _, _ = segments(g)
    first, _, rest = inside.partition("/")
    return attempt(g, [f"//{inside}", f"///{inside}", f"/{first}//{rest}", f"//{g.host}/{inside}"])


@row("path-backslash", "CWE-41", "Use backslashes where the router takes them for slashes.")
def backslash(g):
    inside, public, _ = segments(g)
    turned = inside.replace("/", "\\")
    return attempt(g, [f"/\\{turned}", f"/{turned}", f"{public}\\..\\{turned}", f"/{inside.replace('/', '%5c')}"])


@row("path-case", "CWE-178", "Change the case of a protected path, where the gate compares it literally.")
def case(g):
    inside, _, _ = segments(g)
    return attempt(g, [f"/{inside.upper()}", f"/{inside.title()}", f"/{inside[0].upper()}{inside[1:]}"])


@row("path-space-and-nul", "CVE-2013-4547", "Put spaces and NUL characters behind a protected path.")
def space_and_nul(g):
    inside, public, _ = segments(g)
    return attempt(
        g,
        [
            f"/{inside}%00",
            f"/{inside}%00.css",
            f"/{inside} ",
            f"/{inside}\0.css",
            f"/{inside}%20",
            f"/{inside}%09",
            f"/{inside}%0d%0a",
        ],
    )


@row("path-fragment", "CVE-2021-32779", "Put a fragment behind a protected path.")
def fragment(g):
    inside, public, _ = segments(g)
    return attempt(g, [f"/{inside}#", f"/{inside}#{public}", f"{public}#/../{inside}", f"/{inside}%23{public}"])


@row("path-trailing-slash", "CWE-49", "End a protected path with a slash or a dot.")
def trailing(g):
    inside, _, _ = segments(g)
    return attempt(g, [f"/{inside}/", f"/{inside}//", f"/{inside}.", f"/{inside}./", f"/{inside}/."])


@row("path-absolute-form", "CWE-436", "Send the target with scheme and host, which a check by prefix does not see.")
def absolute_form(g):
    inside, public, _ = segments(g)
    hosts = [g.host, "localhost", "evil.example"]
    return attempt(g, [f"http://{host}/{inside}" for host in hosts] + [f"http://{g.host}{public}/../{inside}"])


@row(
    "path-header-override",
    "CVE-2018-14773",
    "Name a protected path in a header that replaces the one of the request line.",
)
def header_override(g):
    seen = ""
    for name in ("X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Original-Uri"):
        seen = attempt(g, [g.paths.public, "/", "/favicon.ico"], [(name, g.paths.protected)])
    return seen


@row(
    "path-middleware-header",
    "CVE-2025-29927",
    "Send the header by which a framework marks requests that its middleware has seen.",
)
def middleware_header(g):
    values = ["middleware", "src/middleware", ":".join(["middleware"] * 5), ":".join(["src/middleware"] * 5), "1"]
    for value in values:
        seen = attempt(g, [g.paths.protected], [("x-middleware-subrequest", value)])
    return seen


@row("method-tampering", "CVE-2010-0738", "Ask for a protected path with methods that the gate does not know.")
def method_tampering(g):
    tried = ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "FOO", "get", "PROPFIND", "POST"]
    for method in tried:
        reply = g.http(method, g.paths.protected, timeout=5)
        refuse(reply.ok and reply.status != 204, f"{method} answered {reply.status} without a credential")
    return f"{len(tried)} methods, none let in"


@row(
    "method-override",
    "CWE-650",
    "Turn a harmless request into a changing one with a header or parameter that names the method.",
)
def method_override(g):
    owner = g.need_owner()
    key = g.make_key(["operator.read"])
    path = f"{g.paths.keys}/{key.id}"
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        g.http("GET", path, owner.but((name, "DELETE")))
        g.http("POST", f"{path}?_method=DELETE", owner.but((name, "DELETE")), {"_method": "DELETE"})
    refuse(not g.reaches(key.caller), "the key was deleted by a request that was no DELETE")
    return "the key lives on"


@row("method-trace", "CWE-489", "Have a TRACE request echo a cookie that scripts may not read.")
def trace(g):
    for method in ("TRACE", "TRACK"):
        reply = g.http(method, "/", Caller((("Cookie", "secret=echo-me-back"),)), timeout=5)
        refuse("echo-me-back" in reply.text, f"{method} echoed the cookie")
    return f"TRACE answered {reply.status} without the cookie"


@row("static-traversal", "CVE-2021-43798", "Read a file of the machine below the path of static assets.")
def static_traversal(g):
    up = ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..\\", "%252e%252e%252f"]
    bases = [g.paths.assets, "/icons", "/static", "/share", "/public/plugins/x"]
    for base in bases:
        for step in up:
            for target in (f"{base}/{step * 9}etc/passwd", f"{base}//etc/passwd"):
                data = g.raw(f"GET {target} HTTP/1.1\r\nHost: {g.host}\r\nConnection: close\r\n\r\n".encode())
                refuse(b"root:" in data, f"{target} answered /etc/passwd")
    return f"{len(bases) * len(up)} spellings, no file"


@row("id-traversal", "CWE-73", "Send a file's path as the id of a record.")
def id_traversal(g):
    owner = g.need_owner()
    names = ["../../../../../../etc/passwd", "/etc/passwd", "..\\..\\etc\\passwd", "file:///etc/passwd"]
    for name in names:
        quoted = urllib.parse.quote(name, safe="")
        for target in (
            f"{g.paths.conversations}/{quoted}",
            f"{g.paths.conversations}/x/audio/{quoted}",
            f"/share/{quoted}",
        ):
            reply = g.http("GET", target, owner)
            refuse("root:" in reply.text, f"{target} answered /etc/passwd")
    return "no file in any answer"


@row(
    "leftover-files",
    "CVE-2023-28432",
    "Ask for files and endpoints that deployments forget: repositories, environments, databases.",
)
def leftovers(g):
    marks = ["[core]", "SQLite format 3", "BEGIN OPENSSH", "SERVICE_", "goroutine", '"propertySources"']
    names = [
        ".git/config",
        ".git/HEAD",
        ".env",
        "gatehouse.db",
        "gatehouse.toml",
        "provider_keys.json",
        "backup.zip",
        "debug/pprof/goroutine?debug=1",
        "actuator/env",
        "server-status",
        "minio/bootstrap/v1/verify",
        "core",
        "swagger.json",
    ]
    for name in names:
        for path in (f"/{name}", f"{g.paths.assets}/{name}"):
            reply = g.http("GET", path)
            seen = next((mark for mark in marks if reply.ok and mark in reply.text), None)
            refuse(seen, f"{path} answered {seen}")
    return f"{len(names)} names, nothing found"
