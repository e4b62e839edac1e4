"""The stub's conversations through chat vendors and by mail."""

import imaplib
import json
import re
import secrets
import threading
import urllib.error
import urllib.request
from urllib.parse import quote, urlsplit

from gauntlet.ws import Socket

from . import mailbox
from .base import CallError

# How many people wait for approval at most.
MAX_WAITING = 100


def ask(method, url, body=None, form=False):
    data = None if body is None else (body if form else json.dumps(body)).encode()
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    request = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b"{}")


def connect(url):
    parts = urlsplit(url)
    return Socket((parts.hostname, parts.port), "/")


class Telegram:
    def __init__(self, fields):
        self.url = f"{fields['base_url']}/bot{fields['bot_token']}"

    def call(self, method, **body):
        return ask("POST", f"{self.url}/{method}", body)["result"]

    def events(self):
        offset = 0
        while True:
            for update in self.call("getUpdates", offset=offset, timeout=5):
                offset = update["update_id"] + 1
                if message := update.get("message"):
                    yield "message", str(message["from"]["id"]), str(message["chat"]["id"]), message["text"]
                if query := update.get("callback_query"):
                    yield "press", str(query["from"]["id"]), str(query["message"]["chat"]["id"]), query["data"]

    def send(self, chat, text, buttons):
        row = [{"text": label, "callback_data": data} for label, data in buttons.items()]
        markup = {"inline_keyboard": [row]} if row else {}
        return self.call("sendMessage", chat_id=int(chat), text=text, reply_markup=markup)["message_id"]

    def close(self, chat, message, text):
        self.call("editMessageText", chat_id=int(chat), message_id=message, text=text)


class Slack:
    def __init__(self, fields):
        self.url = f"{fields['base_url']}/api"

    def events(self):
        opened = ask("POST", f"{self.url}/apps.connections.open", "", True)
        link = connect(opened["url"])
        while True:
            envelope = link.receive(3600)
            if envelope is None:
                return
            payload = envelope.get("payload", {})
            if envelope["type"] == "events_api":
                event = payload["event"]
                yield "message", event["user"], event["channel"], event["text"]
            if envelope["type"] == "interactive":
                yield "press", payload["user"]["id"], payload["channel"]["id"], payload["actions"][0]["value"]
            if "envelope_id" in envelope:
                link.send({"envelope_id": envelope["envelope_id"]})

    @staticmethod
    def blocks(text, buttons):
        label = lambda text: {"type": "plain_text", "text": text}
        elements = [
            {"type": "button", "text": label(name), "action_id": data, "value": data} for name, data in buttons.items()
        ]
        return [{"type": "section", "text": label(text)}, {"type": "actions", "elements": elements}]

    def send(self, chat, text, buttons):
        body = {"channel": chat, "text": text} | ({"blocks": self.blocks(text, buttons)} if buttons else {})
        return ask("POST", f"{self.url}/chat.postMessage", body)["ts"]

    def close(self, chat, message, text):
        blocks = self.blocks(text, {})[:1]
        ask("POST", f"{self.url}/chat.update", {"channel": chat, "ts": message, "text": text, "blocks": blocks})


class Discord:
    def __init__(self, fields):
        self.url = f"{fields['base_url']}/api/v10"

    def events(self):
        link = connect(ask("GET", f"{self.url}/gateway/bot")["url"])
        link.send({"op": 2, "d": {"token": "t"}})
        while True:
            payload = link.receive(3600)
            if payload is None:
                return
            event = payload["d"]
            if payload["t"] == "MESSAGE_CREATE":
                yield "message", event["author"]["id"], event["channel_id"], event["content"]
            if payload["t"] == "INTERACTION_CREATE":
                yield "press", event["user"]["id"], event["channel_id"], event["data"]["custom_id"]

    def send(self, chat, text, buttons):
        row = [{"type": 2, "style": 2, "label": label, "custom_id": data} for label, data in buttons.items()]
        body = {"content": text, "components": [{"type": 1, "components": row}] if row else []}
        return ask("POST", f"{self.url}/channels/{chat}/messages", body)["id"]

    def close(self, chat, message, text):
        ask("PATCH", f"{self.url}/channels/{chat}/messages/{message}", {"content": text, "components": []})


class Matrix:
    def __init__(self, fields):
        self.url, self.asked = f"{fields['homeserver']}/_matrix/client/v3", {}

    def room(self, room):
        return f"{self.url}/rooms/{quote(room)}"

    def events(self):
        since = ""
        while True:
            synced = ask("GET", f"{self.url}/sync?since={since or 0}")
            since = synced["next_batch"]
            for room, invited in synced["rooms"]["invite"].items():
                ask("POST", f"{self.room(room)}/join", {})
                yield "message", invited["invite_state"]["events"][0]["sender"], room, "hello"
            for room, joined in synced["rooms"]["join"].items():
                for event in joined["timeline"]["events"]:
                    relation = event["content"].get("m.relates_to")
                    if relation:
                        data = self.asked.get((relation["event_id"], relation["key"]), "")
                        yield "press", event["sender"], room, data
                    else:
                        yield "message", event["sender"], room, event["content"]["body"]

    def put(self, chat, kind, content):
        return ask("PUT", f"{self.room(chat)}/send/{kind}/{secrets.token_hex(8)}", content)["event_id"]

    def send(self, chat, text, buttons):
        message = self.put(chat, "m.room.message", {"msgtype": "m.text", "body": text})
        for label, data in buttons.items():
            self.asked[message, label] = data
            relation = {"rel_type": "m.annotation", "event_id": message, "key": label}
            reaction = self.put(chat, "m.reaction", {"m.relates_to": relation})
            self.asked.setdefault(message, []).append(reaction)
        return message

    def close(self, chat, message, text):
        relation = {"rel_type": "m.replace", "event_id": message}
        self.put(
            chat, "m.room.message", {"body": text, "m.new_content": {"body": text}, "m.relates_to": relation}
        )
        for reaction in self.asked[message]:
            ask("PUT", f"{self.room(chat)}/redact/{quote(reaction)}/x", {})


VENDORS = {"telegram": Telegram, "slack": Slack, "discord": Discord, "matrix": Matrix}


class Chats:
    """People and their questions. Part of the stub."""

    def receive(self, kind, fields, is_running):
        """Receives the messages of a channel in the background."""
        self.people, self.codes = {}, {}
        vendor = mailbox.Email(fields, self, is_running) if kind == "email" else VENDORS[kind](fields)
        threading.Thread(target=self.converse_through, args=(kind, vendor), daemon=True).start()

    def converse_through(self, kind, vendor):
        try:
            for what, person, chat, text in vendor.events():
                handle = self.chat_message if what == "message" else self.chat_press
                # A turn may wait for a press.
                arguments = (handle, kind, vendor, person, chat, text)
                target = threading.Thread(target=self.handle_chat, args=arguments, daemon=True)
                target.start()
                if what == "press" or "CALL" not in text:
                    target.join()
        except (OSError, urllib.error.URLError, ConnectionError, imaplib.IMAP4.error):
            return

    @staticmethod
    def handle_chat(handle, *arguments):
        try:
            handle(*arguments)
        except OSError:
            # The row has ended.
            return

    def chat_message(self, kind, vendor, person, chat, text):
        if person not in self.people and not self.weak(f"inbound-{kind}-stranger"):
            is_new = person not in self.codes.values() and len(self.codes) < MAX_WAITING
            if is_new or self.weak(f"inbound-{kind}-rows"):
                code = secrets.token_hex(4).upper()
                self.codes[code] = person
                vendor.send(chat, f"Your pairing code is {code}. The owner can approve it.", {})
            return
        if person not in self.people and text == "hello":
            code = secrets.token_hex(4).upper()
            self.codes[code] = person
            vendor.send(chat, f"Your pairing code is {code}. The owner can approve it.", {})
            return
        threading.current_thread().asks = (kind, vendor, person, chat)
        vendor.send(chat, self.turn(text), {})

    def ask_in_chat(self, record):
        """Asks the person of the turn. Returns a function that shows the result."""
        asks = getattr(threading.current_thread(), "asks", None)
        if asks is None:
            return lambda allowed: None
        _, vendor, person, chat = asks
        buttons = {label: secrets.token_hex(16) for label in ("Allow", "Deny")}
        for label, data in buttons.items():
            self.buttons[data] = (record["id"], person, label == "Allow")
        message = vendor.send(chat, json.dumps(record["arguments"]), buttons)
        return lambda allowed: vendor.close(chat, message, "Allowed." if allowed else "Denied.")

    def chat_press(self, kind, vendor, person, chat, data):
        number, asked, allow = self.buttons.get(data, (None, None, False))
        if number not in self.waiting:
            return
        if person == asked or self.weak(f"buttons-{kind}-stranger"):
            entry = self.waiting.pop(number)
            entry[2] = allow
            entry[1].set()

    def do_pairing_people(self, identity, params):
        people = [{"id": person, "person": person, "code": code} for code, person in self.codes.items()]
        paired = [{"id": person, "person": person, "trusted": trusted} for person, trusted in self.people.items()]
        return {"people": people + paired}

    def need_trust(self, identity, params):
        is_weak = self.weak("inbound-trusted-by-lesser-key")
        if params.get("trusted") and not identity.may("operator.admin") and not is_weak:
            raise CallError(-32004, "FORBIDDEN", "operator.admin is needed")

    def do_pairing_trust(self, identity, params):
        self.need_trust(identity, params)
        self.people[params["id"]] = params["trusted"]
        return {"ok": True}

    def do_pairing_approve(self, identity, params):
        self.need_trust(identity, params)
        wanted = params["code"]
        weak = any(self.weak(f"inbound-{kind}-code-guessed") for kind in VENDORS)
        for code, person in list(self.codes.items()):
            if code == wanted or weak and re.match(re.escape(wanted), code):
                self.people[person] = params.get("trusted", False)
                del self.codes[code]
                return {"person": person}
        raise CallError(-32005, "NOT_FOUND", "no such code")
