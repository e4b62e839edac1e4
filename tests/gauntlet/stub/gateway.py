"""The stub's connections, gate and endpoints for credentials.

`weak(name)` is true for the weakness of the row with that name. Without a weakness, the stub resists all rows
that attack something it has.
"""

import base64
import ipaddress
import json
import re
import secrets
import socket
import sqlite3
import threading
from urllib.parse import parse_qs, unquote, urlsplit

from . import frames2, paths
from .base import ALL, COOKIE, Identity, now
from .endpoints import Endpoints
from .http1 import Bad, Reader, answer
from .ingest import Ingest
from .methods import Methods
from .passkeys import Passkeys
from .request_secrets import RequestSecrets
from .sockets import serve_socket
from .wyoming import Wyoming

threading.stack_size(512 << 10)
FORWARDING = ("x-forwarded-for", "x-real-ip", "cf-connecting-ip", "forwarded")
POLICY = "default-src 'self'; script-src 'self'; frame-ancestors 'none'"


class Stub(Endpoints, Methods, Ingest, Passkeys, RequestSecrets, Wyoming):
    def __init__(self, weaknesses, settings):
        self.weaknesses, self.settings = frozenset(weaknesses), dict(settings)
        self.password, self.sessions, self.keys, self.devices = None, {}, {}, {}
        self.code, self.code_tries, self.lines = "123456", 0, []
        self.lock, self.throttles, self.wrong, self.held = threading.RLock(), {}, {}, 0
        self.loopback = Identity("Loopback", "local", "", ALL)
        self.connections, self.strangers, self.derivations = {}, {}, threading.Lock()
        Methods.__init__(self)
        Ingest.__init__(self)
        Passkeys.__init__(self)
        Wyoming.__init__(self)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.address = self.listener.getsockname()
        threading.Thread(target=self.accept, daemon=True).start()

    def weak(self, name):
        return name in self.weaknesses

    def hold(self, size):
        with self.lock:
            self.held += size

    def log(self, text):
        self.lines.append(text)

    # Connections.

    def accept(self):
        while True:
            try:
                peer, address = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer, address[0]), daemon=True).start()

    def close(self):
        self.listener.close()
        self.close_wyoming()
        self.stop_programs()

    def serve(self, peer, source):
        with self.lock:
            self.connections[source] = self.connections.get(source, 0) + 1
            crowded = self.connections[source] > 300
        try:
            if not crowded or self.weak("idle-connections-lock-out"):
                self.converse(peer, source)
        except (OSError, ConnectionError):
            pass
        finally:
            peer.close()
            with self.lock:
                self.connections[source] -= 1

    def converse(self, peer, source):
        peer.settimeout(20)
        first = peer.recv(65536)
        if first.startswith(b"PRI * HTTP/2"):
            return frames2.serve(self, peer, first)
        reader = Reader(peer, self.weak, first)
        while True:
            try:
                request = reader.head()
                if request is None:
                    return None
                request.peer = source
                done = self.one(reader, request)
            except Bad as bad:
                peer.sendall(answer(bad.status))
                return None
            if done:
                return done
            if request.header("connection").lower() == "close":
                return None
            if request.all("transfer-encoding") and request.all("content-length") and not self.weak("smuggle-cl-te"):
                if not any(map(self.weak, ("smuggle-te-cl", "smuggle-bare-lf-head", "smuggle-folded-header"))):
                    return None

    def one(self, reader, request):
        """Answers one request. Returns true if the connection is no longer HTTP."""
        early = self.weak("body-before-gate")
        if early:
            reader.body(request, 36 << 20)
        refused = self.gate(request)
        if refused is None and request.header("upgrade").lower() == "h2c" and self.weak("smuggle-h2c-upgrade"):
            reader.peer.sendall(answer(101, [("Connection", "Upgrade"), ("Upgrade", "h2c")]))
            return True
        if refused is None and request.header("upgrade").lower() == "websocket":
            return serve_socket(self, reader, request)
        if refused is not None:
            reader.peer.sendall(self.finish(request, *refused))
            raise ConnectionError
        if not early:
            self.read_body(reader, request)
        status, headers, body = self.handle(request)
        if isinstance(body, (dict, list)):
            headers, body = [*headers, ("Content-Type", "application/json")], json.dumps(body).encode()
        self.hold(len(body))
        try:
            reader.peer.sendall(self.finish(request, status, headers, body, False))
        finally:
            self.hold(-len(body))
        return False

    def read_body(self, reader, request):
        """Reads a body within the limits per request and in total."""
        path = request.extra["path"]
        limit = 64 << 10 if path.startswith("/api/auth") else 1 << 20 if "/ingest/" in path else 36 << 20
        if self.weak("body-over-limit"):
            limit = 1 << 30
        taken = 0

        def hold(size):
            nonlocal taken
            self.hold(size - taken)
            taken = size
            if self.held > 200 << 20 and not self.weak("half-sent-bodies"):
                raise Bad(503)

        try:
            reader.body(request, limit, hold)
        finally:
            hold_back = taken
            self.hold(-hold_back)
        coding = request.header("content-encoding")
        if coding and not self.weak("body-compressed"):
            raise Bad(415)
        if coding:
            import gzip

            request.body = gzip.decompress(request.body)

    def finish(self, request, status, headers=(), body=b"", close=True):
        """Returns the bytes of a response, with the headers that every response needs."""
        headers = [("x-content-type-options", "nosniff"), *headers]
        names = {name.lower() for name, _ in headers}
        path = request.extra.get("path", "/")
        if path.startswith(("/api", "/v1", "/mcp", "/metrics")) and not self.weak("answers-in-cache"):
            headers.append(("cache-control", "no-store"))
        if self.weak("cors-reflection") and request.header("origin"):
            headers.append(("access-control-allow-origin", request.header("origin")))
        if isinstance(body, (dict, list)):
            headers, body = [*headers, ("Content-Type", "application/json")], json.dumps(body).encode()
        if b"<html" in body[:20] and "content-security-policy" not in names:
            if not self.weak("page-scripts"):
                policy = POLICY if not self.weak("page-in-frame") else POLICY.split("; frame")[0]
                headers.append(("content-security-policy", policy))
        self.log(f"{request.method} {path} {status} {request.peer}")
        if request.method == "HEAD":
            return answer(status, [*headers, ("Content-Length", "0")], b"", close).replace(
                b"Content-Length: 0\r\n", b"", 1
            )
        return answer(status, headers, body, close)

    # The gate.

    def gate(self, request):
        """Returns a refusal as (status, headers, body), or None. Sets `path`, `query` and
        `identity`."""
        if self.weak("secrets-in-log"):
            self.log(f"headers {request.headers} target {request.target}")
        if self.weak("log-injection"):
            self.lines += (unquote(request.target) + " " + request.header("user-agent")).splitlines()
        if self.weak("method-trace") and request.method == "TRACE":
            return 200, [], repr(request.headers).encode()
        hosts = request.all("host")
        if len(hosts) != 1 and not self.weak("two-hosts"):
            return 400, [], b""
        request.extra["host"] = hosts[-1] if hosts else ""
        target, _, query = request.target.partition("?")
        if self.weak("header-splitting") and self.password is None:
            return 303, [("Location", "/onboarding?next=" + unquote(request.target))], b""
        if self.weak("method-override") and request.header("x-http-method-override"):
            request.method = request.header("x-http-method-override")
        override = request.header("x-original-url")
        read = paths.read(target, self.weak) if target.isprintable() or self.weak("path-space-and-nul") else None
        if read is None and target.startswith("http://") and paths.strict(urlsplit(target).path or "/"):
            read = paths.read(urlsplit(target).path, self.weak)
        if read is None:
            if any(map(self.weak, ("static-traversal", "id-traversal", "manual-traversal"))):
                read = paths.is_public(target), target
            else:
                return 400, [], b""
        public, path = read
        if self.weak("path-header-override") and override:
            path = override
        if self.weak("host-path-confusion"):
            public = paths.is_public(urlsplit("http://" + request.extra["host"] + target).path or "/")
        if self.weak("documents-to-strangers") and path == "/metrics":
            public = True
        if self.weak("method-tampering") and request.method not in ("GET", "POST"):
            public = True
        if self.weak("path-middleware-header") and request.header("x-middleware-subrequest"):
            public = True
        request.extra |= {"path": path, "query": parse_qs(query), "public": public}
        if self.is_foreign(request):
            return 403, [], {"error": "another site", "code": "FORBIDDEN"}
        identity = request.extra["identity"] = self.identify(request)
        if self.weak("conversation-existence") and path.startswith("/api/sessions/"):
            if path.split("/")[3] not in self.conversations:
                return 404, [], {"code": "NOT_FOUND"}
        upgrade = request.header("upgrade").lower() == "websocket"
        if identity is None and not public and not (upgrade and path == "/ws"):
            code = "AUTH_NOT_AUTHENTICATED" if self.password else "AUTH_SETUP_REQUIRED"
            return 401, [], {"error": "log in", "code": code}
        if upgrade and identity is None and path != "/ws":
            return 401, [], {"code": "AUTH_NOT_AUTHENTICATED"}
        if path == "/ws/talk" and not identity.may("operator.write") and not self.weak("talk-without-permission"):
            return 403, [], {"code": "FORBIDDEN"}
        if path == "/ws/talk" and not self.is_within(identity, path) and not self.weak("talk-key-of-another-purpose"):
            return 403, [], {"code": "FORBIDDEN"}
        return None

    def is_foreign(self, request):
        """Returns whether another site's page requests a change."""
        upgrade = request.header("upgrade").lower() == "websocket"
        if request.method in ("GET", "HEAD", "OPTIONS") and not upgrade or "/ingest/" in request.extra["path"]:
            return False
        if self.weak("talk-foreign-origin") and request.extra["path"] == "/ws/talk":
            return False
        if upgrade and self.weak("socket-foreign-origin") or not upgrade and self.weak("foreign-page-posts"):
            return False
        if self.weak("setup-foreign-page") and self.password is None:
            return False
        if self.weak("approval-link-foreign-page") and request.extra["path"].startswith("/approve/"):
            return False
        if self.weak("mcp-foreign-origin") and request.extra["path"] == "/mcp":
            return False
        origin, host = request.header("origin"), request.extra["host"]
        if not request.all("origin"):
            return request.header("sec-fetch-site") == "cross-site" and not self.weak("cross-site-without-origin")
        if origin == "null":
            return not self.weak("origin-null")
        ours = [host, *request.all("x-forwarded-host")]
        name = urlsplit(origin).netloc
        over_tls = request.header("x-forwarded-proto") == "https"
        if over_tls and urlsplit(origin).scheme != "https" and not self.weak("origin-without-tls"):
            return True
        if self.weak("socket-foreign-origin-behind-proxy"):
            return not any(name.endswith(our) for our in ours)
        if self.weak("origin-other-port"):
            return name.split(":")[0] not in [our.split(":")[0] for our in ours]
        return name not in ours

    def is_local(self, request):
        """Returns whether the request comes from this machine and names this machine."""
        names = {name for name, _ in request.headers}
        if self.weak("connection-drops-header"):
            names -= {part.strip().lower() for part in request.header("connection").split(",")}
        if names & set(FORWARDING) and not self.weak("forwarded-before-setup"):
            return False
        host = request.extra.get("host", "")
        name = re.sub(r":\d+$", "", host)
        if self.weak("host-spelling"):
            named = name.startswith(("localhost", "127."))
        else:
            named = re.fullmatch(r"localhost\.?|127(\.\d{1,3}){3}|\[::1\]", name, re.I) is not None
        return request.peer == "127.0.0.1" and (named or self.weak("dns-rebinding"))

    def identify(self, request):
        """Returns the sender's identity; None for an unauthenticated sender."""
        if self.password is None:
            return self.loopback if self.is_local(request) else None
        if self.weak("identity-header") and request.header("x-forwarded-user"):
            return self.loopback
        if self.weak("forwarded-loopback") and request.header("x-forwarded-for") in ("127.0.0.1", "::1"):
            return self.loopback
        cookies = [part.strip().partition("=") for value in request.all("cookie") for part in value.split(";")]
        tokens = [value for name, _, value in cookies if name == COOKIE]
        tokens = tokens[:4] if self.weak("cookie-planting") else tokens
        for token in tokens:
            found = self.sessions.get(token)
            if found and self.lives(found):
                return found
        scheme, _, bearer = request.header("authorization").partition(" ")
        if self.weak("key-in-url") and not bearer:
            query = request.extra.get("query", {})
            bearer = next((query[name][0] for name in ("api_key", "token") if name in query), "")
            scheme = "Bearer"
        is_metrics = request.extra.get("path") == "/metrics" or self.weak("metrics-token-elsewhere")
        if scheme == "Bearer" and bearer and bearer == self.settings.get("metrics.token") and is_metrics:
            return Identity("Metrics", "metrics", bearer, ["operator.read"])
        return self.by_bearer(bearer, request) if scheme == "Bearer" else None

    def by_bearer(self, text, request):
        if self.weak("token-alg-none") and text.count(".") == 2:
            top = text.split(".")[0]
            if json.loads(base64.urlsafe_b64decode(top + "=="))["alg"].lower() == "none":
                return self.loopback
        if self.weak("blank-credential") and text == self.settings.get("api_key", "admin"):
            return self.loopback
        if self.weak("sql-injection"):
            base = sqlite3.connect(":memory:")
            base.execute("CREATE TABLE keys (secret TEXT)")
            base.execute("INSERT INTO keys VALUES ('x')")
            try:
                if base.execute(f"SELECT 1 FROM keys WHERE secret = '{text}'").fetchone():
                    return self.loopback
            except sqlite3.Error:
                return None
        for key in list(self.keys.values()):
            same = secrets.compare_digest(key.secret.encode(), text.encode("utf-8", "replace"))
            if self.weak("key-truncated") and len(text) > 10:
                same = key.secret.startswith(text)
            if same and self.lives(key) and self.from_here(key, request):
                return key
        return None

    def lives(self, identity):
        if identity.ended and not self.weak("revoked-key") or identity.expires and identity.expires < now():
            return False
        if identity.made_by is None or self.weak("children-of-revoked-key") or self.weak("device-pairs-devices"):
            return True
        return self.lives(identity.made_by)

    def from_here(self, key, request):
        if self.weak("networks-by-forged-header") and request.header("x-forwarded-for"):
            return True
        return not key.networks or any(
            ipaddress.ip_address(request.peer) in ipaddress.ip_network(n) for n in key.networks
        )
