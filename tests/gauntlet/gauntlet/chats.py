"""Local servers that act as chat vendors for one bot. What a person sees is in `messages`."""

import base64
import hashlib
import json
import socket
import threading
from urllib.parse import parse_qs, unquote, urlsplit

from .recorder import Recorder
from .ws import frame, take

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
JSON = {"Content-Type": "application/json"}


def ok(value, status=200):
    return status, JSON, json.dumps(value).encode()


class Peer:
    """The server's end of a WebSocket."""

    def __init__(self, peer):
        self.peer, self.data, self.lock = peer, b"", threading.Lock()

    def open(self):
        while b"\r\n\r\n" not in self.data:
            self.data += self.more()
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        lines = [line.partition(b":") for line in head.split(b"\r\n")]
        key = next(value.strip() for name, _, value in lines if name.lower() == b"sec-websocket-key")
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        answer = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        self.peer.sendall(answer.encode())

    def more(self):
        part = self.peer.recv(65536)
        if not part:
            raise ConnectionError
        return part

    def send(self, value):
        with self.lock:
            self.peer.sendall(frame(json.dumps(value).encode(), masked=False))

    def receive(self):
        while True:
            taken = take(self.data)
            if taken is None:
                self.data += self.more()
                continue
            (opcode, _, _, payload), self.data = taken
            if opcode == 8:
                raise ConnectionError
            if opcode == 9:
                with self.lock:
                    self.peer.sendall(frame(payload, 10, masked=False))
            if opcode == 1:
                return json.loads(payload)


class Chat:
    """What the vendors share. Subclasses implement the wire format."""

    kind = person = other = ""

    def __init__(self):
        self.changed, self.messages, self.events, self.read = threading.Condition(), [], [], 0
        self.recorder = Recorder(self.answer)
        self.url = self.recorder.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.recorder.__exit__()

    def post(self, chat, text, buttons):
        with self.changed:
            message = {"id": str(len(self.messages) + 1), "chat": chat, "text": text, "buttons": buttons}
            self.messages.append(message)
            self.changed.notify_all()
            return message

    def edit(self, number, text=None, buttons=None):
        with self.changed:
            message = self.messages[int(number) - 1]
            message["text"] = message["text"] if text is None else text
            message["buttons"] = message["buttons"] if buttons is None else buttons
            self.changed.notify_all()

    def happen(self, event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()
            return len(self.events)

    def wait(self, found, seconds=60.0):
        """Returns the first message that `found` accepts."""
        fits = lambda: next((message for message in self.messages if found(message)), None)
        with self.changed:
            message = self.changed.wait_for(fits, seconds)
        if message is None:
            raise RuntimeError(f"the message did not come; the bot sent {self.messages}")
        return message

    def since(self, number, seconds):
        """Returns the events from a number on, once there are some or the time has passed."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.events) > number, seconds)
            return list(enumerate(self.events))[number:]

    def listen(self):
        """Accepts WebSockets. Returns their address."""
        server = socket.create_server(("127.0.0.1", 0))

        def serve(peer):
            try:
                link = Peer(peer)
                link.open()
                self.serve(link)
            except (OSError, ConnectionError):
                pass
            finally:
                peer.close()

        def accept():
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"ws://127.0.0.1:{server.getsockname()[1]}"


class Telegram(Chat):
    kind, person, other = "telegram", "42", "43"

    def fields(self):
        return {"bot_token": "1:abc", "base_url": self.url, "inbound": True}

    def write(self, person, text):
        sender = {"id": int(person), "is_bot": False, "first_name": f"P{person}"}
        chat = {"id": int(person), "type": "private"}
        number = len(self.events) + 1
        self.happen({"message": {"message_id": number, "date": 1, "from": sender, "chat": chat, "text": text}})

    def press(self, person, message, data):
        sender = {"id": int(person), "is_bot": False, "first_name": f"P{person}"}
        shown = {
            "message_id": int(message["id"]),
            "date": 1,
            "chat": {"id": int(message["chat"]), "type": "private"},
        }
        query = {"id": f"q{len(self.events)}", "from": sender, "message": shown, "chat_instance": "1", "data": data}
        self.happen({"callback_query": query})

    @staticmethod
    def buttons(body):
        rows = body.get("reply_markup", {}).get("inline_keyboard", [])
        return {button["text"]: button["callback_data"] for row in rows for button in row}

    def answer(self, hit):
        method, body = hit.path.rsplit("/", 1)[1], json.loads(hit.body or b"{}")
        result = True
        if method == "getMe":
            result = {"id": 9, "is_bot": True, "username": "bot"}
        if method == "getUpdates":
            found = self.since(max(body.get("offset", 1) - 1, 0), 5)
            result = [{"update_id": number + 1} | event for number, event in found]
        if method == "sendMessage":
            sent = self.post(str(body["chat_id"]), body["text"], self.buttons(body))
            result = {"message_id": int(sent["id"]), "text": sent["text"], "chat": {"id": body["chat_id"]}}
        if method in ("editMessageText", "editMessageReplyMarkup"):
            self.edit(body["message_id"], body.get("text"), self.buttons(body))
        return ok({"ok": True, "result": result})


class Slack(Chat):
    kind, person, other = "slack", "U1", "U2"

    def __init__(self):
        super().__init__()
        self.socket_url = self.listen()

    def fields(self):
        return {"bot_token": "xoxb-1", "app_token": "xapp-1", "base_url": self.url, "inbound": True}

    def write(self, person, text):
        number = len(self.events)
        event = {"type": "message", "channel": f"D{person}", "channel_type": "im", "user": person, "text": text}
        payload = {"type": "event_callback", "event": event | {"ts": f"1.{number}"}}
        self.happen({"type": "events_api", "payload": payload})

    def press(self, person, message, data):
        payload = {
            "type": "block_actions",
            "user": {"id": person},
            "channel": {"id": message["chat"]},
            "container": {"type": "message", "message_ts": message["id"], "channel_id": message["chat"]},
            "message": {"ts": message["id"], "blocks": []},
            "actions": [{"type": "button", "action_id": data, "value": data}],
        }
        self.happen({"type": "interactive", "payload": payload})

    @staticmethod
    def shown(body):
        blocks = body.get("blocks", [])
        elements = [element for block in blocks for element in block.get("elements", [])]
        texts = [block["text"]["text"] for block in blocks if "text" in block]
        return "\n".join(texts) or body["text"], {e["text"]["text"]: e["value"] for e in elements}

    def answer(self, hit):
        method = hit.path.rsplit("/", 1)[1]
        if method == "apps.connections.open":
            return ok({"ok": True, "url": self.socket_url})
        if method == "auth.test":
            return ok({"ok": True, "user_id": "UBOT"})
        if method == "users.info":
            return ok({"ok": True, "user": {"name": "p"}})
        body = json.loads(hit.body)
        if method == "chat.postMessage":
            sent = self.post(body["channel"], *self.shown(body))
            return ok({"ok": True, "channel": body["channel"], "ts": sent["id"], "message": body})
        if method == "chat.update":
            self.edit(body["ts"], *self.shown(body))
        return ok({"ok": True})

    def serve(self, link):
        link.send({"type": "hello"})
        while True:
            for number, event in self.since(self.read, 1):
                link.send({"envelope_id": str(number), **event})
                while link.receive().get("envelope_id") != str(number):
                    pass
                self.read = number + 1


class Discord(Chat):
    kind, person, other = "discord", "42", "43"

    def __init__(self):
        super().__init__()
        self.socket_url = self.listen()

    def fields(self):
        return {"bot_token": "t", "base_url": self.url, "inbound": True}

    def write(self, person, text):
        message = {"id": str(5000 + len(self.events)), "channel_id": f"1{person}", "type": 0, "content": text}
        author = {"id": person, "username": f"p{person}"}
        self.happen(("MESSAGE_CREATE", message | {"author": author, "mentions": []}))

    def press(self, person, message, data):
        interaction = {
            "id": str(7000 + len(self.events)),
            "token": "t",
            "type": 3,
            "context": 1,
            "channel_id": message["chat"],
            "user": {"id": person, "username": "p"},
            "message": {"id": message["id"]},
            "data": {"custom_id": data, "component_type": 2},
        }
        self.happen(("INTERACTION_CREATE", interaction))

    @staticmethod
    def buttons(body):
        if "components" not in body:
            return None
        return {b["label"]: b["custom_id"] for row in body["components"] for b in row["components"]}

    def answer(self, hit):
        path = urlsplit(hit.path).path.split("/")
        if path[-1] == "bot":
            limit = {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1}
            return ok({"url": self.socket_url, "shards": 1, "session_start_limit": limit})
        if path[-1] in ("typing", "callback"):
            return 204, {}, b""
        body = json.loads(hit.body or b"{}")
        if hit.method == "POST":
            sent = self.post(path[-2], body["content"], self.buttons(body) or {})
            return ok({"id": sent["id"], "content": sent["text"]})
        self.edit(path[-1], body.get("content"), self.buttons(body))
        return ok({"id": path[-1]})

    def serve(self, link):
        link.send({"op": 10, "d": {"heartbeat_interval": 20000}, "s": None, "t": None})
        while link.receive()["op"] not in (2, 6):
            pass
        user = {"id": "900", "username": "bot", "bot": True}
        ready = {"v": 10, "session_id": "s", "resume_gateway_url": self.socket_url, "user": user, "guilds": []}
        link.send({"op": 0, "t": "READY", "s": 1, "d": ready})
        threading.Thread(target=self.beat, args=(link,), daemon=True).start()
        while True:
            for number, (name, event) in self.since(self.read, 1):
                link.send({"op": 0, "t": name, "s": number + 2, "d": event})
                self.read = number + 1

    @staticmethod
    def beat(link):
        try:
            while True:
                if link.receive()["op"] == 1:
                    link.send({"op": 11, "d": None})
        except (OSError, ConnectionError):
            pass


class Matrix(Chat):
    kind, person, other = "matrix", "@p:a.example", "@other:b.example"
    bot = "@bot:a.example"

    def __init__(self):
        self.members, self.reactions = {}, []
        super().__init__()

    def fields(self):
        return {"homeserver": self.url, "access_token": "t", "inbound": True}

    @staticmethod
    def room(person):
        return f"!{person[1:].split(':')[0]}:a"

    def write(self, person, text):
        room = self.room(person)
        if room not in self.members:
            self.members[room] = {person}
            self.happen({"invite": room, "by": person})
        else:
            self.say(room, person, "m.room.message", {"msgtype": "m.text", "body": text})

    def say(self, room, person, kind, content):
        event = {"type": kind, "event_id": f"$e{len(self.events)}", "sender": person, "content": content}
        return self.happen({"room": room, "event": event})

    def press(self, person, message, data):
        room = message["chat"]
        is_guest = person not in self.members[room]
        self.members[room].add(person)
        relation = {"rel_type": "m.annotation", "event_id": f"$m{message['id']}", "key": data}
        number = self.say(room, person, "m.reaction", {"m.relates_to": relation})
        with self.changed:
            self.changed.wait_for(lambda: self.read >= number, 60)
        if is_guest:
            self.members[room].remove(person)

    def answer(self, hit):
        url = urlsplit(hit.path)
        path, query = [unquote(part) for part in url.path.split("/")[4:]], parse_qs(url.query)
        if path[-1] == "whoami":
            return ok({"user_id": self.bot})
        if path[0] == "sync":
            return ok(self.sync(query))
        room, verb, rest = path[1], path[2], path[3:]
        if verb == "join":
            self.members[room].add(self.bot)
        if verb == "joined_members":
            return ok({"joined": {user: {"display_name": user} for user in sorted(self.members[room])}})
        if verb == "event":
            message = self.messages[int(rest[0][2:]) - 1] if rest[0].startswith("$m") else None
            return ok(message["event"]) if message else ok({"errcode": "M_NOT_FOUND"}, 404)
        if verb == "relations":
            return ok({"chunk": [r for r in self.reactions if self.target(r["content"]) == rest[0]]})
        if verb == "redact":
            self.redact(rest[0])
        if verb == "send":
            return ok({"event_id": self.send(room, rest[0], json.loads(hit.body))})
        return ok({"room_id": room})

    @staticmethod
    def target(content):
        return content["m.relates_to"]["event_id"]

    def sync(self, query):
        since = int(query["since"][0]) if "since" in query else 0
        with self.changed:
            self.read = max(self.read, since)
            self.changed.notify_all()
        found = self.since(since, 5 if "since" in query else 0)
        joined, invited = {}, {}
        for _, event in found:
            if "invite" in event:
                content = {"membership": "invite", "is_direct": True}
                own = {"type": "m.room.member", "sender": event["by"], "state_key": self.bot, "content": content}
                invited[event["invite"]] = {"invite_state": {"events": [own]}}
            else:
                joined.setdefault(event["room"], []).append(event["event"])
        rooms = {room: {"timeline": {"events": events, "limited": False}} for room, events in joined.items()}
        return {"next_batch": str(since + len(found)), "rooms": {"join": rooms, "invite": invited}}

    def send(self, room, kind, content):
        relation = content.get("m.relates_to", {})
        if kind == "m.reaction":
            number = int(self.target(content)[2:])
            identifier = f"$r{len(self.reactions)}"
            event = {"type": kind, "event_id": identifier, "sender": self.bot, "content": content}
            if all(r["content"]["m.relates_to"] != relation for r in self.reactions):
                self.reactions.append(event)
            self.edit(number, buttons=self.messages[number - 1]["buttons"] | {relation["key"]: relation["key"]})
            return identifier
        if relation.get("rel_type") == "m.replace":
            self.edit(self.target(content)[2:], content["m.new_content"]["body"])
            return "$edit"
        sent = self.post(room, content["body"], {})
        identifier = f"$m{sent['id']}"
        sent["event"] = {"type": kind, "event_id": identifier, "sender": self.bot, "content": content}
        return identifier

    def redact(self, identifier):
        gone = [r for r in self.reactions if r["event_id"] == identifier]
        self.reactions = [r for r in self.reactions if r not in gone]
        for reaction in gone:
            self.edit(self.target(reaction["content"])[2:], buttons={})


ALL = (Telegram, Slack, Discord, Matrix)
