"""Operations of a gateway with Gatehouse's API: HTTP for credentials, JSON-RPC for the rest."""

import json
from urllib.parse import quote

from .adapter import PASSWORD, Caller, CallFailed, Gateway, Key


class Wire(Gateway):
    """A gateway with Gatehouse's endpoints. Subclasses start one."""

    fake_model = None

    def set_up(self, password=PASSWORD, code=None):
        """Completes setup as a local caller, or with the code. Afterwards `owner` is a session."""
        local = Caller((), "127.0.0.1")
        body = {"password": password} | ({"setup_code": code} if code else {})
        reply = self.http("POST", self.paths.setup, local, body, timeout=60)
        token = reply.cookie(self.cookie)
        if not reply.ok or not token:
            raise RuntimeError(f"setup was refused: {reply.status} {reply.text[:200]}")
        self.owner = Caller((("Cookie", f"{self.cookie}={token}"),), "127.0.0.1")
        self.can_own = True

    def login(self, password, caller=None, headers=()):
        return self.http("POST", self.paths.login, caller, {"password": password}, headers, timeout=60)

    def session(self, password=PASSWORD):
        """Returns another session of the owner, as (caller, token)."""
        caller = self.stranger()
        token = self.login(password, caller).cookie(self.cookie)
        return Caller((("Cookie", f"{self.cookie}={token}"),), caller.source), token

    def make_key(self, scopes, caller=None, **fields):
        body = {"label": "gauntlet", "scopes": scopes, **fields}
        reply = self.http("POST", self.paths.keys, caller or self.need_owner(), body)
        if not reply.ok:
            raise CallFailed(reply.status, reply.code, reply.text)
        made = reply.json()
        bearer = (("Authorization", f"Bearer {made['key']}"),)
        return Key(made["id"], made["key"], Caller(bearer, self.stranger().source))

    def revoke_key(self, key):
        reply = self.http("DELETE", f"{self.paths.keys}/{key.id}", self.need_owner())
        if not reply.ok:
            raise CallFailed(reply.status, reply.code, reply.text)

    def call(self, caller, operation, params=None, timeout=60.0):
        message = {"jsonrpc": "2.0", "id": 1, "method": operation, "params": params or {}}
        reply = self.http("POST", self.paths.rpc, caller, message, timeout=timeout)
        value = reply.json()
        if not isinstance(value, dict) or "result" not in value:
            error = value.get("error") if isinstance(value, dict) else None
            if isinstance(error, dict):
                text = json.dumps(error, ensure_ascii=False)
                raise CallFailed(reply.status, error.get("data", {}).get("code", ""), text)
            raise CallFailed(reply.status, reply.code, reply.text)
        return value["result"]

    def model(self):
        if self.fake_model is None:
            self._cannot("script the gateway's model")
        return self.fake_model

    # Operations that several rows use.

    def run_tool(self, name, arguments, caller=None, timeout=90.0):
        """Makes the agent call a tool. Returns the text that the model received from the tool."""
        model = self.model()
        text = f"CALL {model.mark()} {name} {json.dumps(arguments)}"
        self.call(caller or self.need_owner(), "chat.send_sync", {"text": text}, timeout)
        return model.tool_text(text)

    def make_webhook(self, **fields):
        """Returns a webhook record with `path`."""
        made = self.call(self.need_owner(), "webhooks.create", {"name": "gauntlet", **fields})
        made["path"] = f"{self.paths.ingest}/{made['public_id']}"
        return made

    def deliver(self, webhook, body, headers=(), source=None):
        """Sends bytes to a webhook as its sender would."""
        caller = Caller((("Content-Type", "application/json"),), source or self.stranger().source)
        return self.http("POST", webhook["path"], caller, body, headers)

    def inbox(self):
        return self.call(self.need_owner(), "inbox.list", {"limit": 100})["messages"]

    def upload(self, caller, conversation, name, data, kind):
        path = f"{self.paths.conversations}/{conversation}/attachments?name={quote(name)}"
        return self.http("POST", path, caller, data, [("Content-Type", kind)])

    def file_path(self, conversation, file):
        return f"{self.paths.conversations}/{conversation}/attachments/{file}"
