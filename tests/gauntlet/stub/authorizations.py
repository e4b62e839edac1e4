"""The stub's authorizations of MCP servers."""

import http.client
import json
import secrets
import time
from urllib.parse import urlencode, urljoin, urlsplit

from .base import CallError

MAX_BYTES, MAX_SECONDS = 256 << 10, 2
FORM = "application/x-www-form-urlencoded"


def failed(text):
    return CallError(-32013, "PROVIDER_FAILED", text)


class Authorizations:
    """Part of the stub. A flow is an authorization that waits for its callback."""

    def __init__(self):
        self.flows, self.grants = {}, {}

    # Requests.

    def ask(self, server, url, body=None, kind="application/json"):
        """Sends a request on behalf of an MCP server. Returns the status, the headers and the document."""
        for _ in range(5):
            self.check(server, url)
            parts = urlsplit(url)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=8)
            try:
                connection.request("GET" if body is None else "POST", parts.path or "/", body, {"Content-Type": kind})
                reply = connection.getresponse()
                data = self.read(reply)
            except (OSError, http.client.HTTPException) as error:
                raise failed(f"unreachable: {error}") from error
            finally:
                connection.close()
            location = reply.getheader("Location")
            if not location or not self.weak("oauth-metadata-inside-address"):
                break
            url = urljoin(url, location)
        try:
            document = json.loads(data)
        except ValueError:
            document = {}
        return reply.status, reply, document if reply.status in (200, 201) else {}

    def read(self, reply):
        data, end = bytearray(), time.monotonic() + MAX_SECONDS
        while part := reply.read1(65536):
            data += part
            is_over = len(data) > MAX_BYTES or time.monotonic() > end
            if is_over and not self.weak("oauth-metadata-flood"):
                raise failed("the document is too large or too slow")
        return data

    def check(self, server, url):
        """Refuses addresses without TLS, and inside addresses other than the MCP server's own."""
        parts, own = urlsplit(url), urlsplit(server)
        is_safe = parts.scheme == "https" or parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")
        if not is_safe and not self.weak("oauth-metadata-without-tls"):
            raise failed("not https")
        is_own = (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        if not is_own and parts.hostname in ("127.0.0.1", "localhost"):
            if not self.weak("oauth-metadata-inside-address"):
                raise failed("an inside address")

    # The flow.

    def discover(self, server):
        """Returns the metadata of the authorization server, and the resource."""
        own = urlsplit(server)
        origin = f"{own.scheme}://{own.netloc}"
        _, reply, _ = self.ask(server, server, b"{}")
        named = (reply.getheader("WWW-Authenticate") or "").partition('resource_metadata="')[2].rstrip('"')
        _, _, protected = self.ask(server, named or f"{origin}/.well-known/oauth-protected-resource{own.path}")
        if not self.contains(protected.get("resource", ""), server) and not self.weak("oauth-metadata-other-resource"):
            raise failed("another resource")
        issuer = (protected.get("authorization_servers") or [origin])[0]
        self.check(server, issuer)
        parts = urlsplit(issuer)
        if parts.scheme not in ("http", "https"):
            # A weak gateway falls back to the server.
            parts = own
        root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server"
        metadata = {}
        for path in (parts.path.rstrip("/"), ""):
            metadata = metadata or self.ask(server, root + path)[2]
        if metadata.get("issuer") != issuer and not self.weak("oauth-metadata-other-issuer"):
            raise failed("another issuer")
        if "S256" not in (metadata.get("code_challenge_methods_supported") or []):
            if not self.weak("oauth-metadata-without-pkce"):
                raise failed("no PKCE")
        for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
            self.check_scheme(server, metadata.get(name, ""))
        return metadata, protected.get("resource")

    def check_scheme(self, server, url):
        is_inside = urlsplit(url).hostname == "127.0.0.1"
        if not is_inside:
            self.check(server, url)

    @staticmethod
    def contains(resource, server):
        described, own = urlsplit(resource), urlsplit(server)
        rest = own.path.removeprefix(described.path.rstrip("/"))
        is_prefix = own.path.startswith(described.path.rstrip("/")) and (not rest or rest.startswith("/"))
        return (described.scheme, described.netloc) == (own.scheme, own.netloc) and is_prefix

    def do_mcp_authorize(self, identity, params):
        name = params["name"]
        server = self.settings[f"mcp.servers.{name}.url"]
        metadata, resource = self.discover(server)
        if metadata["registration_endpoint"].startswith("http://127.0.0.1"):
            self.ask(server, metadata["registration_endpoint"], b'{"redirect_uris": []}')
        if not self.weak("oauth-callback-of-an-ended-flow"):
            self.flows = {state: flow for state, flow in self.flows.items() if flow["name"] != name}
        state = secrets.token_urlsafe(32)
        self.flows[state] = {"name": name, "session": identity, "server": server, "metadata": metadata}
        query = {"response_type": "code", "client_id": "c1", "state": state, "resource": resource}
        return {"url": f"{metadata['authorization_endpoint']}?{urlencode(query)}"}

    def do_mcp_disconnect(self, identity, params):
        server, metadata = self.grants.pop(params["name"], (None, {}))
        if "revocation_endpoint" in metadata:
            try:
                self.ask(server, metadata["revocation_endpoint"], b"token=a1", FORM)
            except CallError:
                pass
        return {"ok": True}

    def authorization_callback(self, request, identity):
        query = {name: values[0] for name, values in request.extra["query"].items()}
        name, state = request.extra["path"].rsplit("/", 1)[1], query.get("state")
        if self.weak("oauth-callback-forged-state") and state not in self.flows:
            state = next(iter(self.flows), None)
        flow = self.flows.get(state)
        if flow is None or "code" not in query:
            return 400, [], b"no such authorization"
        if flow["name"] != name and not self.weak("oauth-callback-other-server"):
            return 400, [], b"another server"
        if self.settings[f"mcp.servers.{flow['name']}.url"] != flow["server"]:
            return 400, [], b"the server has moved"
        if identity is not flow["session"] and not self.weak("oauth-callback-other-session"):
            return 401, [], b"another session"
        if not self.is_from(query, flow["metadata"]["issuer"]):
            return 400, [], b"another issuer"
        if not self.weak("oauth-callback-replayed"):
            del self.flows[state]
        server, metadata = flow["server"], flow["metadata"]
        if flow["name"] != name:
            server = self.settings[f"mcp.servers.{name}.url"]
            metadata = self.discover(server)[0]
        grant = {"grant_type": "authorization_code", "code": query["code"]}
        try:
            status, _, _ = self.ask(server, metadata["token_endpoint"], urlencode(grant).encode(), FORM)
        except CallError as error:
            return 502, [], error.text.encode()
        if status == 200:
            self.grants[name] = server, metadata
        return 303, [("Location", "/settings/mcp")], b""

    def is_from(self, query, issuer):
        if self.weak("oauth-callback-other-issuer"):
            return True
        return query.get("iss", issuer if self.weak("oauth-metadata-other-issuer") else None) == issuer
