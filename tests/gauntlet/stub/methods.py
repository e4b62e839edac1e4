"""The stub's methods, its agent, and the methods that the agent calls."""

import html
import json
import re
import secrets
import threading
import time
import traceback
from urllib.parse import unquote

from . import outbound
from .agent import Agent
from .audio import Audio
from .authorizations import Authorizations
from .base import CallError, Identity
from .chats import Chats
from .connections import Connections
from .files import Files
from .mcp import Mcp
from .request_secrets import HttpServer

READ, WRITE, ADMIN, APPROVE, PAIR = (f"operator.{name}" for name in ("read", "write", "admin", "approvals", "pairing"))
SCOPES = {
    "system.status": None,
    "rpc.discover": None,
    "sessions.list": READ,
    "sessions.get": READ,
    "webhooks.deliveries": READ,
    "webhooks.delivery.get": READ,
    "webhooks.get": READ,
    "webhooks.list": READ,
    "config.get": READ,
    "env.list": READ,
    "inbox.list": READ,
    "tools.list": READ,
    "chat.history": READ,
    "providers.list": READ,
    "channels.list": READ,
    "ssh_keys.list": READ,
    "audit.list": ADMIN,
    "backup.create": ADMIN,
    "webhooks.forward": ADMIN,
    "webhooks.delivery.request": ADMIN,
    "approval.list": APPROVE,
    "approval.find": APPROVE,
    "approval.resolve": APPROVE,
    "approval.remembered": APPROVE,
    "approval.forget": APPROVE,
    "mcp.authorize": ADMIN,
    "mcp.disconnect": ADMIN,
    "mcp.create": ADMIN,
    "mcp.list": READ,
    "pairing.list": PAIR,
    "pairing.create": PAIR,
    "pairing.revoke": PAIR,
    "pairing.approve": PAIR,
    "pairing.people": PAIR,
    "pairing.trust": PAIR,
}
ADMIN_SETTINGS = re.compile(
    r"^(mcp|server|proxy|network|auth|vault|database)\.|base_url|endpoint|binary_path|\.kind$|require_approval|tools\.secrets"
)
STEERING = re.compile(
    r"^(LD_|DYLD_|NODE_OPTIONS|BASH_ENV|ENV$|PYTHON|PERL5|RUBY|JAVA_TOOL|npm_config_|GIT_|PATH$|HOME$)"
)


# The methods that a weakness opens to every key.
OPENED = {
    "approval.": "approval-link-lesser-key",
    "webhooks.forward": "forward-by-lesser-key",
    "webhooks.delivery.request": "forward-by-lesser-key",
}


class Methods(Agent, Files, Chats, Connections, Authorizations, Mcp, Audio):
    def __init__(self):
        Connections.__init__(self)
        Authorizations.__init__(self)
        self.env, self.channels, self.conversations, self.shares = {}, {}, {}, {}
        self.events, self.waiting, self.provider_keys, self.programs, self.pins = [], {}, {}, {}, {}
        self.personas, self.last_address, self.links, self.files, self.buttons = {}, {}, {}, {}, {}
        self.kept, self.answered, self.remembered = {}, set(), set()

    @staticmethod
    def is_within(identity, name):
        """Returns whether the list `only` of a key contains a method or a path."""
        fits = lambda pattern: name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        return not identity.only or any(map(fits, identity.only))

    def wrong_params(self, text):
        return CallError(-32602, "INVALID_PARAMS", text)

    def audit(self, kind, who):
        with self.lock:
            count = sum(event["kind"] == kind for event in self.events)
            if count < 100 or self.weak("audit-flood"):
                self.events.append({"kind": kind, "client_ip": who, "detail": ""})

    # HTTP.

    def api(self, request, path, identity):
        if path == "/api/rpc" and request.method == "POST":
            value = self.json_body(request)
            if self.weak("secrets-in-log"):
                self.log(f"body {request.body!r}")
            if isinstance(value, list):
                return self.batch(request, value)
            return 200, [], self.call(identity, value)
        if path == "/api/gon" and request.method not in ("GET", "HEAD") and not self.weak("method-tampering"):
            return 405, [], {"code": "METHOD_NOT_ALLOWED"}
        if path.startswith("/api/gon"):
            return 200, [], {"product": "stub", "version": "9.8.7-stub", "identity": {"method": "x"}}
        if self.weak("id-traversal") and path.startswith("/api/sessions/"):
            name = unquote(path.removeprefix("/api/sessions/"))
            try:
                return 200, [], open("/tmp/" + name, "rb").read()
            except OSError:
                return 404, [], {"code": "NOT_FOUND"}
        if path == "/api/backup/stream" and request.method == "POST":
            may = identity.may(ADMIN) and self.is_within(identity, path)
            if not may and not self.weak("backup-by-lesser-key"):
                return 403, [], {"code": "FORBIDDEN"}
            return 200, [], b"a backup"
        if path.startswith("/api/sessions/") and "/audio" in path:
            return self.recording(request, path, identity)
        if "/attachments" in path:
            return self.files_of(request, path, identity)
        if path == "/api/sessions" and request.method == "GET":
            return 200, [], {"sessions": []}
        if path.startswith("/v1/audio/"):
            return self.audio(request, path, identity)
        if path in ("/v1/chat/completions", "/v1/responses"):
            return self.compat(request, path, identity)
        if path == "/metrics" and request.method == "GET":
            return 200, [("Content-Type", "text/plain")], b"# TYPE up gauge\nup 1\n"
        return 404, [], {"code": "NOT_FOUND"}

    def compat(self, request, path, identity):
        """Answers a conversation in the format of OpenAI's API."""
        if not self.is_within(identity, path) and not self.weak("compat-key-of-another-purpose"):
            return 403, [], {"code": "FORBIDDEN", "required": "only"}
        if not identity.may(WRITE) and not self.weak("compat-scope"):
            return 403, [], {"code": "FORBIDDEN"}
        body = self.json_body(request)
        text = body["input"] if "input" in body else body["messages"][-1]["content"]
        try:
            return 200, [], {"object": "response", "text": self.turn(text, body["model"])}
        except CallError as error:
            key = self.provider_keys["fake"]["key"] if self.weak("compat-error-tells-key") else ""
            return 502, [], {"error": {"message": f"{error.text} {key}"}, "code": error.code}

    def batch(self, request, calls):
        if len(calls) > 64 and not self.weak("batch-size"):
            return 400, [], {"code": "INVALID_REQUEST"}
        answers, size = [], 0
        for call in calls:
            identity = request.extra["identity"] if self.weak("batch-outlives-key") else self.identify(request)
            if identity is None:
                answers.append(
                    {"id": call.get("id"), "error": {"code": -32001, "data": {"code": "AUTH_NOT_AUTHENTICATED"}}}
                )
                continue
            answers.append(self.call(identity, call))
            size += len(json.dumps(answers[-1]))
            if size > 16 << 20 and not self.weak("batch-answer-grows"):
                return 413, [], {"code": "PAYLOAD_TOO_LARGE"}
        return 200, [], answers

    def connect(self, params, request):
        auth = params.get("auth") or {}
        for device in self.devices.values():
            if auth.get("device_token") == device.secret and self.lives(device):
                return device
        if auth.get("api_key"):
            self.audit("connect.failed", request.peer)
            return self.by_bearer(auth["api_key"], request)
        return self.loopback if auth.get("password") and self.right(auth["password"]) else None

    def shared(self, name):
        text = self.shares.get(name)
        if text is None:
            return 404, [("Content-Type", "text/plain")], b"not found"
        text = text if self.weak("share-page-injection") else html.escape(text)
        headers = [("Content-Type", "text/html"), ("x-robots-tag", "noindex")]
        return 200, headers, f"<html><body>{text}</body></html>".encode()

    # Calls.

    def call(self, identity, call):
        """Returns the response to one JSON-RPC call."""
        number = call.get("id") if isinstance(call, dict) else None
        try:
            if not isinstance(call, dict) or not isinstance(call.get("method"), str):
                raise CallError(-32600, "INVALID_REQUEST", "no method")
            return {"id": number, "result": self.do(identity, call["method"], call.get("params") or {})}
        except CallError as error:
            return {"id": number, "error": {"code": error.number, "message": error.text, "data": {"code": error.code}}}
        except Exception as error:
            text = traceback.format_exc() if self.weak("errors-tell-of-inside") else f"fault {type(error).__name__}"
            return {"id": number, "error": {"code": -32603, "message": text, "data": {"code": "FAULT"}}}

    def do(self, identity, name, params):
        handler = getattr(self, "do_" + name.replace(".", "_"), None)
        if handler is None:
            raise CallError(-32601, "METHOD_NOT_FOUND", "no such method")
        scope = SCOPES.get(name, WRITE)
        is_open = any(name.startswith(begins) and self.weak(weakness) for begins, weakness in OPENED.items())
        if not is_open and not self.is_within(identity, name):
            raise CallError(-32004, "FORBIDDEN", "only")
        if not identity.may(scope) and not self.weak("scope-call") and not is_open:
            raise CallError(-32004, "FORBIDDEN", "another scope is needed")
        return handler(identity, params)

    def do_system_status(self, identity, params):
        return {"version": "x"}

    def do_rpc_discover(self, identity, params):
        return {"methods": list(SCOPES)}

    def do_sessions_list(self, identity, params):
        limit = params.get("limit", 50)
        if not (isinstance(limit, int) and 0 < limit <= 500) and not self.weak("json-huge-number"):
            raise self.wrong_params("limit")
        return {"sessions": [], "from": int(params.get("cursor", 0))}

    def do_sessions_get(self, identity, params):
        raise CallError(-32005, "NOT_FOUND", params["id"][0:0] + "no such session")

    def do_sessions_create(self, identity, params):
        name = "ses_" + secrets.token_hex(8)
        self.conversations[name] = []
        return {"id": name}

    def do_sessions_share(self, identity, params):
        name = secrets.token_urlsafe(20)
        self.shares[name] = "\n".join(self.conversations[params["id"]])
        return {"share_id": name}

    def do_env_set(self, identity, params):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", params["key"]):
            raise self.wrong_params("key")
        self.env[params["key"]] = params["value"]
        return {"key": params["key"]}

    def do_env_list(self, identity, params):
        shown = {"value": None} if not self.weak("stored-secrets-in-answers") else self.env
        return {"env_variables": [{"key": key} | ({"value": shown[key]} if key in shown else {}) for key in self.env]}

    def do_audit_list(self, identity, params):
        return {"events": self.events[: params.get("limit", 50)]}

    def do_webhooks_create(self, identity, params):
        return self.make_webhook(params)

    def do_webhooks_list(self, identity, params):
        return {"webhooks": [self.hook_shown(hook) for hook in self.hooks.values()]}

    def do_webhooks_get(self, identity, params):
        return self.hook_shown(next(hook for hook in self.hooks.values() if hook["id"] == params["id"]))

    def hook_shown(self, hook):
        return {name: value for name, value in hook.items() if name not in ("secret", "old")}

    def do_webhooks_rotate_secret(self, identity, params):
        hook = next(hook for hook in self.hooks.values() if hook["id"] == params["id"])
        hook["old"] = (
            hook["secret"] if self.weak("webhook-rotation-overlap-zero") or params.get("overlap_seconds", 1) else None
        )
        hook["secret"] = secrets.token_hex(32)
        return {"secret": hook["secret"]}

    def do_webhooks_deliveries(self, identity, params):
        rows = [row for row in self.deliveries if row["webhook_id"] == params.get("id", row["webhook_id"])]
        return {"deliveries": rows[: params.get("limit", 50)]}

    def do_webhooks_delivery_get(self, identity, params):
        return next(row for row in self.deliveries if row["id"] == params["id"])

    def do_backup_create(self, identity, params):
        return {"name": "gatehouse.backup"}

    def do_webhooks_delete(self, identity, params):
        self.hooks = {name: hook for name, hook in self.hooks.items() if hook["id"] != params["id"]}
        return {"ok": True}

    def do_webhooks_forward(self, identity, params):
        return {"webhook_id": params["id"]}

    def do_webhooks_delivery_request(self, identity, params):
        return {"headers": []}

    def do_inbox_list(self, identity, params):
        return {"messages": list(self.messages)}

    def do_agents_create(self, identity, params):
        return {"id": "a"}

    do_chat_send = do_sessions_delete = do_agents_create

    def do_providers_list(self, identity, params):
        return {"providers": list(self.provider_keys)}

    def do_providers_set_key(self, identity, params):
        self.provider_keys[params["id"]] = {"key": params["key"], "for": self.bound_to(params["id"])}
        return {"ok": True}

    def bound_to(self, provider):
        """Returns the addresses and kind that a stored key is bound to."""
        return [
            v
            for k, v in sorted(self.settings.items())
            if f".{provider}." in k and k.endswith(("base_url", "kind", "endpoint"))
        ]

    def key_of(self, provider, weakness, kind=None):
        kept = self.provider_keys.get(provider)
        if (
            kept is None
            or kept["for"] != self.bound_to(provider)
            and not self.weak(weakness)
            and not (kind and self.weak(kind))
        ):
            return None
        return kept["key"]

    def do_ssh_keys_generate(self, identity, params):
        return {"name": params["name"], "public_key": "ssh-ed25519 AAAA"}

    def do_ssh_keys_list(self, identity, params):
        return {"ssh_keys": []}

    def do_ssh_keys_import(self, identity, params):
        if not self.weak("key-derivation-cost"):
            raise self.wrong_params("too many rounds")
        # The same queue as for logins.
        with self.derivations:
            time.sleep(7)
        raise self.wrong_params("passphrase")

    def do_pairing_create(self, identity, params):
        wanted = params.get("scopes") or [READ]
        if not all(identity.may(scope) for scope in wanted) and not self.weak("scope-mint"):
            raise CallError(-32004, "FORBIDDEN", "wider than the caller")
        maker = identity if identity.kind in ("ApiKey", "Device") else None
        device = Identity("Device", "dev_" + secrets.token_hex(6), "gd_" + secrets.token_hex(20), wanted, maker)
        self.devices[device.id] = device
        return {"id": device.id, "token": device.secret, "scopes": wanted}

    def do_pairing_list(self, identity, params):
        return {"devices": list(self.devices)}

    def do_pairing_revoke(self, identity, params):
        self.devices[params["id"]].ended = True
        return {"ok": True}

    # Settings and programs.

    def do_config_get(self, identity, params):
        hidden = not self.weak("program-arguments-shown")
        values = [
            {"key": key, "value": "••••" if hidden and key.endswith((".args", ".env")) else value}
            for key, value in self.settings.items()
        ]
        return {"values": values}

    def do_config_set(self, identity, params):
        key, value = params["key"], params["value"]
        let_in = self.weak("scope-program-settings") or self.weak("secret-host-by-lesser-key")
        if ADMIN_SETTINGS.search(key) and not identity.may(ADMIN) and not let_in:
            raise CallError(-32004, "FORBIDDEN", "needs operator.admin")
        parts = key.split(".")
        if key.endswith(".env") and not self.weak("variable-reference-steers"):
            if any(STEERING.match(name) and isinstance(text, dict) for name, text in value.items()):
                raise self.wrong_params("env")
        self.settings[key] = value
        self.audit("config.set", key)
        if parts[:2] == ["mcp", "servers"] and parts[3] in ("args", "url"):
            self.start_server(parts[2])
        return {"key": key, "value": value}

    def do_mcp_create(self, identity, params):
        for key in ("headers", "url"):
            self.do_config_set(identity, {"key": f"mcp.servers.{params['name']}.{key}", "value": params[key]})
        return {"name": params["name"]}

    def do_mcp_list(self, identity, params):
        return {"servers": [{"name": name} for name in self.programs]}

    def start_server(self, name):
        prefix = f"mcp.servers.{name}."
        if prefix + "headers" in self.settings:
            try:
                self.programs[name] = HttpServer(self, name)
            except OSError as error:
                self.log(f"the MCP server {name} cannot be used: {error}")
            return
        if prefix + "url" in self.settings:
            url, token = self.settings[prefix + "url"], self.env.get(f"MCP_{name.upper()}_TOKEN")
            first = self.last_address.setdefault(name, url)
            token = token if url == first or self.weak("key-follows-mcp-address") else None
            threading.Thread(target=self.reach, args=(url, token, "redirect-mcp"), daemon=True).start()
            return
        environment = {}
        for key, value in (self.settings.get(prefix + "env") or {}).items():
            environment[key] = self.env.get(value["vault"], "") if isinstance(value, dict) else value
        if self.weak("program-gets-all-secrets") or self.weak("variable-steers-interpreter"):
            environment |= self.env
        if name in self.programs:
            self.programs[name].stop()
        self.programs[name] = outbound.Program(
            self.settings[prefix + "command"], self.settings[prefix + "args"], environment
        )

    def stop_programs(self):
        for program in self.programs.values():
            program.stop()

    def reach(self, url, key, weakness, body=b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'):
        try:
            return outbound.call_vendor(url, key or "", body, self.weak(weakness))
        except OSError:
            return 502, b""

    def tools(self):
        """Name, description and function of each tool."""
        found = {name: (name, None, name) for name in ("calc", "web_fetch", "web_search", "webhook", "speak")}
        names = []
        for server, program in list(self.programs.items()):
            offered = program.ask("tools/list", {})["tools"]
            pinned = self.pins.setdefault(server, offered)
            for tool in offered if self.weak("tool-changes-after-approval") else [t for t in offered if t in pinned]:
                name = f"mcp__{server}__{re.sub('[^A-Za-z0-9_]', '_', tool['name'])}"
                if name not in names or self.weak("tool-names-collide"):
                    names.append(name)
                    found[name if name not in found else name + " "] = (tool["description"], program, tool["name"])
        return found

    def do_tools_list(self, identity, params):
        return {"tools": [{"name": name.strip(), "description": tool[0]} for name, tool in self.tools().items()]}

    # Channels.

    def do_channels_create(self, identity, params):
        name = "ch" + secrets.token_hex(4)
        fields = params["fields"]
        self.channels[name] = {"id": name, "type": params["type"], **fields}
        if fields.get("inbound"):
            self.receive(params["type"], fields, lambda: name in self.channels)
        return {"id": name}

    def do_channels_list(self, identity, params):
        return {"channels": list(self.channels)}

    def do_channels_update(self, identity, params):
        channel = self.channels[params["id"]]
        if params["fields"].get("url") != channel["url"] and not self.weak("key-follows-channel-address"):
            channel["headers"] = ""
        channel |= params["fields"]
        return {"id": params["id"]}

    def do_channels_delete(self, identity, params):
        self.channels.pop(params["id"], None)
        return {"ok": True}

    def do_channels_test(self, identity, params):
        self.deliver(self.channels[params["id"]], "test", {})
        return {"ok": True}

    def deliver(self, channel, text, extra):
        url = channel["url"]
        if self.weak("webhook-payload-names-target") and extra.get("url"):
            url = extra["url"]
        if channel["type"] == "ntfy":
            title = extra.get("title", "")
            if not self.weak("webhook-header-injection"):
                return outbound.send(url, "POST", {"X-Title": re.sub(r"[\x00-\x1f]", " ", title)}, text.encode())
            return outbound.send(url, "POST", {}, text.encode(), {"X-Title": title.split("\r\n\r\n")[0]})
        key = channel.get("headers", "").removeprefix("Authorization: Bearer ")
        body = json.dumps({"text": text} | extra).encode()
        return outbound.call_vendor(url, key, body, self.weak("redirect-channel"))
