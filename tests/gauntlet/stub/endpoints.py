"""The stub's endpoints for setup, logins, keys and the vault, and its pages."""

import html
import json
import os
import re
import secrets
import time
from urllib.parse import unquote

from . import jsontext
from .base import ALL, COOKIE, VERSION, Identity, Refused


class Endpoints:
    def handle(self, request):
        """Returns the response as (status, headers, body)."""
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
            if path == "/mcp" and request.method == "POST":
                return 200, [], self.mcp(request, identity, self.json_body(request))
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
        if name.startswith("passkey/auth/") and method == "POST":
            return self.passkey(request, name.removeprefix("passkey/"), body)
        if identity is None and not (weak("vault-endpoints-unauthenticated") and name.startswith("vault/")):
            if not (weak("public-prefix-handlers") and name in ("api-keys", "sessions") and method == "GET"):
                raise Refused(401, "AUTH_NOT_AUTHENTICATED")
        if name.startswith("passkey/register/") and method == "POST":
            return self.passkey(request, name.removeprefix("passkey/"), body)
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
        """Counts an attempt and refuses those above the limit."""
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
        self.is_sealed = name == "seal"
        return 200, [], {"ok": True, "status": "sealed" if self.is_sealed else "unsealed"}

    def api_keys(self, request, identity, name, body):
        if request.method == "GET":
            self.need(identity, "operator.read")
            listed = [
                {"id": k.id, "scopes": k.scopes, "expires_at": k.expires} for k in self.keys.values() if not k.ended
            ]
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
        known = {"label", "scopes", "expires_at", "allowed_cidrs", "only"}
        if set(body) - known and not self.weak("mass-assignment") and not self.weak("json-prototype-members"):
            raise Refused(400, "INVALID_PARAMS")
        secret = (
            body.get("key") if self.weak("mass-assignment") and "key" in body else "mk_" + secrets.token_urlsafe(32)
        )
        key = Identity(
            "ApiKey", "key_" + secrets.token_hex(8), secret, wanted, maker if maker.kind == "ApiKey" else None
        )
        key.expires, key.networks = body.get("expires_at"), body.get("allowed_cidrs") or []
        key.only = body.get("only") or []
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
        if path.startswith("/docs") and identity:
            name = os.path.normpath("/" + unquote(path.removeprefix("/docs/")))
            if self.weak("manual-traversal") and os.path.isfile(name):
                return 200, [], open(name, "rb").read()
            return 200, [], b"Glossary"
        if path.startswith("/approve/"):
            return self.approval_link(request, path.rsplit("/", 1)[1])
        if path.startswith("/auth/callback/"):
            return self.authorization_callback(request, request.extra["identity"])
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
        return (
            200,
            [("Content-Type", "text/html")],
            f"<html><body>{html.escape(json.dumps(data))}</body></html>".encode(),
        )
