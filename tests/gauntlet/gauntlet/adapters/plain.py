"""Any gateway, given by its URL and a protected path.

`http://HOST:PORT?protected=/api/me&marker=user&public=/health`: `marker` is a member of the JSON object that
`protected` returns.
"""

from urllib.parse import parse_qs, urlsplit

from ..adapter import Gateway, Paths
from ..model import NotApplicable


class Adapter:
    name = "plain"

    def __init__(self, where):
        parts = urlsplit(where)
        if parts.scheme != "http" or not parts.hostname:
            raise SystemExit("--target must be a URL that begins with http://")
        self.address = (parts.hostname, parts.port or 80)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.paths = Paths(**{name: value for name, value in given.items() if name in Paths.__annotations__})

    def start(self, settings, owner=True):
        if settings or not owner:
            raise NotApplicable("the row needs an instance of its own")
        return Gateway(address=self.address, paths=self.paths)
