"""Links in messages that answer a tool call that waits for approval."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ..model import refuse, require, row

BEARER = {"approvals.notify": "inbox", "approvals.links": "bearer"}
SIGN_IN = {"approvals.notify": "inbox", "approvals.links": "sign_in"}


@contextmanager
def asked(g):
    """A call that waits for approval: its link, and a function that returns whether the call still waits."""
    owner = g.need_owner()
    g.call(owner, "config.set", {"key": "tools.require_approval", "value": ["web_fetch"]})
    waiting = lambda: g.call(owner, "approval.list", {"limit": 50})["approvals"]
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: g.run_tool("web_fetch", {"url": "http://127.0.0.1:9/"}))
        try:
            yield link(g), lambda: bool(waiting())
        finally:
            for approval in waiting():
                g.call(owner, "approval.resolve", {"id": approval["id"], "allow": False})
            done.result()


def link(g):
    end = time.monotonic() + 40
    while time.monotonic() < end:
        for message in g.inbox():
            found = re.search(r"/approve/[A-Za-z0-9_-]+", message["text"])
            if found:
                return found.group(0)
        time.sleep(0.2)
    require(False, "no message with a link came")


@row(
    "approval-link-preview",
    "CWE-650",
    "Let a program that previews links in messages answer an approval.",
    settings=BEARER,
)
def preview(g):
    with asked(g) as (path, waits):
        require(waits(), "no call waits for approval")
        for method in ("GET", "HEAD", "OPTIONS"):
            for query in ("", "?answer=allow"):
                g.http(method, path + query)
                refuse(not waits(), f"{method} {query} answers the call")
        g.http("POST", path + "?answer=deny")
        require(not waits(), "the link does not answer the call")
    return "only a POST answers"


@row(
    "approval-link-foreign-page",
    "CWE-352",
    "Answer an approval from a page of another site that knows the link.",
    settings=BEARER,
)
def foreign_page(g):
    with asked(g) as (path, waits):
        for headers in ([("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")]):
            g.http("POST", path + "?answer=allow", headers=headers)
            refuse(not waits(), f"{headers[0][0]}: {headers[0][1]} answers the call")
        g.http("POST", path + "?answer=deny", headers=[("Origin", g.origin)])
        require(not waits(), "the own page does not answer the call")
    return "refused"


@row(
    "approval-link-without-login",
    "CWE-306",
    "Answer an approval, or read its arguments, with a link that must only lead to a login.",
    settings=SIGN_IN,
)
def without_login(g):
    with asked(g) as (path, waits):
        page = g.http("GET", path)
        refuse("127.0.0.1:9" in page.text, "the page shows the arguments to a stranger")
        for query in ("?answer=allow", ""):
            g.http("POST", path + query)
            refuse(not waits(), "a stranger answers the call")
    return "the link leads to the login"


@row(
    "approval-link-guessed",
    "CWE-340",
    "Answer an approval with its identifier, a part of the link, or another spelling of it.",
    settings=BEARER,
)
def guessed(g):
    with asked(g) as (path, waits):
        number = g.call(g.owner, "approval.list", {"limit": 50})["approvals"][0]["id"]
        token = path.rsplit("/", 1)[1]
        require(len(token) >= 22, f"the link holds {len(token)} characters")
        for text in (number, token[:-1], token[:22], token.swapcase(), token + "A", token + "="):
            g.http("POST", f"/approve/{text}?answer=allow")
            refuse(not waits(), f"{len(text)} characters answer the call")
        g.http("POST", path + "?answer=deny")
        require(not waits(), "the link does not answer the call")
    return "only the whole link"
