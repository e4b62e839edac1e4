"""The stub's methods, its agent, and what the agent calls."""

import html
import json
import re
import secrets
import threading
import time
import traceback

from . import jsontext, outbound

READ, WRITE, ADMIN, APPROVE, PAIR = (f"operator.{name}" for name in ("read", "write", "admin", "approvals", "pairing"))
SCOPES = {
    "system.status": None, "rpc.discover": None, "sessions.list": READ, "sessions.get": READ, "webhooks.deliveries": READ, "webhooks.delivery.get": READ,
    "webhooks.get": READ, "webhooks.list": READ, "config.get": READ, "env.list": READ, "inbox.list": READ, "tools.list": READ, "chat.history": READ,
    "providers.list": READ, "channels.list": READ, "ssh_keys.list": READ, "audit.list": ADMIN, "approval.list": APPROVE, "approval.resolve": APPROVE,
    "pairing.list": PAIR, "pairing.create": PAIR, "pairing.revoke": PAIR,
}
ADMIN_SETTINGS = re.compile(r"^(mcp|server|proxy|network|auth|vault|database)\.|base_url|endpoint|binary_path|\.kind$|require_approval")
STEERING = re.compile(r"^(LD_|DYLD_|NODE_OPTIONS|BASH_ENV|ENV$|PYTHON|PERL5|RUBY|JAVA_TOOL|npm_config_|GIT_|PATH$|HOME$)")
HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]")
KEPT = {"tools.web_search": "TAVILY_API_KEY"}


class Methods:
    def __init__(self):
        self.env, self.channels, self.conversations, self.shares = {}, {}, {}, {}
        self.events, self.waiting, self.provider_keys, self.programs, self.pins = [], {}, {}, {}, {}
        self.personas, self.last_address = {}, {}

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
            from urllib.parse import unquote

            name = unquote(path.removeprefix("/api/sessions/"))
            try:
                return 200, [], open("/tmp/" + name, "rb").read()
            except OSError:
                return 404, [], {"code": "NOT_FOUND"}
        if path == "/api/sessions" and request.method == "GET":
            return 200, [], {"sessions": []}
        if path == "/v1/audio/transcriptions":
            return self.transcribe(request)
        if path == "/metrics":
            return 200, [("Content-Type", "text/plain")], b"up 1\n"
        return 404, [], {"code": "NOT_FOUND"}

    def transcribe(self, request):
        mark = re.search("boundary=(.*)", request.header("content-type"))
        parts = request.body.split(b"--" + mark.group(1).encode()) if mark else []
        if len(parts) > 100 and not self.weak("multipart-parts"):
            return 400, [], {"code": "INVALID_REQUEST"}
        return 200, [], {"fields": [part.decode() for part in parts][:1]}

    def batch(self, request, calls):
        if len(calls) > 64 and not self.weak("batch-size"):
            return 400, [], {"code": "INVALID_REQUEST"}
        answers, size = [], 0
        for call in calls:
            identity = request.extra["identity"] if self.weak("batch-outlives-key") else self.identify(request)
            if identity is None:
                answers.append({"id": call.get("id"), "error": {"code": -32001, "data": {"code": "AUTH_NOT_AUTHENTICATED"}}})
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
        """The answer to one call of JSON-RPC."""
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
        if not identity.may(scope) and not self.weak("scope-call"):
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
        hook["old"] = hook["secret"] if self.weak("webhook-rotation-overlap-zero") or params.get("overlap_seconds", 1) else None
        hook["secret"] = secrets.token_hex(32)
        return {"secret": hook["secret"]}

    def do_webhooks_deliveries(self, identity, params):
        rows = [row for row in self.deliveries if row["webhook_id"] == params.get("id", row["webhook_id"])]
        return {"deliveries": rows[: params.get("limit", 50)]}

    def do_webhooks_delivery_get(self, identity, params):
        return next(row for row in self.deliveries if row["id"] == params["id"])

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
        """What a stored key belongs to: addresses and kind at the time."""
        return [v for k, v in sorted(self.settings.items()) if f".{provider}." in k and k.endswith(("base_url", "kind", "endpoint"))]

    def key_of(self, provider, weakness, kind=None):
        kept = self.provider_keys.get(provider)
        if kept is None or kept["for"] != self.bound_to(provider) and not self.weak(weakness) and not (kind and self.weak(kind)):
            return None
        return kept["key"]

    def do_ssh_keys_generate(self, identity, params):
        return {"name": params["name"], "public_key": "ssh-ed25519 AAAA"}

    def do_ssh_keys_list(self, identity, params):
        return {"ssh_keys": []}

    def do_ssh_keys_import(self, identity, params):
        if not self.weak("key-derivation-cost"):
            raise self.wrong_params("too many rounds")
        # The same queue as that of the logins.
        with self.derivations:
            time.sleep(7)
        raise self.wrong_params("passphrase")

    def do_pairing_create(self, identity, params):
        from .gateway import Identity

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
        values = [{"key": key, "value": "••••" if hidden and key.endswith((".args", ".env")) else value} for key, value in self.settings.items()]
        return {"values": values}

    def do_config_set(self, identity, params):
        key, value = params["key"], params["value"]
        if ADMIN_SETTINGS.search(key) and not identity.may(ADMIN) and not self.weak("scope-program-settings"):
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

    def start_server(self, name):
        prefix = f"mcp.servers.{name}."
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
        self.programs[name] = outbound.Program(self.settings[prefix + "command"], self.settings[prefix + "args"], environment)

    def stop_programs(self):
        for program in self.programs.values():
            program.stop()

    def reach(self, url, key, weakness, body=b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'):
        try:
            return outbound.call_vendor(url, key or "", body, self.weak(weakness))
        except OSError:
            return 502, b""

    def tools(self):
        """Name, description and what calls it."""
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
        self.channels[name] = {"id": name, "type": params["type"], **params["fields"]}
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

    # The agent.

    def do_chat_history(self, identity, params):
        return {"messages": self.conversations[params["session"]]}

    def do_chat_send_sync(self, identity, params):
        name = params.get("session") or self.do_sessions_create(identity, {})["id"]
        text = self.turn(params["text"], params.get("model"))
        self.conversations[name] += [params["text"], text]
        self.speak_tagged(text)
        return {"session": name, "text": text}

    def turn(self, text, model=None, tools=None):
        """Runs the model, and the tools that it calls, until it answers."""
        provider, _, name = (model or self.settings.get("models.default", "fake/m")).partition("/")
        base = self.settings[f"models.providers.{provider}.base_url"]
        other = self.settings.get(f"models.providers.{provider}.kind") == "anthropic"
        key = self.key_of(provider, "key-follows-model-address", "key-follows-model-kind")
        if provider != "fake" and key is None:
            raise CallError(-32012, "NOT_CONFIGURED", "no key")
        messages, offered = [{"role": "user", "content": text}], self.tools()
        for _ in range(4):
            shown = [
                {"type": "function", "function": {"name": n.strip(), "description": t[0]}} for n, t in offered.items() if tools is None or n in tools
            ]
            body = json.dumps({"model": name, "messages": messages, "tools": shown}).encode()
            header = "x-api-key" if other else "Authorization"
            status, data = outbound.call_vendor(f"{base}/chat/completions", key or "", body, self.weak("redirect-model"), header)
            if status != 200:
                raise CallError(-32013, "PROVIDER_FAILED", "the model failed")
            message = json.loads(data)["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                result = self.run_tool(call["function"]["name"], arguments, offered)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return ""

    def run_tool(self, name, arguments, offered):
        if name in self.settings.get("tools.require_approval", []) and not self.approved(name, arguments):
            return "The call was not allowed."
        if name == "web_fetch":
            return outbound.web_fetch(self, arguments["url"])
        if name == "web_search":
            return self.search()
        _, program, inside = offered.get(name, (None, None, None))
        if program is None:
            return "no such tool"
        return program.ask("tools/call", {"name": inside, "arguments": arguments})["content"][0]["text"]

    def search(self):
        url = self.settings["tools.web_search.base_url"]
        first = self.last_address.setdefault("search", url)
        key = self.env["TAVILY_API_KEY"] if url == first or self.weak("key-follows-search-address") else ""
        self.reach(url, key, "redirect-search", b'{"query":"x"}')
        return "found"

    def approved(self, name, arguments):
        number, event = "app_" + secrets.token_hex(6), threading.Event()
        record = {"id": number, "tool": name, "arguments": arguments}
        if not self.weak("approval-bidirectional") and not self.weak("approval-invisible"):
            record["shown"] = HIDDEN.sub(lambda m: f"\\u{{{ord(m.group(0)):X}}}", json.dumps(arguments, ensure_ascii=False))
        self.waiting[number] = [record, event, False]
        event.wait(20)
        return self.waiting.pop(number)[2]

    def do_approval_list(self, identity, params):
        return {"approvals": [entry[0] for entry in self.waiting.values()]}

    def do_approval_resolve(self, identity, params):
        self.waiting[params["id"]][2] = params["allow"]
        self.waiting[params["id"]][1].set()
        return {"ok": True}

    # Voice.

    def do_tts_convert(self, identity, params):
        url = self.settings["voice.tts.tts_cloud_2.base_url"]
        key = self.key_of("tts_cloud_2", "key-follows-voice-address")
        if key is None:
            raise CallError(-32012, "NOT_CONFIGURED", "no key")
        body = json.dumps({"input": params["text"]}).encode()
        self.reach(f"{url}/audio/speech", key, "redirect-voice", body)
        return {"ok": True}

    def do_voice_personas_create(self, identity, params):
        self.personas[params["id"]] = params
        return {"id": params["id"]}

    def speak_tagged(self, text):
        tag = re.search(r"\[\[tts:persona=(\w+)\]\]", text or "")
        if not tag or self.settings.get("voice.tts.auto") != "tagged":
            return
        provider = self.settings["voice.tts.provider"]
        if self.weak("answer-markup-moves-vendor"):
            provider = self.personas[tag.group(1)]["provider"]
        key = "base_url" if provider.startswith("tts_cloud") else "endpoint"
        self.reach(self.settings[f"voice.tts.{provider}.{key}"], "", "redirect-voice", text.encode())


class CallError(Exception):
    def __init__(self, number, code, text):
        super().__init__(text)
        self.number, self.code, self.text = number, code, text
