"""The operations that rows use on a gateway. A row does not apply if the adapter lacks an operation."""

import itertools
import json
import threading
from dataclasses import dataclass, field, replace

from . import http, ws
from .model import NotApplicable

PASSWORD = "correct horse battery staple"
_sources = itertools.count(1)
_lock = threading.Lock()


def new_source():
    """Returns a loopback address that no other row sends from, so that rows do not share a throttle."""
    with _lock:
        number = next(_sources)
    return f"127.{60 + number // 62500}.{number // 250 % 250}.{number % 250 + 1}"


@dataclass(frozen=True)
class Caller:
    """The sender of a request: headers with a credential, and a source address."""

    headers: tuple = ()
    source: str | None = None

    def but(self, *headers, source=None):
        """Returns the same caller with additional headers or another source address."""
        return replace(self, headers=(*self.headers, *headers), source=source or self.source)


@dataclass(frozen=True)
class Key:
    id: str
    secret: str
    caller: Caller


class CallFailed(Exception):
    """An operation was refused. `code` is the gateway's error code."""

    def __init__(self, status, code, text):
        super().__init__(f"{status} {code} {text[:200]}")
        self.status, self.code, self.text = status, code, text


@dataclass
class Paths:
    public: str = "/health"
    protected: str = "/api/gon"
    # A member of the JSON object that `protected` returns.
    marker: str = "identity"
    page: str = "/"
    assets: str = "/assets"
    login: str = "/api/auth/login"
    setup: str = "/api/auth/setup"
    logout: str = "/api/auth/logout"
    status: str = "/api/auth/status"
    keys: str = "/api/auth/api-keys"
    sessions: str = "/api/auth/sessions"
    confirm: str = "/api/auth/confirm"
    change_password: str = "/api/auth/password/change"
    reset: str = "/api/auth/reset"
    vault: str = "/api/auth/vault"
    passkeys: str = "/api/auth/passkey"
    conversations: str = "/api/sessions"
    rpc: str = "/api/rpc"
    mcp: str = "/mcp"
    socket: str = "/ws"
    gated_socket: str = "/ws/chat"
    talk: str = "/ws/talk"
    callback: str = "/auth/callback"
    metrics: str = "/metrics"
    documents: tuple = ("/api/openapi.json", "/api/openrpc.json")
    ingest: str = "/api/webhooks/ingest"


@dataclass
class Gateway:
    """A running gateway. Adapters override the operations that theirs supports."""

    address: tuple
    paths: Paths = field(default_factory=Paths)
    cookie: str = "service_session"
    max_head_bytes: int = 65536
    max_memory_bytes: int = 256 << 20
    # More connections than a single client may hold.
    too_many_connections: int = 6000
    owner: Caller | None = None
    # Whether the gateway can be set up with an owner whose credential is then required. Otherwise
    # rows about identities do not apply.
    can_own: bool = False

    @property
    def host(self):
        return f"{self.address[0]}:{self.address[1]}"

    @property
    def origin(self):
        return f"http://{self.host}"

    def stranger(self):
        """Returns a caller without a credential and with its own address."""
        return Caller((), new_source())

    def http(self, method, target, caller=None, body=None, headers=(), timeout=60.0, host=None):
        """Sends a request and returns its response."""
        caller = caller or self.stranger()
        headers = [*caller.headers, *headers]
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            if not any(name.lower() == "content-type" for name, _ in headers):
                headers.append(("Content-Type", "application/json"))
        data = http.head(method, target, host or self.host, headers, body)
        return http.parse(http.exchange(self.address, data, caller.source, timeout), method)[0]

    def raw(self, data, source=None, timeout=4.0):
        return http.exchange(self.address, data, source or new_source(), timeout)

    def connect(self, source=None, timeout=10.0):
        return http.connect(self.address, source or new_source(), timeout)

    def socket(self, caller=None, path=None, headers=(), **options):
        """Opens a WebSocket; check its `status`."""
        caller = caller or self.stranger()
        path = path or self.paths.socket
        return ws.Socket(self.address, path, [*caller.headers, *headers], caller.source, **options)

    def mcp(self, caller, method, params=None, headers=()):
        """Sends a request to the gateway's MCP server. Returns the response."""
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        accept = ("Accept", "application/json, text/event-stream")
        return self.http("POST", self.paths.mcp, caller, call, [accept, *headers])

    def is_inside(self, reply):
        """Returns whether the response contains what only an authenticated caller may see."""
        value = reply.json() if reply.ok else {}
        return isinstance(value, dict) and self.paths.marker in value

    def reaches(self, caller):
        """Returns whether the caller is admitted."""
        return self.is_inside(self.http("GET", self.paths.protected, caller))

    def _cannot(self, what):
        raise NotApplicable(f"the adapter cannot {what}")

    def need_owner(self):
        if not self.owner:
            self._cannot("log in")
        return self.owner

    def login(self, password, caller=None, headers=()):
        self._cannot("log in")

    def session(self, password=PASSWORD):
        """Returns another session of the owner, as (caller, token)."""
        self._cannot("log in")

    def make_webhook(self, **fields):
        """Creates a webhook. Returns its record with `path`, `id`, `public_id` and `secret`."""
        self._cannot("make webhooks")

    def deliver(self, webhook, body, headers=(), source=None):
        self._cannot("make webhooks")

    def run_tool(self, name, arguments, caller=None, timeout=90.0):
        """Makes the agent call a tool. Returns the text that the model received from the tool."""
        self._cannot("have the agent call a tool")

    def inbox(self):
        self._cannot("read what was delivered")

    def upload(self, caller, conversation, name, data, kind):
        """Attaches a file to a conversation. Returns the response, whose JSON has the file's `id`."""
        self._cannot("attach files")

    def file_path(self, conversation, file):
        self._cannot("attach files")

    def raw_request(self, method, target, caller, body=b"", headers=()):
        """Returns the bytes of a request with a JSON body, for sending manually."""
        json_type = ("Content-Type", "application/json")
        return http.head(method, target, self.host, [*caller.headers, json_type, *headers], body)

    def make_key(self, scopes, caller=None, **fields):
        self._cannot("make API keys")

    def revoke_key(self, key):
        self._cannot("revoke API keys")

    def call(self, caller, operation, params=None, timeout=15.0):
        """Calls an operation by name. Returns its result or raises `CallFailed`."""
        self._cannot("call methods")

    def log(self):
        """Returns the gateway's log output so far."""
        self._cannot("read the gateway's log")

    def memory_bytes(self):
        """Resident memory of the gateway's process."""
        self._cannot("read the gateway's memory")

    def peak_memory_bytes(self):
        """The most resident memory that the gateway's process had."""
        self._cannot("read the gateway's memory")

    def setup_code(self):
        self._cannot("read the setup code")

    def model(self):
        """Returns the scripted model that the gateway's agents use."""
        self._cannot("script the gateway's model")

    def stop(self):
        pass
