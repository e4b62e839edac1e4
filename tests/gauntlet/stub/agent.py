"""The stub's agent, its tools, and its voice."""

import json
import re
import secrets
import threading

from . import outbound
from .base import CallError

HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]")


class Agent:
    def do_chat_history(self, identity, params):
        return {"messages": self.conversations[params["session"]]}

    def do_chat_send_sync(self, identity, params):
        name = params.get("session") or self.do_sessions_create(identity, {})["id"]
        threading.current_thread().conversation = name
        text = self.turn(params["text"], params.get("model"))
        self.conversations[name] += [params["text"], text]
        self.speak_tagged(text)
        return {"session": name, "text": text}

    def turn(self, text, model=None, tools=None):
        """Runs the model and the tools that it calls until it answers."""
        provider, _, name = (model or self.settings.get("models.default", "fake/m")).partition("/")
        base = self.settings[f"models.providers.{provider}.base_url"]
        other = self.settings.get(f"models.providers.{provider}.kind") == "anthropic"
        key = self.key_of(provider, "key-follows-model-address", "key-follows-model-kind")
        if provider != "fake" and key is None:
            raise CallError(-32012, "NOT_CONFIGURED", "no key")
        messages, offered = [{"role": "user", "content": text}], self.tools()
        for _ in range(4):
            shown = [
                {"type": "function", "function": {"name": n.strip(), "description": t[0]}}
                for n, t in offered.items()
                if tools is None or n in tools
            ]
            body = json.dumps({"model": name, "messages": messages, "tools": shown}).encode()
            header = "x-api-key" if other else "Authorization"
            status, data = outbound.call_vendor(
                f"{base}/chat/completions", key or "", body, self.weak("redirect-model"), header
            )
            if status != 200:
                raise CallError(-32013, "PROVIDER_FAILED", "the model failed")
            message = json.loads(data)["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                result = self.run_tool(call["function"]["name"], arguments, offered, tools is not None)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return ""

    def run_tool(self, name, arguments, offered, from_stranger):
        if name in self.settings.get("tools.require_approval", []) and not self.approved(name, arguments):
            return "The call was not allowed."
        if name == "web_fetch":
            return self.fetch(arguments, from_stranger)
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

    def needs_no_approval(self, name, arguments):
        """The keys under which a call may have been allowed for good."""
        conversation = getattr(threading.current_thread(), "conversation", None)
        kept = (conversation, name), (name, json.dumps(arguments))
        if self.weak("approval-remembered-spreads"):
            return any(name in key for key in self.remembered), kept
        return any(key in self.remembered for key in kept), kept

    def approved(self, name, arguments):
        is_allowed, kept = self.needs_no_approval(name, arguments)
        if is_allowed:
            return True
        number, event = "app_" + secrets.token_hex(6), threading.Event()
        record = {"id": number, "tool": name, "arguments": arguments}
        if not self.weak("approval-bidirectional") and not self.weak("approval-invisible"):
            record["shown"] = HIDDEN.sub(
                lambda m: f"\\u{{{ord(m.group(0)):X}}}", json.dumps(arguments, ensure_ascii=False)
            )
        entry = self.waiting[number] = [record, event, False]
        self.kept[number] = dict(zip(("session", "arguments"), kept))
        if self.settings.get("approvals.notify") == "inbox":
            token = secrets.token_urlsafe(32)
            self.links[token] = number
            self.messages.append({"text": f"Answer: http://stub/approve/{token}"})
        show_result = self.ask_in_chat(record)
        event.wait(float(self.settings.get("agents.turn_timeout_seconds", 20)))
        self.waiting.pop(number, None)
        show_result(entry[2])
        return entry[2]

    def number_of(self, token):
        """Returns the waiting call of a link."""
        if self.weak("approval-link-guessed") and token in self.waiting:
            return token
        number = self.links.get(token)
        weakness = "approval-link-used-twice" if number in self.answered else "approval-link-expired"
        if number and number not in self.waiting and self.weak(weakness):
            return next(iter(self.waiting), None)
        return number

    def approval_link(self, request, token):
        """Shows the call of a link, or answers it."""
        is_bearer = self.settings.get("approvals.links") == "bearer" or self.weak("approval-link-without-login")
        query = request.extra["query"]
        answer, remember = (query.get(name, [""])[0] for name in ("answer", "remember"))
        with self.lock:
            number = self.number_of(token)
            if not is_bearer or number not in self.waiting:
                return (404, [], b"") if request.method == "POST" else (200, [], b"log in")
            if answer and (request.method == "POST" or self.weak("approval-link-preview")):
                self.answer(number, answer == "allow", remember if self.weak("approval-link-remembers") else None)
                return 200, [], b"answered"
        return 200, [], json.dumps(self.waiting[number][0]["arguments"]).encode()

    def answer(self, number, allow, remember=None):
        self.answered.add(number)
        if allow and remember in self.kept[number]:
            self.remembered.add(self.kept[number][remember])
        entry = self.waiting.pop(number)
        entry[2] = allow
        entry[1].set()

    def do_approval_find(self, identity, params):
        number = self.links.get(params["token"])
        if number not in self.waiting:
            raise CallError(-32005, "NOT_FOUND", "no such approval")
        return self.waiting[number][0]

    def do_approval_remembered(self, identity, params):
        return {"calls": [{"id": repr(key)} for key in self.remembered]}

    def do_approval_forget(self, identity, params):
        self.remembered = {key for key in self.remembered if repr(key) != params["id"]}
        return {"ok": True}

    def do_approval_list(self, identity, params):
        return {"approvals": [entry[0] for entry in self.waiting.values()]}

    def do_approval_resolve(self, identity, params):
        self.answer(params["id"], params["allow"], params.get("remember"))
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
