"""Credentials that are forged, too broad, or valid after their end."""

import base64
import datetime
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .. import http
from ..adapter import PASSWORD, Caller, CallFailed
from ..model import refuse, require, row
from ..recorder import Recorder


def bearer(text):
    return ("Authorization", f"Bearer {text}")


def denied(g, caller, operation, params):
    """Returns whether an operation is refused because of missing rights."""
    try:
        g.call(caller, operation, params)
    except CallFailed as failed:
        return failed.code in ("FORBIDDEN", "AUTH_NOT_AUTHENTICATED", "CONFIRMATION_REQUIRED") or failed.status in (
            401,
            403,
        )
    return False


def has_variable(g, name):
    listed = g.call(g.need_owner(), "env.list", {"limit": 500})
    return any(item["key"] == name for item in listed["env_variables"])


@row("token-alg-none", "CWE-347", "Send a JSON Web Token whose algorithm is none.")
def alg_none(g):
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    claims = part({"sub": "admin", "scope": "operator.admin", "scopes": ["operator.admin"], "exp": 9999999999})
    for name in ("none", "None", "NONE", "nOnE"):
        token = f"{part({'alg': name, 'typ': 'JWT'})}.{claims}."
        refuse(g.reaches(g.stranger().but(bearer(token))), f"alg {name} is let in")
        refuse(g.reaches(g.stranger().but(("Cookie", f"{g.cookie}={token}"))), f"alg {name} is let in as a session")
    return "no token is let in"


@row("blank-credential", "CWE-1392", "Send a blank, default or placeholder credential.")
def blank(g):
    words = [
        "",
        " ",
        "null",
        "undefined",
        "None",
        "mk_",
        "mk_*",
        "admin",
        "changeme",
        "test",
        "0",
        "true",
        "[object Object]",
    ]
    for word in words:
        refuse(g.reaches(g.stranger().but(bearer(word))), f"Bearer {word!r} is let in")
        refuse(g.reaches(g.stranger().but(("Cookie", f"{g.cookie}={word}"))), f"a session {word!r} is let in")
    for pair in ("admin:admin", "admin:", ":", "root:root"):
        basic = base64.b64encode(pair.encode()).decode()
        refuse(g.reaches(g.stranger().but(("Authorization", f"Basic {basic}"))), f"Basic {pair} is let in")
    refuse(any(g.login(word).ok for word in ("", "admin", "password")), "a default password logs in")
    return f"{len(words)} words, none let in"


@row("key-in-url", "CVE-2026-26196", "Send a credential in the query, where logs and histories keep it.")
def key_in_url(g):
    key = g.make_key(["operator.read"])
    require(g.reaches(key.caller), "the key does not work as a header either")
    for name in ("api_key", "key", "token", "access_token", "auth", "authorization", "api-key"):
        for value in (key.secret, f"Bearer%20{key.secret}"):
            reply = g.http("GET", f"{g.paths.protected}?{name}={value}")
            refuse(g.is_inside(reply), f"?{name}= is let in")
            with g.socket(path=f"{g.paths.gated_socket}?{name}={value}") as socket:
                refuse(socket.status == 101, f"a socket with ?{name}= is let in")
    return "no name is taken"


@row(
    "key-truncated",
    "CWE-187",
    "Send the beginning of a key, its prefix as lists show it, or a key with something behind it.",
)
def truncated(g):
    secret = g.make_key(["operator.read"]).secret
    for text in (
        secret[:-1],
        secret[:11],
        secret[:24],
        secret + "A",
        secret.upper(),
        secret + ",",
        secret[3:],
        secret.swapcase(),
    ):
        refuse(g.reaches(g.stranger().but(bearer(text))), f"{len(text)} of {len(secret)} characters are let in")
    return "only the whole key"


@row("scope-mint", "CVE-2026-32922", "Use a key to create another key with more permissions.")
def mint(g):
    for held in (["operator.write"], ["operator.pairing"], ["operator.read", "operator.write", "operator.approvals"]):
        key = g.make_key(held)
        for wanted in (["operator.admin"], ["operator.admin", *held], ["*"]):
            try:
                made = g.make_key(wanted, key.caller)
            except CallFailed:
                continue
            refuse(made, f"a key with {held} made one with {wanted}")
        try:
            device = g.call(key.caller, "pairing.create", {"label": "wide", "scopes": ["operator.admin"]})
        except CallFailed:
            continue
        refuse(
            "operator.admin" in device.get("scopes", ["operator.admin"]), f"a key with {held} paired an administrator"
        )
    return "no key makes a wider one"


@row("scope-call", "CVE-2026-44848", "Call what changes, starts or reveals with a key that may only read.")
def scope_call(g):
    reader = g.make_key(["operator.read"]).caller
    calls = [
        ("env.set", {"key": "SCOPE_CALL", "value": "1"}),
        ("config.set", {"key": "log.level", "value": "debug"}),
        ("webhooks.create", {"name": "x"}),
        ("channels.create", {"type": "http", "label": "x", "fields": {"url": "http://127.0.0.1:9/"}}),
        ("agents.create", {"name": "x"}),
        ("chat.send", {"text": "x"}),
        ("ssh_keys.generate", {"name": "x"}),
        ("providers.set_key", {"id": "openai", "key": "x"}),
        ("audit.list", {}),
        ("approval.list", {}),
        ("pairing.list", {}),
        ("sessions.delete", {"id": "ses_x"}),
    ]
    for name, params in calls:
        refuse(not denied(g, reader, name, params), f"{name} is not denied to operator.read")
    writer = g.make_key(["operator.write"]).caller
    for name, params in (("audit.list", {}), ("env.list", {}), ("config.get", {}), ("approval.list", {})):
        refuse(not denied(g, writer, name, params), f"{name} is not denied to operator.write")
    for method, path in (
        ("GET", g.paths.keys),
        ("POST", g.paths.reset),
        ("POST", f"{g.paths.vault}/rotate"),
        ("POST", f"{g.paths.vault}/seal"),
    ):
        reply = g.http(method, path, writer, {} if method == "POST" else None)
        refuse(reply.ok, f"{method} {path} is open to operator.write")
    return f"{len(calls) + 8} calls, all denied"


@row(
    "mcp-tool-scope",
    "CWE-862",
    "Call a tool of the gateway's MCP server without a key, or with one that may only read.",
)
def mcp_tool_scope(g):
    def sends(caller, text):
        """Returns whether the caller sends a message with a tool."""
        g.mcp(caller, "tools/call", {"name": "send_message", "arguments": {"target": "inbox", "text": text}})
        return any(message["text"] == text for message in g.inbox())

    require(sends(g.make_key(["operator.write"]).caller, "from the writer"), "the gateway has no MCP server")
    refuse(sends(g.stranger(), "from a stranger"), "a stranger calls a tool")
    refuse(sends(g.make_key(["operator.read"]).caller, "from the reader"), "operator.read sends a message")
    return "no tool beyond the key's scopes"


@row("scope-program-settings", "CVE-2026-25593", "Name a program in a setting with a key that may not administer.")
def program_settings(g):
    writer = g.make_key(["operator.write", "operator.read"]).caller
    keys = [
        ("mcp.servers.pwn.command", "/bin/sh"),
        ("mcp.servers.pwn.url", "http://127.0.0.1:9/"),
        ("voice.tts.tts_local_1.binary_path", "/bin/sh"),
        ("voice.stt.stt_local_2.binary_path", "/bin/sh"),
        ("server.external_url", "https://evil.example"),
        ("proxy.trusted_cidrs", ["0.0.0.0/0"]),
        ("network.allow_private", True),
        ("auth.step_up", False),
        ("models.providers.openai.base_url", "http://127.0.0.1:9/v1"),
        ("models.providers.openai.kind", "anthropic"),
        ("tools.require_approval", []),
        ("server.allowed_origins", ["https://evil.example"]),
    ]
    for key, value in keys:
        refuse(
            not denied(g, writer, "config.set", {"key": key, "value": value}),
            f"config.set {key} is not denied to operator.write",
        )
    return f"{len(keys)} settings, all denied"


@row("revoked-key", "CWE-613", "Use a key after its revocation.")
def revoked(g):
    key = g.make_key(["operator.read"])
    require(g.reaches(key.caller), "the key does not work")
    g.revoke_key(key)
    refuse(g.reaches(key.caller), "the revoked key is let in")
    session, _ = g.session()
    require(g.reaches(session), "the session does not work")
    g.http("POST", g.paths.logout, session, {})
    refuse(g.reaches(session), "the session is let in after logout")
    return "refused at the next request"


@row("revoked-key-socket", "CVE-2026-34503", "Keep a socket open after its credential was revoked.")
def revoked_socket(g):
    key = g.make_key(["operator.read"])
    with g.socket(key.caller) as socket:
        require(socket.call("system.status"), "the socket does not work")
        g.revoke_key(key)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            answer = socket.call("sessions.list", timeout=60)
            if answer is None or "error" in answer:
                return f"the socket ended, close code {socket.closed}"
            time.sleep(0.2)
        refuse(True, "the socket still answers after 20 seconds")


def trickle(g, caller, meanwhile, body, path):
    """Sends all but the last byte of a request, runs `meanwhile`, and sends the last byte."""
    data = g.raw_request("POST", path, caller, json.dumps(body).encode())
    peer = g.connect(caller.source, 60)
    try:
        peer.sendall(data[:-1])
        time.sleep(1)
        meanwhile()
        time.sleep(0.3)
        peer.sendall(data[-1:])
        return http.parse(http.read_some(peer))[0]
    finally:
        peer.close()


@row("body-outlives-session", "CWE-367", "Begin a request, end its session, and send the rest of the body.")
def outlives_session(g):
    body = {"id": 1, "method": "env.set", "params": {"key": "OUTLIVED", "value": "1"}}
    session, _ = g.session()
    reply = trickle(g, session, lambda: g.http("POST", g.paths.logout, session, {}), body, g.paths.rpc)
    refuse(has_variable(g, "OUTLIVED"), f"the change was made with a session that had ended: {reply.status}")
    key = g.make_key(["operator.write"])
    reply = trickle(g, key.caller, lambda: g.revoke_key(key), body, g.paths.rpc)
    refuse(has_variable(g, "OUTLIVED"), f"the change was made with a revoked key: {reply.status}")
    return f"answered {reply.status}"


@row(
    "body-outlives-session-reset",
    "CWE-367",
    "Begin a request that removes all credentials, end its session, and send the rest.",
    instance="fresh",
)
def outlives_reset(g):
    session, _ = g.session()
    trickle(g, session, lambda: g.http("POST", g.paths.logout, session, {}), {}, g.paths.reset)
    refuse(not g.reaches(g.owner), "all credentials are gone")
    key = g.make_key(["operator.admin"])
    made = trickle(
        g, key.caller, lambda: g.revoke_key(key), {"label": "heir", "scopes": ["operator.admin"]}, g.paths.keys
    )
    refuse(made.ok, "a revoked key made a key")
    return f"answered {made.status}"


@row("batch-outlives-key", "CWE-613", "Put a slow call and a changing one into a batch, and revoke the key in between.")
def batch_outlives(g):
    revoked, late = threading.Event(), []

    def slow(_):
        if not revoked.wait(8):
            late.append(True)
        return 200, {}, b""

    with Recorder(slow) as far:
        fields = {"url": far.url}
        channel = g.call(g.need_owner(), "channels.create", {"type": "http", "label": "slow", "fields": fields})
        key = g.make_key(["operator.write"])
        batch = [{"id": 1, "method": "channels.test", "params": {"id": channel["id"]}}]
        batch += [{"id": 2, "method": "env.set", "params": {"key": "AFTER_REVOCATION", "value": "1"}}]
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(g.http, "POST", g.paths.rpc, key.caller, batch)
            if not far.wait(1):
                raise RuntimeError("the first call did not reach its channel")
            require(not has_variable(g, "AFTER_REVOCATION"), "the calls of a batch are done side by side")
            g.revoke_key(key)
            revoked.set()
            answer.result()
        if late:
            raise RuntimeError("the key was revoked too late")
        g.call(g.owner, "channels.delete", {"id": channel["id"]})
    refuse(has_variable(g, "AFTER_REVOCATION"), "the second call was done after the key was revoked")
    return "the second call was refused"


@row(
    "children-of-revoked-key",
    "CWE-672",
    "Use a key to create another key or a device, and use that after the first was revoked.",
)
def children(g):
    parent = g.make_key(["operator.admin"])
    child = g.make_key(["operator.read"], parent.caller)
    device = g.call(parent.caller, "pairing.create", {"label": "child", "scopes": ["operator.read"]})
    require(g.reaches(child.caller), "the child does not work")
    g.revoke_key(parent)
    refuse(g.reaches(child.caller), "the child of a revoked key is let in")
    with g.socket() as socket:
        answer = socket.call("connect", {"auth": {"device_token": device["token"]}})
        refuse(answer and "result" in answer, "the device that a revoked key paired is let in")
    return "children end with their parent"


@row("child-outlives-parent", "CWE-266", "Use an expiring key to create a key that never expires.")
def child_expiry(g):
    soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    parent = g.make_key(["operator.admin"], expires_at=soon)
    wider = {"label": "forever", "scopes": ["operator.admin"], "expires_at": "2099-01-01T00:00:00Z"}
    for body in ({"label": "forever", "scopes": ["operator.admin"]}, wider):
        reply = g.http("POST", g.paths.keys, parent.caller, body)
        if not reply.ok:
            continue
        made = reply.json()
        listed = g.http("GET", g.paths.keys, g.need_owner()).json()["api_keys"]
        ends = next(item for item in listed if item["id"] == made["id"]).get("expires_at")
        refuse(not ends or ends[:16] > soon[:16], f"the child ends {ends or 'never'}, its parent at {soon}")
    return "a child ends no later than its parent"


@row("child-escapes-networks", "CWE-284", "Use a key that is limited to one network to create a key for all networks.")
def child_networks(g):
    source = g.stranger().source
    parent = g.make_key(["operator.admin"], allowed_cidrs=[f"{source}/32"])
    caller = Caller(parent.caller.headers, source)
    require(g.reaches(caller), "the key does not work from its network")
    refuse(g.reaches(parent.caller.but(source=g.stranger().source)), "the key works from another network")
    try:
        child = g.make_key(["operator.read"], caller)
    except CallFailed as failed:
        return f"refused: {failed.code}"
    refuse(g.reaches(child.caller.but(source=g.stranger().source)), "the child works from every network")
    return "the child is held to the same network"


@row(
    "device-pairs-devices",
    "CWE-269",
    "Use a paired device to pair a second one, and use that after the first was revoked.",
)
def device_pairs(g):
    scopes = ["operator.read", "operator.pairing"]
    first = g.call(g.need_owner(), "pairing.create", {"label": "first", "scopes": scopes})
    with g.socket() as socket:
        answer = socket.call("connect", {"auth": {"device_token": first["token"]}})
        require(answer and "result" in answer, "the device cannot connect")
        second = socket.call("pairing.create", {"label": "second", "scopes": scopes}) or {}
    if "result" not in second:
        return "a device pairs no other"
    g.call(g.owner, "pairing.revoke", {"id": first["id"]})
    with g.socket() as socket:
        answer = socket.call("connect", {"auth": {"device_token": second["result"]["token"]}})
        refuse(answer and "result" in answer, "the second device outlives the first")
    return "the second device ended with the first"


@row(
    "vault-endpoints-unauthenticated",
    "CVE-2026-5807",
    "Call what opens, seals or renews the vault without a credential.",
)
def vault_endpoints(g):
    names = ["seal", "unlock", "recovery", "rotate", "disable", "enable", "initialize", "recovery-key"]
    for name in names:
        reply = g.http("POST", f"{g.paths.vault}/{name}", body={"password": PASSWORD, "recovery_key": "A" * 32})
        refuse(reply.status not in (400, 401, 403, 404, 405, 429), f"{name} answered a stranger {reply.status}")
    return f"{len(names)} endpoints, all refused"


@row(
    "vault-oracle",
    "CWE-204",
    "Find out without a credential, or while the vault is open, whether a recovery key is right.",
)
def vault_oracle(g):
    for name, body in (
        ("recovery", {"recovery_key": "ABCD-" * 7 + "ABCD"}),
        ("unlock", {"password": "wrong password wrong"}),
    ):
        reply = g.http("POST", f"{g.paths.vault}/{name}", g.need_owner(), body, timeout=40)
        refuse(reply.ok, f"{name} took a wrong secret while the vault is open")
    stranger = [
        g.http("POST", f"{g.paths.vault}/recovery", body={"recovery_key": key}).text for key in ("A" * 32, "x", "")
    ]
    refuse(len(set(stranger)) > 1, "a stranger can distinguish malformed keys from wrong ones")
    return f"answered {reply.status}"


@row(
    "public-prefix-handlers", "CWE-306", "Call each endpoint below the public prefix that needs a session, without one."
)
def public_prefix_handlers(g):
    calls = [
        ("GET", g.paths.keys),
        ("POST", g.paths.keys),
        ("DELETE", f"{g.paths.keys}/key_x"),
        ("GET", g.paths.sessions),
        ("DELETE", g.paths.sessions),
        ("POST", g.paths.reset),
        ("POST", g.paths.confirm),
        ("POST", g.paths.change_password),
        ("POST", f"{g.paths.passkeys}/register/begin"),
        ("POST", f"{g.paths.passkeys}/register/finish"),
        ("GET", f"{g.paths.passkeys}s"),
        ("POST", g.paths.logout),
    ]
    body = {"label": "x", "scopes": ["operator.admin"], "new_password": "x" * 20, "password": "x" * 20}
    for method, path in calls:
        reply = g.http(method, path, body=body if method == "POST" else None, timeout=40)
        refuse(reply.ok, f"{method} {path} answered a stranger {reply.status}")
    return f"{len(calls)} endpoints, all refused"
