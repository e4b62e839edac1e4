"""The stub's webhooks: verification, deduplication, rendering and delivery."""

import base64
import hashlib
import hmac
import ipaddress
import json
import re
import secrets
import threading
import time

from . import jsontext

MODES = {
    "generic": "static_header",
    "codehost_a": "codehost_a_hmac_sha256",
    "codehost_b": "codehost_b_token",
    "payments": "payments_webhook_signature",
    "acme": "timed",
    "schedule": "none",
}
STUB_OBJECT = type("Payload", (dict,), {})


def digest(secret, body, algorithm=hashlib.sha256):
    return hmac.new(secret if isinstance(secret, bytes) else secret.encode(), body, algorithm).hexdigest()


class Ingest:
    def __init__(self):
        self.hooks, self.deliveries, self.messages, self.seen = {}, [], [], set()
        self.guesses, self.refused = {}, {}

    def make_webhook(self, fields):
        weak = self.weak
        mode = fields.get("auth_mode") or MODES[fields.get("source_profile", "generic")]
        known = "name source_profile auth_mode secret deliver_only deliver_to deliver_extra prompt_template allowed_cidrs enabled toolPolicy replay_guard schedule"
        extra = set(fields) - set(known.split())
        if extra and not weak("mass-assignment"):
            raise self.wrong_params(f"unknown {extra}")
        secret = fields.get("secret")
        if secret == "" and not weak("webhook-empty-secret"):
            raise self.wrong_params("secret")
        made = (
            "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
            if mode == "standard_webhooks"
            else secrets.token_hex(32)
        )
        hook = {
            "enabled": True,
            "id": "hook_" + secrets.token_hex(8),
            "public_id": "wh_" + secrets.token_hex(18),
            "delivery_count": 0,
            **fields,
        }
        hook |= {"auth_mode": mode, "secret": made if secret is None else secret, "name": fields.get("name", "")}
        if secret is not None and len(secret) < 16 and not weak("webhook-weak-secret"):
            hook["warning"] = "The secret is short."
        self.hooks[hook["public_id"]] = hook
        if "schedule" in hook:
            threading.Thread(target=self.run_schedule, args=(hook,), daemon=True).start()
        return hook

    def run_schedule(self, hook):
        while not time.sleep(hook["schedule"]["every_seconds"]) and hook["public_id"] in self.hooks:
            self.record(hook, None, "queued")

    def ingest(self, request):
        hook = self.hooks.get(request.extra["path"].rsplit("/", 1)[1])
        is_schedule = hook is not None and "schedule" in hook and not self.weak("schedule-by-stranger")
        if hook is None or is_schedule or not hook["enabled"]:
            said = "disabled" if hook and self.weak("webhook-existence") else "not found"
            return 404, [], {"error": said, "code": "NOT_FOUND"}
        networks = hook.get("allowed_cidrs")
        if networks and not any(ipaddress.ip_address(request.peer) in ipaddress.ip_network(n) for n in networks):
            with self.lock:
                count = self.refused[request.peer] = self.refused.get(request.peer, 0) + 1
            if count <= 60 or self.weak("webhook-refusal-rows"):
                self.record(hook, request, "rejected")
            return 403, [], {"code": "FORBIDDEN"}
        guess = (hook["id"], request.peer)
        short = hook["auth_mode"] in ("static_header", "bearer") and len(hook["secret"]) < 16
        if short and self.guesses.get(guess, 0) >= 20 and not self.weak("webhook-secret-guesses"):
            return 429, [], {"code": "RATE_LIMITED"}
        is_acme = hook["auth_mode"] == "timed"
        if is_acme and self.weak("profile-handshake-signs") and (proof := self.handshake(hook, request)):
            return 200, [], proof
        if not self.verify(hook, request):
            self.guesses[guess] = self.guesses.get(guess, 0) + 1
            self.record(hook, request, "rejected")
            return 401, [], {"code": "INVALID_CREDENTIALS"}
        if is_acme and (proof := self.handshake(hook, request)):
            return 200, [], proof
        payload = jsontext.read(request.body, self.weak)
        for key in self.dedup_keys(hook, request):
            if key in self.seen:
                return 200, [], {"status": "deduplicated"}
            self.seen.add(key)
        row = self.record(hook, request, "queued")
        threading.Thread(target=self.work, args=(hook, payload), daemon=True).start()
        return 202, [], {"status": "accepted", "delivery_id": row["id"]}

    def record(self, hook, request, status):
        keep = {
            name: value
            for name, value in (request.headers if request else [])
            if self.weak("webhook-record-holds-secret") or name in ("x-github-event", "content-type")
        }
        row = {"id": "del_" + secrets.token_hex(6), "webhook_id": hook["id"], "status": status, "headers": keep}
        self.deliveries.append(row)
        return row

    def handshake(self, hook, request):
        """Returns the proof that the stub has the secret, if the sender asks for it."""
        payload = jsontext.read(request.body, self.weak)
        if payload.get("type") != "endpoint.url_validation":
            return None
        token = payload["payload"]["plainToken"]
        return {"plainToken": token, "encryptedToken": digest(hook["secret"], token.encode())}

    def dedup_keys(self, hook, request):
        sender = next(
            (request.header(n) for n in ("x-github-delivery", "x-delivery-id", "x-request-id") if request.header(n)),
            None,
        )
        if hook["auth_mode"] == "standard_webhooks":
            yield hook["id"], (
                sender if self.weak("webhook-same-id-replay") and sender else request.header("webhook-id")
            )
            return
        yield hook["id"], sender or hashlib.sha256(request.body).hexdigest()
        if hook.get("replay_guard") == "bytes" and not self.weak("webhook-fresh-id-replay"):
            yield hook["id"], "bytes", hashlib.sha256(request.body).hexdigest()

    def verify(self, hook, request):
        mode = hook["auth_mode"]
        if mode == "none":
            return True
        ok = [
            self.verify_with(secret, mode, hook, request)
            for secret in (hook["secret"], hook.get("old"))
            if secret is not None
        ]
        return any(ok)

    def verify_with(self, secret, mode, hook, request):
        weak, body = self.weak, request.body
        if mode in ("static_header", "codehost_b_token", "bearer"):
            names = {
                "static_header": "x-webhook-secret",
                "codehost_b_token": "x-gitlab-token",
                "bearer": "authorization",
            }
            given = request.header(names[mode]).removeprefix("Bearer ")
            return hmac.compare_digest(given, secret)
        if mode == "codehost_a_hmac_sha256":
            return self.verify_code_host(secret, request)
        if mode in ("payments_webhook_signature", "timed"):
            header = request.header("stripe-signature" if mode != "timed" else "x-acme-signature")
            pairs = [part.partition("=")[::2] for part in header.split(",")]
            if mode == "timed" and weak("profile-file-forged"):
                return any(k == "v1" for k, _ in pairs)
            stamps = [v for k, v in pairs if k == "t" and re.fullmatch(r"-?\d+", v)]
            if not stamps or len(stamps) > 1 and not weak("webhook-changed-timestamp"):
                return False
            signed = stamps[-1] if weak("webhook-changed-timestamp") else stamps[0]
            if abs(time.time() - int(stamps[0])) > 300 and not weak("webhook-old-timestamp"):
                return False
            right = digest(secret, f"{signed}.".encode() + body)
            return any(k == "v1" and hmac.compare_digest(v, right) for k, v in pairs)
        key = base64.b64decode(secret.removeprefix("whsec_"))
        text = f"{request.header('webhook-id')}.{request.header('webhook-timestamp')}.".encode() + body
        right = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        return hmac.compare_digest(request.header("webhook-signature"), "v1," + right)

    def verify_code_host(self, secret, request):
        weak, body = self.weak, request.body
        if not request.all("x-hub-signature-256") and weak("webhook-unsigned"):
            return True
        given = request.header("x-hub-signature-256") or request.header("x-hub-signature")
        name, _, text = given.partition("=")
        if weak("webhook-other-algorithm") and name in ("sha1", "md5", "sha512"):
            return hmac.compare_digest(text, digest(secret, body, getattr(hashlib, name)))
        text = given.removeprefix("sha256=")
        right = digest(secret, body)
        if weak("webhook-empty-signature") or weak("webhook-truncated-signature"):
            least = 0 if weak("webhook-empty-signature") else 1
            return len(text) >= least and right.startswith(text)
        return hmac.compare_digest(text.encode(), right.encode())

    # Processing of deliveries.

    def work(self, hook, payload):
        text = self.render(hook.get("prompt_template") or "{__raw__}", payload)
        target = hook.get("deliver_to", "inbox")
        if not hook.get("deliver_only"):
            policy = hook.get("toolPolicy", {}).get("allow", [])
            public = ["calc", "web_fetch", "web_search"]
            self.turn(text, tools=policy if self.weak("webhook-wildcard-tools") else public)
        elif target == "inbox":
            self.messages.append({"text": text, "webhook_id": hook["id"]})
        else:
            extra = {name: self.render(value, payload) for name, value in (hook.get("deliver_extra") or {}).items()}
            self.deliver(self.channels[target.partition(":")[2]], text, extra)

    def render(self, template, payload):
        if self.weak("webhook-template-reaches-inside"):
            try:
                return (
                    template.format_map(STUB_OBJECT(payload)) if "a.__" not in template else template.format(**payload)
                )
            except (KeyError, AttributeError, ValueError, IndexError):
                return re.sub(r"\{__class__\}", str(type(payload)), template)

        def one(match):
            value = payload
            if match.group(1) == "__raw__":
                return json.dumps(payload)
            for part in match.group(1).split("."):
                if not isinstance(value, dict) or part not in value:
                    return match.group(0)
                value = value[part]
            return value if isinstance(value, str) else json.dumps(value)

        text = re.sub(r"\{([^{}]+)\}", one, template)
        return re.sub(r"\{([^{}]+)\}", one, text) if self.weak("webhook-template-twice") else text
