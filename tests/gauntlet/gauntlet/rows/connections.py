"""Where people and browsers are led back to: the OAuth callback of MCP servers, and subscriptions of browsers."""

import base64
from urllib.parse import urlencode

from ..adapter import CallFailed
from ..authority import Authority, state_of
from ..model import refuse, require, row

# The generator of P-256 as an uncompressed point (SEC 2, section 2.4.2), which is a valid public key.
POINT = (
    "046B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
    "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5"
)
KEYS = {
    "p256dh": base64.urlsafe_b64encode(bytes.fromhex(POINT)).decode().rstrip("="),
    "auth": base64.urlsafe_b64encode(b"0123456789abcdef").decode().rstrip("="),
}


class Flow:
    """An authorization that waits for its callback."""

    def __init__(self, g, authority):
        self.g, self.authority = g, authority
        g.call(g.need_owner(), "config.set", {"key": "mcp.servers.files.url", "value": authority.mcp})

    def begin(self):
        address = self.g.call(self.g.owner, "mcp.authorize", {"name": "files"})["url"]
        return {"code": "code-1", "state": state_of(address), "iss": self.authority.url}

    def exchanges(self, caller, query):
        """Returns whether a callback leads to an exchange of its code."""
        before = self.authority.tokens()
        self.g.http("GET", f"/auth/callback/files?{urlencode(query)}", caller)
        return self.authority.tokens() > before


def with_flow(attack):
    def run(g):
        with Authority() as authority:
            return attack(g, Flow(g, authority))

    run.__module__ = __name__
    return run


@row(
    "oauth-callback-forged-state",
    "CWE-352",
    "Have the owner's browser finish an authorization that it did not begin, with another state or none.",
    instance="fresh",
)
@with_flow
def forged_state(g, flow):
    query = flow.begin()
    state = query["state"]
    require(len(state) >= 22, f"the state has {len(state)} characters")
    for other in (None, "", "x", state[:-1], state + "A", state.swapcase()):
        forged = {name: value for name, value in (query | {"state": other}).items() if value is not None}
        refuse(flow.exchanges(g.owner, forged), f"the state {other} is accepted")
    require(flow.exchanges(g.owner, query), "the right state is refused as well")
    return "only the state of the flow is accepted"


@row(
    "oauth-callback-other-session",
    "CWE-639",
    "Finish an authorization without a login, or in another session than the one that began it.",
    instance="fresh",
)
@with_flow
def other_session(g, flow):
    require(flow.exchanges(g.owner, flow.begin()), "no authorization can be finished")
    for caller, who in ((g.stranger(), "a stranger"), (g.session()[0], "another session")):
        refuse(flow.exchanges(caller, flow.begin()), f"{who} finishes it")
    key = g.make_key(["operator.admin"])
    refuse(flow.exchanges(key.caller, flow.begin()), "an API key finishes it")
    return "only the session that began it"


@row(
    "oauth-callback-replayed",
    "CWE-294",
    "Send the callback of an authorization a second time.",
    instance="fresh",
)
@with_flow
def replayed(g, flow):
    query = flow.begin()
    require(flow.exchanges(g.owner, query), "no authorization can be finished")
    for code in ("code-1", "code-2"):
        refuse(flow.exchanges(g.owner, query | {"code": code}), "the state is accepted twice")
    return "a state is used once"


@row(
    "oauth-callback-other-issuer",
    "CWE-346",
    "Answer an authorization in the name of another authorization server.",
    instance="fresh",
)
@with_flow
def other_issuer(g, flow):
    query = flow.begin()
    require(flow.exchanges(g.owner, query), "no authorization can be finished")
    for issuer in ("https://evil.example", flow.authority.url + ".evil.example"):
        refuse(flow.exchanges(g.owner, flow.begin() | {"iss": issuer}), f"{issuer} is accepted")
    return "the issuer must be the one of the flow"


def subscribe(g, caller, endpoint):
    """Returns the ID of the subscription; None if it was refused."""
    try:
        return g.call(caller, "push.subscribe", {"endpoint": endpoint, "keys": KEYS})["id"]
    except CallFailed:
        return None


@row(
    "push-inside-address",
    "CWE-918",
    "Have notifications sent to an address of the gateway's own network.",
)
def inside_address(g):
    owner = g.need_owner()
    require(subscribe(g, owner, "https://push.example.com/a"), "no browser can subscribe")
    for endpoint in (
        "https://127.0.0.1/a",
        "https://[::1]/a",
        "https://10.0.0.1/a",
        "https://169.254.169.254/latest",
        "https://2130706433/a",
        "https://[::ffff:192.168.0.1]/a",
        "http://push.example.com/a",
        "file:///etc/passwd",
    ):
        refuse(subscribe(g, owner, endpoint), f"{endpoint} is accepted")
    return "only https addresses of the internet"


@row(
    "push-with-a-key",
    "CWE-613",
    "Subscribe to notifications with an API key, which no login ends.",
)
def with_a_key(g):
    require(subscribe(g, g.need_owner(), "https://push.example.com/b"), "no browser can subscribe")
    for scopes in (["operator.admin"], ["operator.write"], ["operator.read"]):
        caller = g.make_key(scopes).caller
        refuse(subscribe(g, caller, "https://push.example.com/c"), f"a key with {scopes[0]} subscribes")
    refuse(subscribe(g, g.stranger(), "https://push.example.com/c"), "a stranger subscribes")
    return "a session or a device is needed"


@row(
    "push-of-another-removed",
    "CWE-639",
    "End the notifications of another's browser with a key that may only write.",
)
def of_another(g):
    owner = g.need_owner()
    made = subscribe(g, owner, "https://push.example.com/d")
    require(made, "no browser can subscribe")
    try:
        g.call(g.make_key(["operator.write"]).caller, "push.unsubscribe", {"id": made})
        refuse(True, "it is removed")
    except CallFailed:
        pass
    g.call(owner, "push.unsubscribe", {"id": made})
    return "refused"
