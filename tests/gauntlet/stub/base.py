"""Definitions that the parts of the stub share."""

import datetime
from dataclasses import dataclass, field

COOKIE = "service_session"
ALL = ["operator.read", "operator.write", "operator.admin", "operator.approvals", "operator.pairing"]
VERSION = "9.8.7-stub"


@dataclass(eq=False)
class Identity:
    kind: str
    id: str
    secret: str
    scopes: list
    made_by: object = None
    expires: str | None = None
    networks: list = field(default_factory=list)
    only: list = field(default_factory=list)
    ended: bool = False

    def may(self, scope):
        return scope is None or scope in self.scopes or "operator.admin" in self.scopes


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class CallError(Exception):
    def __init__(self, number, code, text):
        super().__init__(text)
        self.number, self.code, self.text = number, code, text
