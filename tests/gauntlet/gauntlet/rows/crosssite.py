"""Requests that another site's page can make with the owner's browser, and data that the browser keeps."""

import re

from ..adapter import PASSWORD
from ..model import refuse, require, row

FOREIGN = [
    "https://evil.example",
    "null",
    "file://",
    "chrome-extension://x",
    "http://127.0.0.1",
    "http://localhost:1",
    "http://127.0.0.1.evil.example",
]


def changes(g, *headers, host=None):
    """Returns whether a POST with the owner's cookie and these headers succeeds."""
    reply = g.http("POST", g.paths.rpc, g.need_owner().but(*headers), {"id": 1, "method": "system.status"}, host=host)
    return reply.ok


@row(
    "socket-foreign-origin",
    "CVE-2026-25253",
    "Open a socket to the gateway from a foreign page with the owner's cookie.",
)
def socket_foreign(g):
    owner = g.need_owner()
    with g.socket(owner, headers=[("Origin", g.origin)]) as socket:
        require(socket.status == 101, "the gateway's own page cannot open a socket")
    for path in (g.paths.socket, g.paths.gated_socket):
        for origin in FOREIGN:
            with g.socket(owner, path, headers=[("Origin", origin)]) as socket:
                refuse(socket.status == 101, f"{path} opened to {origin}")
    return f"{len(FOREIGN)} origins, none opened"


@row(
    "socket-foreign-origin-behind-proxy",
    "CWE-1385",
    "Open a socket from a foreign page through a trusted proxy that rewrites Host.",
    settings={"proxy.trusted_cidrs": "127.0.0.0/8"},
)
def socket_behind_proxy(g):
    cases = [
        (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Host", "gate.example")),
        (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Host", "gate.example"), ("X-Forwarded-Proto", "https")),
        (("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9;host=evil.example")),
        (("X-Forwarded-For", "203.0.113.9"),),
    ]
    for headers in cases:
        for origin in FOREIGN[:2] + ["https://gate.example.evil.example", "https://evilgate.example"]:
            caller = g.owner.but(*headers, ("Origin", origin))
            with g.socket(caller) as socket:
                refuse(socket.status == 101, f"{origin} opened a socket with {headers}")
            refuse(changes(g, *headers, ("Origin", origin)), f"{origin} changed with {headers}")
    return f"{len(cases) * 4} combinations, none opened"


@row("foreign-page-posts", "CWE-352", "Change something from a foreign page with the owner's cookie.")
def foreign_posts(g):
    for origin in FOREIGN:
        refuse(changes(g, ("Origin", origin)), f"a page of {origin} changes")
    for path in (g.paths.keys, g.paths.logout, g.paths.reset, f"{g.paths.vault}/seal"):
        session, _ = g.session()
        reply = g.http("POST", path, session.but(("Origin", FOREIGN[0])), {"label": "x", "scopes": ["operator.read"]})
        refuse(reply.ok, f"a foreign page reached {path}")
    require(changes(g, ("Origin", g.origin)), "the gateway's own page cannot change either")
    return f"{len(FOREIGN)} origins, all refused"


@row("mcp-foreign-origin", "CVE-2025-66414", "List the tools of the gateway's MCP server from a foreign page.")
def mcp_foreign_origin(g):
    key = g.make_key(["operator.read"]).caller
    callers = (g.need_owner(), key)
    for caller in callers:
        reply = g.mcp(caller, "tools/list", headers=[("Origin", g.origin)])
        require(reply.ok and reply.json()["result"]["tools"], "the gateway has no MCP server")
        for origin in FOREIGN:
            reply = g.mcp(caller, "tools/list", headers=[("Origin", origin)])
            refuse(reply.ok, f"a page of {origin} lists the tools")
    return f"{len(FOREIGN)} origins, with a session and with a key"


@row("origin-null", "CWE-346", "Send Origin null, as a sandboxed frame or a local file does.")
def origin_null(g):
    refuse(changes(g, ("Origin", "null")), "Origin: null changes")
    with g.socket(g.need_owner(), headers=[("Origin", "null")]) as socket:
        refuse(socket.status == 101, "Origin: null opens a socket")
    refuse(g.login(PASSWORD, headers=[("Origin", "null")]).ok, "Origin: null logs in")
    return "refused"


@row(
    "cross-site-without-origin",
    "CWE-352",
    "Send a cross-site request that carries no Origin, only what the browser says of the site.",
)
def without_origin(g):
    refuse(
        changes(g, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")),
        "a cross-site request without Origin changes",
    )
    with g.socket(g.need_owner(), headers=[("Sec-Fetch-Site", "cross-site")]) as socket:
        refuse(socket.status == 101, "a cross-site socket opens")
    return "refused"


@row(
    "origin-other-port",
    "CWE-346",
    "Change something from another program's page on the same host, on another port.",
)
def other_port(g):
    port = g.address[1]
    for origin in (
        f"http://127.0.0.1:{port + 1}",
        "http://127.0.0.1:80",
        "http://localhost",
        f"https://127.0.0.1:{port + 1}",
    ):
        refuse(changes(g, ("Origin", origin)), f"a page of {origin} changes")
    return "refused"


@row(
    "page-in-frame",
    "CWE-1021",
    "Load the page in a hidden frame, so that the owner clicks in it unknowingly (clickjacking).",
)
def framed(g):
    for path in (g.paths.page, "/share/x", "/settings"):
        reply = g.http("GET", path)
        policy = reply.header("content-security-policy")
        framed = "frame-ancestors 'none'" not in policy and reply.header("x-frame-options").upper() not in (
            "DENY",
            "SAMEORIGIN",
        )
        refuse(reply.ok and framed, f"{path} may be framed")
    return "no frame"


@row("cors-reflection", "CWE-942", "Have the gateway allow a foreign page to read its answers.")
def cors(g):
    owner = g.need_owner()
    for origin in (
        "https://evil.example",
        "null",
        g.origin + ".evil.example",
        g.origin.replace("127.0.0.1", "127.0.0.1.evil.example"),
    ):
        preflight = (
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "content-type"),
        )
        for method, path in (
            ("OPTIONS", g.paths.rpc),
            ("GET", g.paths.protected),
            ("GET", g.paths.public),
            ("GET", g.paths.status),
        ):
            reply = g.http(method, path, owner.but(*preflight))
            allowed = reply.header("access-control-allow-origin")
            refuse(allowed in ("*", origin), f"{method} {path} allows {allowed}")
    return "nothing is allowed"


@row("page-scripts", "CWE-79", "Run a script that was injected into the page: without a policy nothing stops it.")
def policy(g):
    reply = g.http("GET", g.paths.page)
    require("html" in reply.header("content-type"), "there is no page")
    text = reply.header("content-security-policy")
    refuse(not text, "the page has no Content-Security-Policy")
    scripts = re.search(r"script-src([^;]*)", text) or re.search(r"default-src([^;]*)", text)
    refuse(not scripts, "the policy does not name where scripts come from")
    for word in ("'unsafe-inline'", "'unsafe-eval'", " *", "http:", "https:", "data:"):
        refuse(word in scripts.group(1) and "nonce-" not in scripts.group(1), f"scripts may come from {word}")
    refuse(reply.header("x-content-type-options") != "nosniff", "types are guessed")
    return scripts.group(0).strip()


@row("answers-in-cache", "CWE-525", "Read the owner's data from the browser's cache.")
def cache(g):
    owner = g.need_owner()
    for path in (g.paths.protected, g.paths.status, g.paths.keys, g.paths.conversations, g.paths.metrics):
        reply = g.http("GET", path, owner)
        if reply.ok:
            kept = reply.header("cache-control")
            refuse(
                "no-store" not in kept and "no-cache" not in kept, f"{path} may be kept: {kept or 'no Cache-Control'}"
            )
    return "nothing is kept"


@row("logout-leaves-cache", "CWE-212", "Read what the browser kept after the owner logged out.")
def logout_cache(g):
    session, _ = g.session()
    reply = g.http("POST", g.paths.logout, session, {})
    require(reply.ok, f"logout answered {reply.status}")
    refuse('"cache"' not in reply.header("clear-site-data"), "logout does not clear the browser's cache")
    return reply.header("clear-site-data")


@row("page-holds-data", "CVE-2026-40293", "Read keys or data from the page that unauthenticated callers get.")
def page_data(g):
    key = g.make_key(["operator.read"])
    hook = g.make_webhook(name="a-name-nobody-should-see")
    for path in (g.paths.page, "/settings", "/login", "/chats/x", g.paths.status, g.paths.public, "/manifest.json"):
        text = g.http("GET", path).text
        for secret in (key.secret, key.secret[3:20], hook["secret"], hook["public_id"], hook["name"], PASSWORD):
            refuse(secret in text, f"{path} holds {secret[:6]}…")
    return "nothing in the page"


@row("share-page-injection", "CWE-80", "Put markup into a conversation that is then shared as a page.")
def share(g):
    attack = 'SAY <script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>'
    g.model()
    sent = g.call(g.need_owner(), "chat.send_sync", {"text": attack}, 30)
    shared = g.call(g.owner, "sessions.share", {"id": sent["session"]})
    path = "/share/" + shared["share_id"]
    reply = g.http("GET", path)
    require(reply.ok and "alert(1)" in reply.text, f"the shared page was answered {reply.status}")
    for mark in ("<script>alert", "<img src=x", '<a href="javascript:', "onerror=alert(1)>"):
        refuse(mark in reply.text, f"the shared page holds {mark}")
    refuse(len(shared["share_id"]) < 20, "the address can be guessed")
    refuse("noindex" not in reply.text + reply.header("x-robots-tag"), "search engines may list it")
    return "the markup is text"


@row(
    "origin-without-tls",
    "CWE-346",
    "Change something from a page that the same host serves without TLS, where the gateway is behind TLS.",
    settings={"proxy.trusted_cidrs": "127.0.0.0/8"},
)
def without_tls(g):
    proxied = (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "gate.example"))
    require(changes(g, *proxied, ("Origin", "https://gate.example")), "the gateway's own page cannot change either")
    refuse(changes(g, *proxied, ("Origin", "http://gate.example")), "a page of http://gate.example changes")
    with g.socket(g.owner.but(*proxied, ("Origin", "http://gate.example"))) as socket:
        refuse(socket.status == 101, "a page of http://gate.example opens a socket")
    return "only the page over TLS"
