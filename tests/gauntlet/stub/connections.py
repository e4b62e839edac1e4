"""The stub's browsers that get notifications."""

import ipaddress
import secrets
from urllib.parse import urlsplit

from .base import CallError


class Connections:
    def __init__(self):
        self.pushes = {}

    def do_push_subscribe(self, identity, params):
        endpoint = params["endpoint"]
        if identity.kind == "ApiKey" and not self.weak("push-with-a-key"):
            raise CallError(-32004, "FORBIDDEN", "a session is needed")
        if not self.weak("push-inside-address") and not is_public(endpoint):
            raise self.wrong_params("endpoint")
        name = "psh_" + secrets.token_hex(6)
        self.pushes[name] = identity
        return {"id": name}

    def do_push_unsubscribe(self, identity, params):
        is_own = self.pushes[params["id"]] is identity or identity.may("operator.pairing")
        if not is_own and not self.weak("push-of-another-removed"):
            raise CallError(-32004, "FORBIDDEN", "another's browser")
        del self.pushes[params["id"]]
        return {"ok": True}


def is_public(endpoint):
    parts = urlsplit(endpoint)
    name = parts.hostname or ""
    if parts.scheme != "https" or name.isdigit():
        return False
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return True
    return address.is_global and not getattr(address, "ipv4_mapped", None)
