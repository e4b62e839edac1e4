"""Headers that claim the caller's identity or origin."""

import time

from ..adapter import Caller
from ..model import refuse, require, row, within_a_minute

FORWARDING = ["X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "Forwarded"]


def local(*headers):
    return Caller(tuple(headers), "127.0.0.1")


@row("identity-header", "CVE-2026-53832", "Send the headers in which a proxy names the user it has authenticated.")
def identity_header(g):
    names = [
        "X-Forwarded-User",
        "X-Forwarded-Email",
        "X-Remote-User",
        "Remote-User",
        "X-Webauth-User",
        "X-Auth-Request-User",
        "X-Authenticated-User",
        "X-User",
        "X-Operator",
        "X-Device-Id",
        "X-Scopes",
        "Tailscale-User-Login",
        "Cf-Access-Authenticated-User-Email",
    ]
    for name in names:
        refuse(g.reaches(g.stranger().but((name, "admin"))), f"{name}: admin is let in")
    refuse(g.reaches(g.stranger().but(("X-PAN-AUTHCHECK", "off"))), "X-PAN-AUTHCHECK: off is let in")
    return f"{len(names) + 1} headers, none let in"


@row(
    "forwarded-loopback",
    "CVE-2026-35656",
    "Claim a loopback address in a forwarding header, to be taken for local.",
    settings={"proxy.trusted_cidrs": "127.0.0.0/8"},
)
def forwarded_loopback(g):
    values = [
        "127.0.0.1",
        "::1",
        "203.0.113.9, 127.0.0.1",
        "127.0.0.1, 203.0.113.9",
        "localhost",
        "for=127.0.0.1",
        'for="[::1]"',
    ]
    for name in FORWARDING:
        for value in values:
            refuse(g.reaches(local((name, value))), f"{name}: {value} is let in")
    return f"{len(FORWARDING) * len(values)} claims, none let in"


@row(
    "forwarded-before-setup",
    "CWE-290",
    "Reach an unset gateway through a proxy on the same machine, as its administrator.",
    instance="unset",
)
def forwarded_before_setup(g):
    require(g.reaches(local()), "a local caller has no rights before setup")
    for name in FORWARDING:
        for value in ("203.0.113.9", "", "127.0.0.1"):
            refuse(g.reaches(local((name, value))), f"{name}: {value!r} is taken for local")
    return "each forwarding header, also an empty one, makes a request remote"


@row(
    "connection-drops-header",
    "CWE-345",
    "Name a forwarding header in Connection, so that it is dropped before it is read.",
    instance="unset",
)
def connection_drops(g):
    for name in FORWARDING:
        caller = local((name, "203.0.113.9"), ("Connection", f"close, {name}"))
        refuse(g.reaches(caller), f"Connection: close, {name} makes the request local")
    return "the headers count all the same"


@row(
    "host-spelling",
    "CVE-2025-66414",
    "Send a Host that only begins or ends as a loopback name, before setup.",
    instance="unset",
)
def host_spelling(g):
    require(g.reaches(local()), "a local caller has no rights before setup")
    port = g.address[1]
    hosts = [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io",
        "evil-localhost",
        "localhostx",
        "127.0.0.1@evil.example",
        "evil.example#localhost",
        "0.0.0.0",
        "[::]",
        "2130706433",
        "0x7f000001",
        "127.1.evil.example",
        "localhost,evil.example",
        "xn--localhost",
        "notlocalhost",
        "128.0.0.1",
    ]
    for host in hosts:
        for spelled in (host, f"{host}:{port}"):
            refuse(
                g.is_inside(g.http("GET", g.paths.protected, local(), host=spelled)),
                f"Host: {spelled} is taken for local",
            )
    return f"{len(hosts)} hosts, none local"


@row(
    "host-path-confusion",
    "CVE-2026-48710",
    "Send a Host with a path in it, so that a check of the rebuilt URL sees another path.",
)
def host_path(g):
    public = g.paths.public
    hosts = [
        f"{g.host}{public}?",
        f"{g.host}{public}#",
        f"{g.host}/..{public}",
        f"x{public}?",
        f"{g.host}{public}\\",
        f"a@{g.host}{public}",
    ]
    for host in hosts:
        reply = g.http("GET", g.paths.protected, host=host)
        refuse(g.is_inside(reply), f"Host: {host} is let in")
    return f"{len(hosts)} hosts, none let in"


@row(
    "dns-rebinding",
    "CVE-2024-28224",
    "Call an unset gateway from a page whose name was rebound to this machine.",
    instance="unset",
)
def rebinding(g):
    require(g.reaches(local()), "a local caller has no rights before setup")
    evil = f"evil.example:{g.address[1]}"
    for origin in (f"http://{evil}", None):
        headers = (("Origin", origin),) if origin else ()
        reply = g.http("GET", g.paths.protected, local(*headers), host=evil)
        refuse(g.is_inside(reply), f"Host {evil} with Origin {origin} reads")
        body = {"id": 1, "method": "env.set", "params": {"key": "REBOUND", "value": "1"}}
        reply = g.http("POST", g.paths.rpc, local(*headers), body, host=evil)
        refuse(reply.ok and "result" in reply.json(), f"Host {evil} with Origin {origin} changes")
    return "a foreign name is remote"


@row("two-hosts", "CWE-444", "Send two Host headers, of which one is local, before setup.", instance="unset")
def two_hosts(g):
    from .. import http

    for first, second in (("evil.example", "localhost"), ("localhost", "evil.example")):
        text = f"GET {g.paths.protected} HTTP/1.1\r\nHost: {first}\r\nHost: {second}\r\nConnection: close\r\n\r\n"
        reply = http.parse(g.raw(text.encode(), "127.0.0.1"))[0]
        refuse(g.is_inside(reply), f"Host: {first} and Host: {second} is let in")
    return f"answered {reply.status}"


@row("forwarded-escapes-throttle", "CWE-348", "Guess passwords with another X-Forwarded-For at each try.")
def escapes_throttle(g):
    source = g.stranger().source
    statuses, start = [], time.monotonic()
    for number in range(9):
        headers = tuple((name, f"203.0.113.{number + 1}") for name in FORWARDING[:3])
        statuses.append(g.login("wrong password wrong", Caller(headers, source)).status)
    within_a_minute(start)
    refuse(429 not in statuses, f"nine guesses were answered {statuses}")
    return f"answered {statuses}"


@row(
    "second-credential-escapes-throttle",
    "CWE-799",
    "Guess passwords with a made-up credential beside, which may lift the throttle.",
)
def second_credential(g):
    source = g.stranger().source
    statuses, start = [], time.monotonic()
    for number in range(9):
        headers = (("Authorization", f"Bearer mk_{number:043}"), ("Cookie", f"{g.cookie}=made-up-{number}"))
        statuses.append(g.login("wrong password wrong", Caller(headers, source)).status)
    within_a_minute(start)
    refuse(429 not in statuses, f"nine guesses were answered {statuses}")
    return f"answered {statuses}"


@row(
    "redirect-names-foreign-host",
    "CWE-348",
    "Have a redirect or link of the gateway name the attacker's host.",
    instance="unset",
)
def redirect_host(g):
    for headers, host in (
        ((("X-Forwarded-Host", "evil.example"),), None),
        ((), "evil.example"),
        ((("Forwarded", "host=evil.example"),), None),
    ):
        reply = g.http("GET", g.paths.page, local(*headers), host=host)
        refuse(
            "evil.example" in reply.header("location") + reply.text,
            f"the answer to {headers or host} names evil.example",
        )
    return "redirects name no host"


@row(
    "header-splitting",
    "CWE-113",
    "Write a header into a response through the path that a redirect repeats.",
    instance="unset",
)
def splitting(g):
    remote = local(("X-Forwarded-For", "203.0.113.9"))
    targets = [
        "/%0d%0aX-Planted:%20yes",
        "/x%0d%0aSet-Cookie:%20planted=1",
        "/?next=%0d%0aX-Planted:%20yes",
        "/%E5%98%8D%E5%98%8AX-Planted:yes",
    ]
    for target in targets:
        reply = g.http("GET", target, remote)
        planted = reply.header("x-planted") or "planted" in reply.header("set-cookie")
        refuse(planted, f"{target} planted a header")
    return f"{len(targets)} targets, no header planted"


@row("open-redirect", "CWE-601", "Have the gateway send a visitor to another site.")
def open_redirect(g):
    names = ["next", "redirect", "redirect_uri", "return_to", "url", "state", "continue"]
    values = ["https://evil.example/", "//evil.example/", "/\\evil.example", "https:evil.example", "%2f%2fevil.example"]
    for path in (g.paths.callback, g.paths.page, "/login"):
        for value in values:
            query = "&".join(f"{name}={value}" for name in names)
            reply = g.http("GET", f"{path}?{query}")
            target = reply.header("location") + reply.header("refresh")
            refuse("evil.example" in target, f"{path} redirects to {target}")
    for target in ("//evil.example/..", "/%5cevil.example"):
        reply = g.http("GET", target)
        refuse(reply.header("location").startswith(("//", "/\\")), f"{target} redirects to {reply.header('location')}")
    return "no redirect leaves the site"


@row(
    "networks-by-forged-header",
    "CWE-291",
    "Claim an address of a key's networks in a forwarding header that no trusted proxy wrote.",
    instance="unset",
    settings={"SERVICE_BEHIND_PROXY": "true"},
)
def forged_network(g):
    g.set_up(code=g.setup_code())
    key = g.make_key(["operator.read"], allowed_cidrs=["203.0.113.0/24"])
    for headers in (
        (),
        (("X-Forwarded-For", "203.0.113.9"),),
        (("X-Real-IP", "203.0.113.9"),),
        (("Forwarded", "for=203.0.113.9"),),
    ):
        refuse(g.reaches(key.caller.but(*headers)), f"the key works from elsewhere with {headers or 'nothing'}")
    return "the key works from its networks only"
