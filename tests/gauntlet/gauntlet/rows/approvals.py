"""Links in messages that answer a tool call that waits for approval."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ..adapter import CallFailed
from ..model import refuse, require, row
from .credentials import denied

BEARER = {"approvals.notify": "inbox", "approvals.links": "bearer"}
SIGN_IN = {"approvals.notify": "inbox", "approvals.links": "sign_in"}


def ask_for_approval(g):
    g.call(g.need_owner(), "config.set", {"key": "tools.require_approval", "value": ["web_fetch"]})


def waiting(g):
    return g.call(g.need_owner(), "approval.list", {"limit": 50})["approvals"]


def fetch(g, session, url):
    """Makes the model fetch a page, which waits for approval."""
    text = f"CALL {g.model().mark()} web_fetch {json.dumps({'url': url})}"
    try:
        g.call(g.owner, "chat.send_sync", {"session": session, "text": text}, 90)
    except CallFailed:
        # The turn ended while the call waited.
        pass


@contextmanager
def asked(g, session=None, url="http://127.0.0.1:9/"):
    """A call that waits for approval: its link, and a function that returns whether the call still waits."""
    ask_for_approval(g)
    session = session or new_session(g)
    before = links(g)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(fetch, g, session, url)
        try:
            yield link(g, before), lambda: bool(waiting(g))
        finally:
            for approval in waiting(g):
                g.call(g.owner, "approval.resolve", {"id": approval["id"], "allow": False})
            done.result()


def new_session(g):
    return g.call(g.need_owner(), "sessions.create")["id"]


def links(g):
    return {path for message in g.inbox() for path in re.findall(r"/approve/[A-Za-z0-9_-]+", message["text"])}


def link(g, before):
    """Waits for a link that is not among those before."""
    if found := until(lambda: links(g) - before):
        return found.pop()
    require(False, "no message with a link came")


def until(holds, seconds=40):
    """Returns the first value that is true; the last one if the time has passed."""
    end = time.monotonic() + seconds
    while not (value := holds()) and time.monotonic() < end:
        time.sleep(0.2)
    return value


def asks_again(g, session, url="http://127.0.0.1:9/"):
    """Returns whether a call waits for approval. It is denied."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(fetch, g, session, url)
        found = until(lambda: waiting(g) or done.done() and [None])
        for approval in waiting(g):
            g.call(g.owner, "approval.resolve", {"id": approval["id"], "allow": False})
        done.result()
    if not found:
        raise RuntimeError("the call neither waits nor ends")
    return found != [None]


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


@row(
    "approval-link-used-twice",
    "CWE-837",
    "Use the link of a call that was answered: again, both ways at once, and for a later call that is the same.",
    settings=BEARER,
)
def used_twice(g):
    session = new_session(g)
    with asked(g, session) as (path, waits):
        with ThreadPoolExecutor(8) as pool:
            answers = ("allow", "deny") * 4
            replies = list(pool.map(lambda answer: g.http("POST", f"{path}?answer={answer}"), answers))
        require(not waits(), "the link does not answer the call")
        refuse(sum(reply.ok for reply in replies) > 1, "the call is answered more than once")
        refuse("127.0.0.1:9" in g.http("GET", path).text, "the link still shows the arguments")
    with asked(g, session) as (other, waits):
        require(waits(), "the second call does not wait")
        for answer in ("allow", "deny"):
            g.http("POST", f"{path}?answer={answer}")
            refuse(not waits(), "the link of the first call answers the second")
        g.http("POST", f"{other}?answer=deny")
        require(not waits(), "the link of the second call does not answer it")
    return "one answer, for one call"


@row(
    "approval-link-expired",
    "CWE-613",
    "Use a link after the call that it is for has stopped waiting.",
    settings=BEARER,
)
def expired(g):
    session = new_session(g)
    g.call(g.owner, "config.set", {"key": "agents.turn_timeout_seconds", "value": 8})
    with asked(g, session) as (path, waits):
        until(lambda: not waits())
        require(not waits(), "the call waits although its turn has ended")
    refuse(g.http("POST", path + "?answer=allow").ok, "the call of an ended turn is answered")
    refuse("127.0.0.1:9" in g.http("GET", path).text, "the link still shows the arguments")
    g.call(g.owner, "config.set", {"key": "agents.turn_timeout_seconds", "value": 600})
    with asked(g, session) as (_, waits):
        require(waits(), "the later call does not wait")
        for answer in ("allow", "deny"):
            g.http("POST", f"{path}?answer={answer}")
            refuse(not waits(), "the link of an ended call answers a later one")
    return "the link ends with its call"


@row(
    "approval-link-lesser-key",
    "CWE-862",
    "Open a link with an API key that may not answer approvals, and answer its call for good.",
    settings=SIGN_IN,
)
def lesser_key(g):
    with asked(g) as (path, waits):
        token = path.rsplit("/", 1)[1]
        number = waiting(g)[0]["id"]
        keys = [g.make_key([scope]) for scope in ("operator.read", "operator.write", "operator.pairing")]
        keys.append(g.make_key(["operator.approvals"], only=["approval.list"]))
        for key in keys:
            for body in ({"allow": True}, {"allow": True, "remember": "arguments"}):
                refuse(not denied(g, key.caller, "approval.resolve", {"id": number, **body}), "such a key answers")
            refuse(not denied(g, key.caller, "approval.find", {"token": token}), "such a key opens the link")
            refuse(not denied(g, key.caller, "approval.remembered", {}), "such a key lists what was allowed")
            for method in ("GET", "POST"):
                page = g.http(method, path + "?answer=allow", key.caller)
                refuse("127.0.0.1:9" in page.text, "such a key sees the arguments")
            refuse(not waits(), "such a key answers the call")
        able = g.make_key(["operator.approvals"])
        g.call(able.caller, "approval.resolve", {"id": number, "allow": False})
        require(not waits(), "a key for approvals does not answer the call")
    return f"{len(keys)} keys, all denied"


@row(
    "approval-link-remembers",
    "CWE-269",
    "Allow all later calls with a link that is for one call.",
    settings=BEARER,
)
def link_remembers(g):
    session = new_session(g)
    for more in ("&remember=session", "&remember=arguments", "&remember=always", "&answer=always"):
        with asked(g, session) as (path, waits):
            g.http("POST", f"{path}?answer=allow{more}")
            if waits():
                g.http("POST", f"{path}?answer=allow")
            require(not waits(), "the link does not answer the call")
        refuse(not asks_again(g, session), f"{more} allows later calls")
    with asked(g, session) as (path, waits):
        form = [("Content-Type", "application/x-www-form-urlencoded")]
        g.http("POST", f"{path}?answer=allow", None, b"remember=session&answer=allow", form)
        require(not waits(), "the link does not answer the call")
    refuse(not asks_again(g, session), "a form allows later calls")
    return "each later call asks"


@row(
    "approval-remembered-spreads",
    "CWE-863",
    "Do more than the owner allowed for good: other arguments, another conversation.",
    settings=BEARER,
)
def remembered_spreads(g):
    first, other = new_session(g), new_session(g)
    url = "http://127.0.0.1:9/a"

    def allow(remember):
        with asked(g, first, url):
            call = {"id": waiting(g)[0]["id"], "allow": True, "remember": remember}
            g.call(g.owner, "approval.resolve", call)

    allow("arguments")
    require(not asks_again(g, first, url), "what was allowed for good asks again")
    for changed in (url + "b", "http://127.0.0.1:9/", url + "?a", "http://localhost:9/a"):
        refuse(not asks_again(g, first, changed), f"{changed} needs no approval")
    for call in g.call(g.owner, "approval.remembered")["calls"]:
        g.call(g.owner, "approval.forget", {"id": call["id"]})
    refuse(not asks_again(g, first, url), "what was forgotten is still allowed")
    allow("session")
    require(not asks_again(g, first, url), "what was allowed for the conversation asks again")
    refuse(not asks_again(g, other, url), "another conversation needs no approval")
    return "only what was allowed"
