"""An MCP server that needs an account, with the authorization server of the official Python SDK, on the port that the
first argument names. The person there agrees to everything.
"""

import secrets
import sys
import time

from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken

BASE = f"http://127.0.0.1:{sys.argv[1]}"
RESOURCE = f"{BASE}/mcp"
HOUR = 3600


class Accounts:
    """Keeps clients, codes and tokens in memory. The SDK checks the requests."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.refreshed = 0

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        self.refreshed += 1
        return self.issue(client, scopes, refresh_token.resource)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def issue(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(), secrets.token_urlsafe()
        known = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + HOUR, **known)
        self.refresh[refresh] = RefreshToken(token=refresh, **known)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=HOUR, scope=" ".join(scopes))


accounts = Accounts()
server = MCPServer(
    "sdk",
    auth_server_provider=accounts,
    auth=AuthSettings(
        issuer_url=BASE,
        resource_server_url=RESOURCE,
        # Tokens for another resource are refused.
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["tools"], default_scopes=["tools"]
        ),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["tools"],
    ),
)


@server.tool()
def add() -> str:
    """Counts the refreshes."""
    return f"refreshed {accounts.refreshed}, tokens {len(accounts.refresh)}"


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
