"""A local MCP server with its authorization server (RFC 9728, RFC 8414, RFC 7591)."""

import json
from urllib.parse import parse_qs, urlsplit

from .recorder import Recorder

JSON = {"Content-Type": "application/json"}


class Authority(Recorder):
    """Rows may change the documents `protected` and `metadata`, the header `challenge`, and the `answers` by path."""

    def __init__(self):
        super().__init__(self.reply)
        self.reset()

    def reset(self):
        """Undoes the changes of a row."""
        url = self.url
        self.protected = {"resource": self.mcp, "authorization_servers": [url]}
        self.metadata = {
            "issuer": url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "registration_endpoint": f"{url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
        self.challenge = f'Bearer resource_metadata="{url}/.well-known/oauth-protected-resource/mcp"'
        self.answers = {}

    @property
    def mcp(self):
        return f"{self.url}/mcp"

    def tokens(self):
        """Returns how often a code was exchanged. The gateway also refreshes tokens that the MCP server refuses."""
        exchanges = (hit for hit in list(self.hits) if hit.path == "/token")
        return sum(parse_qs(hit.body.decode()).get("grant_type") == ["authorization_code"] for hit in exchanges)

    def reply(self, hit):
        path = urlsplit(hit.path).path
        documents = {
            "/.well-known/oauth-protected-resource/mcp": self.protected,
            "/.well-known/oauth-authorization-server": self.metadata,
        }
        if path in self.answers:
            return self.answers[path](hit)
        if path in documents:
            return 200, JSON, json.dumps(documents[path]).encode()
        if path == "/register":
            wanted = json.loads(hit.body)
            return 201, JSON, json.dumps(wanted | {"client_id": "c1"}).encode()
        if path == "/token":
            grant = {"access_token": "a1", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r1"}
            return 200, JSON, json.dumps(grant).encode()
        if path == "/mcp":
            return 401, {"WWW-Authenticate": self.challenge}, b""
        return 404, {}, b""


def state_of(address):
    return parse_qs(urlsplit(address).query)["state"][0]
