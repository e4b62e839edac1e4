"""The stub's connections, gate and endpoints for credentials.

`weak(name)` is true for the weakness of the row with that name. Without any, the stub resists the rows as
far as it has what they attack."""

import base64
import datetime
import html
import ipaddress
import json
import os
import re
import secrets
import socket
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from . import frames2, jsontext, paths
from .http1 import Bad, Reader, answer
from .ingest import Ingest
from .methods import Methods
from .sockets import serve_socket

threading.stack_size(512 << 10)
COOKIE = "service_session"
FORWARDING = ("x-forwarded-for", "x-real-ip", "cf-connecting-ip", "forwarded")
ALL = ["operator.read", "operator.write", "operator.admin", "operator.approvals", "operator.pairing"]
POLICY = "default-src 'self'; script-src 'self'; frame-ancestors 'none'"
VERSION = "9.8.7-stub"


@dataclass(eq=False)
class Identity:
    kind: str
    id: str
    secret: str
    scopes: list
    made_by: object = None
    expires: str | None = None
    networks: list = field(default_factory=list)
    ended: bool = False

    def may(self, scope):
        return scope is None or scope in self.scopes or "operator.admin" in self.scopes


class Stub(Methods, Ingest):
    def __init__(self, weaknesses, settings):
        self.weaknesses, self.settings = frozenset(weaknesses), dict(settings)
        self.password, self.sessions, self.keys, self.devices = None, {}, {}, {}
        self.code, self.code_tries, self.lines = "123456", 0, []
        self.lock, self.throttles, self.wrong, self.held = threading.RLock(), {}, {}, 0
        self.loopback = Identity("Loopback", "local", "", ALL)
        self.connections, self.strangers, self.derivations = {}, {}, threading.Lock()
        Methods.__init__(self)
        Ingest.__init__(self)
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
        """Answers one request; true when the connection is no longer HTTP."""
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
        """Reads a body within the limits for one and for all."""
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
        """The response with what belongs to each."""
        headers = [("x-content-type-options", "nosniff"), *headers]
        names = {name.lower() for name, _ in headers}
        path = request.extra.get("path", "/")
        if path.startswith(("/api", "/v1", "/metrics")) and not self.weak("answers-in-cache"):
            headers.append(("cache-control", "no-store"))
        if self.weak("cors-reflection") and request.header("origin"):
            headers.append(("access-control-allow-origin", request.header("origin")))
        if isinstance(body, (dict, list)):
            headers, body = [*headers, ("Content-Type", "application/json")], json.dumps(body).encode()
        if b"<html" in body[:20] and "content-security-policy" not in names:
            if not self.weak("page-scripts"):
                policy = POLICY if not self.weak("origin-other-port") else POLICY.split("; frame")[0]
                headers.append(("content-security-policy", policy))
        self.log(f"{request.method} {path} {status} {request.peer}")
        if request.method == "HEAD":
            return answer(status, [*headers, ("Content-Length", "0")], b"", close).replace(b"Content-Length: 0\r\n", b"", 1)
        return answer(status, headers, body, close)

    # The gate.

    def gate(self, request):
        """A refusal as (status, headers, body), or None. Sets `path`, `query` and `identity`."""
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
            if self.weak("static-traversal") or self.weak("id-traversal"):
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
        return None

    def is_foreign(self, request):
        """Whether a page of another site asks for a change."""
        upgrade = request.header("upgrade").lower() == "websocket"
        if request.method in ("GET", "HEAD", "OPTIONS") and not upgrade or "/ingest/" in request.extra["path"]:
            return False
        if upgrade and self.weak("socket-foreign-origin") or not upgrade and self.weak("foreign-page-posts"):
            return False
        if self.weak("setup-foreign-page") and self.password is None:
            return False
        origin, host = request.header("origin"), request.extra["host"]
        if not request.all("origin"):
            return request.header("sec-fetch-site") == "cross-site" and not self.weak("cross-site-without-origin")
        if origin == "null":
            return not self.weak("origin-null")
        ours = [host, *request.all("x-forwarded-host")]
        name = urlsplit(origin).netloc
        if self.weak("socket-foreign-origin-behind-proxy"):
            return not any(name.endswith(our) for our in ours)
        if self.weak("origin-other-port"):
            return name.split(":")[0] not in [our.split(":")[0] for our in ours]
        return name not in ours

    def is_local(self, request):
        """Whether the request comes from this machine, to a name of this machine."""
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
        """Who sends the request; None for a stranger."""
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
        return not key.networks or any(ipaddress.ip_address(request.peer) in ipaddress.ip_network(n) for n in key.networks)

    # Endpoints.

    def handle(self, request):
        """The answer as (status, headers, body)."""
        path, identity = request.extra["path"], request.extra["identity"]
        once = ("body-outlives-session", "body-outlives-session-reset", "setup-outlived-by-request")
        if identity is not None and not any(map(self.weak, once)):
            identity = request.extra["identity"] = self.identify(request)
            if identity is None:
                return 401, [], {"code": "AUTH_NOT_AUTHENTICATED"}
        try:
            if path.startswith("/api/webhooks/ingest/"):
                return self.ingest(request)
            if path.startswith("/api/auth/"):
                return self.auth(request, path.removeprefix("/api/auth/"), identity)
            if path.startswith(("/api", "/v1", "/metrics")):
                return self.api(request, path, identity)
            return self.page(request, path, identity)
        except jsontext.Wrong as wrong:
            return 400, [], {"error": str(wrong), "code": "PARSE_ERROR"}
        except Refused as refused:
            return refused.status, [], {"error": refused.code, "code": refused.code}

    def json_body(self, request):
        kind = request.header("content-type").split(";")[0].strip()
        if kind != "application/json" and request.body and not self.weak("body-content-type"):
            raise Refused(415, "UNSUPPORTED_MEDIA_TYPE")
        return jsontext.read(request.body or b"{}", self.weak)

    def auth(self, request, name, identity):
        body = self.json_body(request) if request.method == "POST" else {}
        weak, method = self.weak, request.method
        if name == "status":
            return 200, [], {"setup_required": self.password is None}
        if name == "login" and method == "POST":
            return self.log_in(request, body)
        if name == "setup" and method == "POST":
            return self.complete_setup(request, body)
        if name.startswith("passkey/register") and self.password is None:
            raise Refused(403, "FORBIDDEN")
        if identity is None and not (weak("vault-endpoints-unauthenticated") and name.startswith("vault/")):
            if not (weak("public-prefix-handlers") and name in ("api-keys", "sessions") and method == "GET"):
                raise Refused(401, "AUTH_NOT_AUTHENTICATED")
        if name == "logout" and method == "POST":
            identity.ended = identity.kind == "Password"
            clear = [] if weak("logout-leaves-cache") else [("Clear-Site-Data", '"cache"')]
            return 200, clear, {"ok": True}
        if name == "confirm" and method == "POST":
            return self.confirm(identity, body)
        if name == "password/change" and method == "POST":
            return self.change_password(identity, body)
        if name.startswith("vault/"):
            return self.vault(identity, name.removeprefix("vault/"), body)
        if name == "reset" and method == "POST":
            self.need(identity, "operator.admin")
            for held in (*self.sessions.values(), *self.keys.values()):
                held.ended = True
            return 200, [], {"ok": True}
        if name.startswith("api-keys"):
            return self.api_keys(request, identity, name, body)
        if name == "sessions" and method == "GET":
            return 200, [], {"sessions": [{"id": s.id} for s in self.sessions.values()]}
        raise Refused(404, "NOT_FOUND")

    def need(self, identity, scope):
        open_to_strangers = identity is None and self.weak("public-prefix-handlers")
        if open_to_strangers or identity is not None and self.weak("scope-call"):
            return
        if identity is None or not identity.may(scope):
            raise Refused(403, "FORBIDDEN")

    def throttle(self, key, most, racy):
        """Counts one try; refuses the one over the limit."""
        if racy:
            if self.throttles.get(key, 0) >= most:
                raise Refused(429, "RATE_LIMITED")
            time.sleep(0.1)
            self.throttles[key] = self.throttles.get(key, 0) + 1
            return
        with self.lock:
            self.throttles[key] = self.throttles.get(key, 0) + 1
            if self.throttles[key] > most:
                raise Refused(429, "RATE_LIMITED")

    def right(self, password):
        if not isinstance(password, str) or self.password is None:
            return False
        cut = 72 if self.weak("password-truncation") else None
        return password[:cut] == self.password[:cut]

    def log_in(self, request, body):
        if self.weak("key-derivation-cost"):
            with self.derivations:
                pass
        source = request.peer
        if self.weak("forwarded-escapes-throttle"):
            source = request.header("x-forwarded-for", source)
        if not (self.weak("second-credential-escapes-throttle") and request.header("authorization")):
            self.throttle(f"login {source}", 5, self.weak("login-guesses-in-parallel"))
        record = {"ok": self.right(body.get("password"))}
        if self.weak("json-prototype-members") and isinstance(body.get("__proto__"), dict):
            record["ok"] = record["ok"] or body["__proto__"].get("authenticated", False)
        if not record["ok"]:
            self.audit("login.failed", request.peer)
            raise Refused(401, "INVALID_CREDENTIALS")
        planted = re.search(COOKIE + r"=([^;]+)", request.header("cookie"))
        return self.new_session(planted.group(1) if planted and self.weak("session-fixation") else None)

    def new_session(self, token=None):
        token = token or secrets.token_urlsafe(32)
        self.sessions[token] = Identity("Password", "as_" + token[:8], token, ALL)
        extra = "" if self.weak("cookie-attributes") else "; HttpOnly; SameSite=Strict"
        return 200, [("Set-Cookie", f"{COOKIE}={token}; Path=/{extra}")], {"ok": True}

    def complete_setup(self, request, body):
        if self.password is not None and not self.weak("setup-twice"):
            raise Refused(409, "CONFLICT")
        asks = not self.is_local(request) or self.settings.get("auth.local_setup_code") == "true"
        if asks and not self.weak("setup-by-stranger"):
            if not self.weak("setup-code-guesses"):
                self.throttle("setup code", 10, False)
            if body.get("setup_code") != self.code:
                self.audit("setup.code_refused", request.peer)
                raise Refused(403, "FORBIDDEN")
        if not self.weak("setup-race"):
            with self.lock:
                if self.password is not None and not self.weak("setup-twice"):
                    raise Refused(409, "CONFLICT")
                self.password = body["password"]
        else:
            time.sleep(0.2)
            self.password = body["password"]
        for key in list(self.keys.values()):
            key.ended = key.ended or not self.weak("setup-local-key-without-code")
        return self.new_session()

    def confirm(self, identity, body):
        tries = f"confirm {identity.id}"
        racy = self.weak("confirm-guesses-in-parallel")
        if self.throttles.get(tries, 0) >= 30:
            raise Refused(429, "RATE_LIMITED")
        if not racy:
            self.throttle(tries, 30, False)
        if self.right(body.get("password")):
            return 200, [], {"ok": True}
        if racy:
            time.sleep(0.3)
            self.throttles[tries] = self.throttles.get(tries, 0) + 1
        raise Refused(401, "INVALID_CREDENTIALS")

    def change_password(self, identity, body):
        self.need(identity, "operator.admin")
        if not self.right(body.get("current_password")):
            raise Refused(401, "INVALID_CREDENTIALS")
        self.password = body["new_password"]
        if not self.weak("password-change-leaves-sessions"):
            for session in self.sessions.values():
                session.ended = session.ended or session is not identity
        return 200, [], {"ok": True}

    def vault(self, identity, name, body):
        if name not in ("seal", "unlock", "recovery", "rotate", "disable", "enable", "initialize", "recovery-key"):
            raise Refused(404, "NOT_FOUND")
        if name in ("unlock", "recovery") and not self.weak("vault-oracle"):
            if not self.right(body.get("password")):
                raise Refused(423, "VAULT_BAD_KEY")
        if name not in ("unlock", "recovery") and not self.weak("vault-endpoints-unauthenticated"):
            self.need(identity, "operator.admin")
        return 200, [], {"ok": True, "status": "unsealed"}

    def api_keys(self, request, identity, name, body):
        if request.method == "GET":
            self.need(identity, "operator.read")
            listed = [{"id": k.id, "scopes": k.scopes, "expires_at": k.expires} for k in self.keys.values() if not k.ended]
            return 200, [], {"api_keys": listed}
        if self.settings.get("auth.local_setup_code") == "true" and self.password is None:
            if not self.weak("setup-local-key-without-code"):
                raise Refused(403, "FORBIDDEN")
        if request.method == "DELETE":
            self.need(identity, "operator.admin")
            key = self.keys.get(name.partition("/")[2])
            if key is None:
                raise Refused(404, "NOT_FOUND")
            key.ended = True
            return 200, [], {"ok": True}
        wanted = body.get("scopes") or []
        if not self.weak("scope-mint"):
            self.need(identity, "operator.admin")
            if not set(wanted) <= set(ALL) or not all(identity.may(scope) for scope in wanted):
                raise Refused(403, "FORBIDDEN")
        return 200, [], self.make_key(identity, wanted, body)

    def make_key(self, maker, wanted, body):
        known = {"label", "scopes", "expires_at", "allowed_cidrs"}
        if set(body) - known and not self.weak("mass-assignment") and not self.weak("json-prototype-members"):
            raise Refused(400, "INVALID_PARAMS")
        secret = body.get("key") if self.weak("mass-assignment") and "key" in body else "mk_" + secrets.token_urlsafe(32)
        key = Identity("ApiKey", "key_" + secrets.token_hex(8), secret, wanted, maker if maker.kind == "ApiKey" else None)
        key.expires, key.networks = body.get("expires_at"), body.get("allowed_cidrs") or []
        if maker.kind == "ApiKey" and not self.weak("child-outlives-parent"):
            key.expires = min(filter(None, (key.expires, maker.expires)), default=None)
        if maker.kind == "ApiKey" and not self.weak("child-escapes-networks"):
            key.networks = key.networks or maker.networks
        self.keys[key.id] = key
        return {"id": key.id, "key": secret, "scopes": wanted}

    def page(self, request, path, identity):
        if path == "/health":
            shown = {"status": "ok"} | ({"version": VERSION} if identity or self.weak("version-to-strangers") else {})
            return 200, [], shown
        if self.weak("static-traversal") and path.startswith(("/assets", "/icons", "/static", "/share", "/public")):
            name = os.path.normpath("/srv/a/b/" + unquote(unquote(path)).replace("\\", "/"))
            return (200, [], open(name, "rb").read()) if os.path.isfile(name) else (404, [], b"")
        if self.weak("leftover-files") and path == "/.git/config":
            return 200, [("Content-Type", "text/plain")], b"[core]\n\tbare = false\n"
        if path.startswith("/share/"):
            return self.shared(path.split("/")[2])
        if path.startswith(("/assets/", "/icons/", "/static/")):
            return 404, [], {"code": "NOT_FOUND"}
        if path == "/auth/callback":
            target = request.extra["query"].get("next", [""])[0]
            if self.weak("open-redirect") and target:
                return 302, [("Location", target)], b""
            return 400, [], {"code": "INVALID_REQUEST"}
        if self.password is None and identity is None:
            base = ""
            if self.weak("redirect-names-foreign-host"):
                base = "http://" + request.header("x-forwarded-host", request.extra["host"])
            return 303, [("Location", base + "/onboarding")], b""
        data = {"product": "stub"}
        if self.weak("page-holds-data"):
            data["webhooks"] = [{"name": h["name"], "secret": h["secret"]} for h in self.hooks.values()]
        return 200, [("Content-Type", "text/html")], f"<html><body>{html.escape(json.dumps(data))}</body></html>".encode()


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
