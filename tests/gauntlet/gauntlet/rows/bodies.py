"""Bodies that two parsers interpret differently, or whose processing costs more than their size."""

import gzip
import json
import time

from .. import http
from ..adapter import CallFailed
from ..model import refuse, require, row


@row("json-nesting", "CWE-674", "Send JSON that is nested deeper than any real message.")
def nesting(g):
    owner = g.need_owner()
    for depth in (500, 100_000):
        params = "[" * depth + "]" * depth
        text = f'{{"id":1,"method":"system.status","params":{{"x":{params}}}}}'.encode()
        start = time.monotonic()
        reply = g.http("POST", g.paths.rpc, owner.but(("Content-Type", "application/json")), text)
        refuse(reply.ok and "result" in reply.json(), f"{depth} levels were taken")
        refuse(time.monotonic() - start > 30, f"{depth} levels took {time.monotonic() - start:.0f} s")
    refuse(not g.http("GET", g.paths.public).ok, "the gateway is gone")
    return f"answered {reply.status}"


@row(
    "json-duplicate-keys",
    "CVE-2017-12635",
    "Name the same member twice, so that one parser checks the first and another uses the second.",
)
def duplicate_keys(g):
    owner = g.need_owner().but(("Content-Type", "application/json"))
    text = b'{"label":"twice","scopes":["operator.read"],"scopes":["operator.admin"]}'
    reply = g.http("POST", g.paths.keys, owner, text)
    refuse(reply.ok, f"a key was made with {reply.json().get('scopes')}")
    return f"answered {reply.status}"


@row("json-huge-number", "CVE-2020-10735", "Send a number with hundreds of thousands of digits.")
def huge_number(g):
    owner = g.need_owner().but(("Content-Type", "application/json"))
    for number in ("9" * 300_000, "1e400", "-" + "1" * 50_000, "1" + "0" * 30):
        text = f'{{"id":1,"method":"sessions.list","params":{{"limit":{number}}}}}'.encode()
        start = time.monotonic()
        reply = g.http("POST", g.paths.rpc, owner, text)
        refuse(reply.ok and "result" in reply.json(), f"{number[:8]}… was taken as a limit")
        refuse(time.monotonic() - start > 30, f"{number[:8]}… took {time.monotonic() - start:.0f} s")
    return "refused at once"


@row("json-prototype-members", "CVE-2019-10744", "Send members that reach an object's prototype.")
def prototype(g):
    for name in ("__proto__", "constructor", "prototype"):
        body = {"password": "wrong password wrong", name: {"authenticated": True, "is_admin": True}}
        reply = g.http("POST", g.paths.login, body=body, timeout=30)
        refuse(reply.ok, f"a login with {name} was answered {reply.status}")
    return f"answered {reply.status}"


@row("mass-assignment", "CWE-915", "Set members of a record that only the gateway may set.")
def mass_assignment(g):
    owner = g.need_owner()
    planted = {
        "id": "hook_planted",
        "public_id": "wh_" + "a" * 36,
        "delivery_count": 7,
        "created_at": "2001-01-01T00:00:00Z",
    }
    for name, value in planted.items():
        try:
            made = g.call(owner, "webhooks.create", {"name": "x", name: value})
        except CallFailed:
            continue
        refuse(made.get(name) == value, f"{name} was taken from the request")
    body = {"label": "x", "scopes": ["operator.read"], "key": "mk_" + "a" * 43}
    reply = g.http("POST", g.paths.keys, owner, body)
    refuse(reply.ok and reply.json().get("key") == body["key"], "the caller chose the key")
    return "none taken"


@row(
    "body-content-type",
    "CVE-2022-41919",
    "Send JSON as a form's content type, which a foreign page may send without asking.",
)
def content_type(g):
    owner = g.need_owner()
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
        "text/plain; application/json",
        "application/json-patch",
    ):
        caller = owner.but(("Content-Type", kind))
        for path, body in (
            (g.paths.rpc, {"id": 1, "method": "system.status"}),
            (g.paths.keys, {"label": "x", "scopes": ["operator.read"]}),
        ):
            reply = g.http("POST", path, caller, json.dumps(body).encode())
            refuse(reply.ok, f"{path} took {kind}")
    return f"answered {reply.status}"


@row("body-over-limit", "CVE-2026-28478", "Stream a body without end to a public endpoint.")
def over_limit(g):
    hook = g.make_webhook(source_profile="generic")
    peer = g.connect(timeout=20)
    head = f"POST {hook['path']} HTTP/1.1\r\nHost: {g.host}\r\nX-Webhook-Secret: {hook['secret']}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    try:
        peer.sendall(head.encode() + chunk * 64)
    except OSError:
        return "closed before 4 MiB were read"
    try:
        reply = http.parse(peer.recv(65536))[0]
    except TimeoutError:
        reply = None
    except OSError:
        reply = http.GONE
    finally:
        peer.close()
    refuse(reply is None, "4 MiB are read where 1 MiB is allowed, and the gateway waits for more")
    return f"answered {reply.status or 'by closing'} before the end"


@row("body-compressed", "CWE-409", "Send a compressed body that grows a thousandfold.")
def compressed(g):
    plain = b'{"password":"wrong password wrong"' + b" " * (20 << 20) + b"}"
    headers = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"))
    reply = g.http("POST", g.paths.login, g.stranger().but(*headers), gzip.compress(plain), timeout=60)
    refuse(reply.status in (200, 401), f"20 MiB out of {len(gzip.compress(plain)) >> 10} KiB were read: {reply.status}")
    return f"answered {reply.status}"


@row("sql-injection", "CWE-89", "Send SQL where a credential, an id or a search term belongs.")
def sql(g):
    owner = g.need_owner()
    terms = ["' OR '1'='1", "' OR 1=1 --", "x'); DROP TABLE sessions; --", '" OR ""="', "%' UNION SELECT 1 --", "\\"]
    for term in terms:
        refuse(g.reaches(g.stranger().but(("Authorization", f"Bearer {term}"))), f"Bearer {term} is let in")
        refuse(g.reaches(g.stranger().but(("Cookie", f"{g.cookie}={term}"))), f"a session {term} is let in")
        for name, params in (
            ("sessions.list", {"q": term}),
            ("webhooks.deliveries", {"q": term}),
            ("sessions.get", {"id": term}),
        ):
            try:
                g.call(owner, name, params)
            except CallFailed as failed:
                refuse(failed.status >= 500 or "INTERNAL" in failed.code, f"{name} with {term}: {failed}")
    return f"{len(terms)} terms, no fault"


@row("body-before-gate", "CWE-696", "Have a stranger's body read before the gate has refused the stranger.")
def before_gate(g):
    peer = g.connect(timeout=20)
    try:
        head = f"POST {g.paths.rpc} HTTP/1.1\r\nHost: {g.host}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{{"
        peer.sendall(head.encode())
        reply = http.parse(peer.recv(65536))[0]
    except TimeoutError:
        reply = http.GONE
    finally:
        peer.close()
    refuse(reply.status == 0, "the gateway waited for the rest of the body")
    require(reply.status in (401, 403), f"a stranger was answered {reply.status}")
    return f"answered {reply.status} after the head"


@row("batch-size", "CWE-770", "Put thousands of calls into one message.")
def batch_size(g):
    owner = g.need_owner()
    batch = [{"id": n, "method": "system.status"} for n in range(2000)]
    reply = g.http("POST", g.paths.rpc, owner, batch, timeout=30)
    answers = reply.json() if reply.ok else []
    refuse(isinstance(answers, list) and len(answers) > 500, f"{len(answers)} calls of one message were done")
    return f"answered {reply.status}"


@row("multipart-parts", "CVE-2024-47874", "Send a multipart body of many thousand parts, or of one part without end.")
def multipart(g):
    key = g.make_key(["operator.write"])
    mark = "b0undary"
    part = f'--{mark}\r\nContent-Disposition: form-data; name="model"\r\n\r\n{"a" * 40}\r\n'
    body = (part * 50_000).encode() + f"--{mark}--\r\n".encode()
    caller = key.caller.but(("Content-Type", f"multipart/form-data; boundary={mark}"))
    start = time.monotonic()
    reply = g.http("POST", "/v1/audio/transcriptions", caller, body, timeout=90)
    require(reply.status != 404, "there is no multipart endpoint")
    took = time.monotonic() - start
    refuse(reply.ok or took > 40, f"50,000 parts were answered {reply.status} after {took:.1f} s")
    return f"answered {reply.status}"
