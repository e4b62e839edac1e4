"""The stub's authorizations of MCP servers, and its browsers that get notifications."""

import ipaddress
import secrets
from urllib.parse import urlencode, urlsplit

from . import outbound
from .base import CallError


class Connections:
    def __init__(self):
        self.flows, self.pushes = {}, {}

    # OAuth.

    def do_mcp_authorize(self, identity, params):
        url = self.settings[f"mcp.servers.{params['name']}.url"]
        issuer = f"http://{urlsplit(url).netloc}"
        state = secrets.token_urlsafe(32)
        self.flows[state] = (identity, issuer)
        query = {"response_type": "code", "client_id": "c1", "state": state}
        return {"url": f"{issuer}/authorize?{urlencode(query)}"}

    def authorization_callback(self, request, identity):
        query = {name: values[0] for name, values in request.extra["query"].items()}
        state = query.get("state")
        if self.weak("oauth-callback-forged-state") and state not in self.flows:
            state = next(iter(self.flows), None)
        if state not in self.flows or "code" not in query:
            return 400, [], b"no such authorization"
        session, issuer = self.flows[state]
        if identity is not session and not self.weak("oauth-callback-other-session"):
            return 401, [], b"another session"
        if query.get("iss") != issuer and not self.weak("oauth-callback-other-issuer"):
            return 400, [], b"another issuer"
        if not self.weak("oauth-callback-replayed"):
            del self.flows[state]
        grant = {"grant_type": "authorization_code", "code": query["code"]}
        outbound.call_vendor(f"{issuer}/token", "", urlencode(grant).encode(), False)
        return 303, [("Location", "/settings/mcp")], b""

    # Notifications.

    def do_push_subscribe(self, identity, params):
        endpoint = params["endpoint"]
        if identity.kind == "ApiKey" and not self.weak("push-with-a-key"):
            raise CallError(-32004, "FORBIDDEN", "a session is needed")
        if not self.weak("push-inside-address") and not is_public(endpoint):
            raise self.wrong_params("endpoint")
        name = "psh_" + secrets.token_hex(6)
        self.pushes[name] = identity
        return {"id": name}

    def do_push_unsubscribe(self, identity, params):
        is_own = self.pushes[params["id"]] is identity or identity.may("operator.pairing")
        if not is_own and not self.weak("push-of-another-removed"):
            raise CallError(-32004, "FORBIDDEN", "another's browser")
        del self.pushes[params["id"]]
        return {"ok": True}


def is_public(endpoint):
    parts = urlsplit(endpoint)
    name = parts.hostname or ""
    if parts.scheme != "https" or name.isdigit():
        return False
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return True
    return address.is_global and not getattr(address, "ipv4_mapped", None)
