"""Information in responses and logs."""

import json
import re

from ..adapter import PASSWORD
from ..model import refuse, require, row

INSIDE = re.compile(
    r"(/tmp/|/home/|/root/|/work/|crates/|\.rs:\d|sqlite|SELECT |INSERT |panicked|thread '|stack backtrace|rusqlite|sqlx|Traceback)",
    re.I,
)


@row("errors-tell-of-inside", "CWE-209", "Provoke errors and read paths, SQL or source locations out of them.")
def errors(g):
    owner = g.need_owner().but(("Content-Type", "application/json"))
    bodies = [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"method":1}',
        b'{"id":1,"method":"no.such"}',
        b'{"id":1,"method":"sessions.get","params":{"id":"\\u0000"}}',
        b'{"id":1,"method":"sessions.list","params":{"cursor":"x"}}',
        b"\xff\xfe",
        b'{"id":1,"method":"webhooks.create","params":{"name":{}}}',
        b'{"id":1,"method":"config.set","params":{"key":"database.url","value":"sqlite:///nowhere/x"}}',
    ]
    for body in bodies:
        reply = g.http("POST", g.paths.rpc, owner, body)
        found = INSIDE.search(reply.text.replace("/nowhere/x", "").replace("sqlite://", ""))
        refuse(found, f"{body[:40]!r} answered {found and found.group(0)}: {reply.text[:120]}")
    for path in (
        "/api/sessions/%00",
        "/api/sessions/x/messages?limit=-1",
        "/api/nothing",
        "/share/%ff",
        "/api/sessions?cursor=%27",
    ):
        for caller in (owner, g.stranger()):
            found = INSIDE.search(g.http("GET", path, caller).text)
            refuse(found, f"{path} answered {found and found.group(0)}")
    return f"{len(bodies) + 10} errors tell nothing"


@row("version-to-strangers", "CWE-497", "Read the program's version or internal state without a credential.")
def version(g):
    remote = g.stranger().but(("X-Forwarded-For", "203.0.113.9"))
    inside = g.http("GET", g.paths.protected, g.need_owner()).json().get("version")
    require(inside, "the version is not known")
    for path in (g.paths.public, g.paths.status, g.paths.page, "/health/live", "/health/ready"):
        reply = g.http("GET", path, remote)
        told = reply.text + " ".join(
            value for name, value in reply.headers if name in ("server", "x-powered-by", "via")
        )
        refuse(inside in told, f"{path} tells version {inside}")
        refuse(
            INSIDE.search(reply.text) and "html" not in reply.header("content-type"), f"{path} tells {reply.text[:80]}"
        )
    return "not disclosed"


@row("stored-secrets-in-answers", "CWE-200", "Read stored secrets back through lists and settings.")
def stored(g):
    owner = g.need_owner()
    g.call(owner, "env.set", {"key": "STORED_ONE", "value": "STORED-SECRET-1"})
    g.call(owner, "providers.set_key", {"id": "anthropic", "key": "sk-STORED-SECRET-2-long-enough"})
    fields = {"url": "http://127.0.0.1:9/", "headers": "Authorization: Bearer STORED-SECRET-3"}
    channel = g.call(owner, "channels.create", {"type": "http", "label": "s", "fields": fields})
    hook = g.make_webhook(secret="STORED-SECRET-4-long-enough", auth_mode="static_header")
    key = g.call(owner, "ssh_keys.generate", {"name": "stored"})
    calls = [
        ("env.list", {}),
        ("providers.list", {}),
        ("channels.list", {}),
        ("webhooks.list", {}),
        ("webhooks.get", {"id": hook["id"]}),
        ("config.get", {}),
        ("ssh_keys.list", {}),
        ("audit.list", {"limit": 500}),
    ]
    text = json.dumps(key) + "".join(json.dumps(g.call(owner, name, params)) for name, params in calls)
    text += g.http("GET", g.paths.keys, owner).text + g.http("GET", g.paths.sessions, owner).text
    g.call(owner, "channels.delete", {"id": channel["id"]})
    for mark in ("STORED-SECRET-1", "SECRET-2-long", "STORED-SECRET-3", "SECRET-4-long", "PRIVATE KEY"):
        refuse(mark in text, f"{mark} is in an answer")
    return f"{len(calls) + 2} lists, no secret"


@row("secrets-in-log", "CWE-532", "Read passwords, keys and bodies in the gateway's log.")
def log(g):
    key = g.make_key(["operator.read"])
    g.reaches(key.caller)
    g.login("a-very-wrong-password-indeed")
    g.http("GET", f"{g.paths.protected}?token={key.secret}")
    g.http(
        "POST", g.paths.rpc, key.caller, {"id": 1, "method": "env.set", "params": {"key": "X", "value": "BODY-SECRET"}}
    )
    text = g.log()
    for secret in (
        key.secret,
        "a-very-wrong-password-indeed",
        "BODY-SECRET",
        PASSWORD,
        *(v for _, v in g.need_owner().headers),
    ):
        refuse(secret in text, f"the log holds {secret[:8]}…")
    return "not in the log"


@row("log-injection", "CWE-117", "Write lines or terminal commands into the log.")
def injection(g):
    mark = "FORGED-LINE"
    for target in (f"/%0a{mark}", f"/x?y=%0d%0a{mark}", f"/%1b[31m{mark}"):
        g.http("GET", target)
    for name in ("User-Agent", "X-Request-Id", "X-Forwarded-For", "Origin", "Referer"):
        g.http("GET", g.paths.protected, g.stranger().but((name, f"a\x1b[2J\x85{mark}")))
        g.http(
            "POST",
            g.paths.login,
            g.stranger().but((name, f"a\\n{mark}")),
            {"password": f"wrong\n{mark} password"},
            timeout=30,
        )
    lines = g.log().splitlines()
    refuse(any(line.startswith(mark) for line in lines), "a line of the log was forged")
    refuse(any("\x1b[2J" in line or "\x1b[31m" in line for line in lines), "the log holds terminal commands")
    return f"{len(lines)} lines, none forged"


@row("documents-to-strangers", "CWE-425", "Read metrics, interface descriptions and methods without a credential.")
def documents(g):
    for path in (
        g.paths.metrics,
        *g.paths.documents,
        "/api/bootstrap",
        "/api/sessions",
        "/v1/models",
        "/swagger",
        "/graphql",
        "/debug",
    ):
        reply = g.http("GET", path)
        refuse(reply.ok and "html" not in reply.header("content-type"), f"{path} answered a stranger")
    reply = g.http("POST", g.paths.rpc, body={"id": 1, "method": "rpc.discover"})
    refuse(reply.ok, "rpc.discover answered a stranger")
    return "refused"


@row(
    "conversation-existence",
    "CWE-204",
    "Find out without a credential which conversations, keys and shares exist.",
)
def existing(g):
    made = g.call(g.need_owner(), "sessions.create", {"label": "private"})
    for right, wrong in (
        (f"{g.paths.conversations}/{made['id']}", f"{g.paths.conversations}/{made['id'][:-4]}0000"),
        (f"{g.paths.conversations}/{made['id']}/messages", f"{g.paths.conversations}/ses_x/messages"),
    ):
        answers = [g.http("GET", path) for path in (right, wrong)]
        told = {(a.status, a.text) for a in answers}
        refuse(len(told) > 1, f"{right} can be distinguished from {wrong}")
    return f"both are answered {answers[0].status}"
