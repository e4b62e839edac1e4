"""People who write to agents through chat vendors, and the buttons there that answer tool calls."""

import re

from .. import chats
from ..adapter import CallFailed
from ..model import refuse, require, row
from .credentials import denied

CODE = re.compile(r"pairing code is (\S+?)\.")
NOTHING = "http://127.0.0.1:9/"


def receive(g, chat):
    g.call(g.need_owner(), "channels.create", {"type": chat.kind, "label": "Bot", "fields": chat.fields()})


def code_of(chat, person):
    """Writes for the first time. Returns the code that the person gets."""
    seen = len(chat.messages)
    chat.write(person, "hello")
    message = chat.wait(lambda it: int(it["id"]) > seen and CODE.search(it["text"]))
    return CODE.search(message["text"]).group(1)


def approve(g, code):
    return g.call(g.owner, "pairing.approve", {"code": code, "trusted": True})


def asked(g, text):
    return any(text in str(request["messages"]) for request in g.model().requests())


def stranger_writes(g, chat):
    receive(g, chat)
    approve(g, code_of(chat, chat.person))
    code = code_of(chat, chat.other)
    for text in ("SAY let-me-in", f"/pair {code} let-me-in", f"{code} let-me-in"):
        chat.write(chat.other, text)
    # The vendor's events arrive in order.
    chat.write(chat.person, "SAY welcome-42")
    chat.wait(lambda it: it["text"] == "welcome-42")
    refuse(asked(g, "let-me-in"), "a stranger's message reaches the model")
    count = sum(bool(CODE.search(message["text"])) for message in chat.messages)
    refuse(count > 2, "a stranger makes the bot send more than one code")
    return "a stranger gets one code and nothing else"


def code_guessed(g, chat):
    receive(g, chat)
    code = code_of(chat, chat.person)
    require(len(code) >= 8, f"the code has {len(code)} characters")
    near = code[:-1] + ("A" if code[-1] != "A" else "B")
    for guess in (code[:4], code[:-1], near, "%", "*", code[:4] + "-____"):
        try:
            approve(g, guess)
        except CallFailed:
            continue
        refuse(True, f"{guess} pairs as well as {code}")
    approve(g, code)
    chat.write(chat.person, "SAY welcome-42")
    chat.wait(lambda it: it["text"] == "welcome-42")
    return "only the whole code pairs"


def stranger_presses(g, chat):
    receive(g, chat)
    g.call(g.owner, "config.set", {"key": "tools.require_approval", "value": ["web_fetch"]})
    approve(g, code_of(chat, chat.person))
    text = f'CALL {g.model().mark()} web_fetch {{"url": "{NOTHING}"}}'
    chat.write(chat.person, text)
    question = chat.wait(lambda it: {"Allow", "Deny"} <= it["buttons"].keys())
    require(NOTHING in question["text"], "the question does not show the call")
    allow, deny = question["buttons"]["Allow"], question["buttons"]["Deny"]
    chat.press(chat.other, question, allow)
    # The presses of an account are answered in order.
    chat.press(chat.person, question, deny)
    closed = chat.wait(lambda it: it is question and not it["buttons"])
    refuse("Allowed." in closed["text"], "a stranger's press allows the call")
    require("Denied." in closed["text"], "the person's press does not answer the call")
    return "the press changes nothing"


def register(chat):
    kind, name = chat.kind, chat.kind.capitalize()

    def run(attack):
        def alone(g):
            with chat() as vendor:
                return attack(g, vendor)

        alone.__module__ = __name__
        return alone

    row(
        f"inbound-{kind}-stranger",
        "CWE-862",
        f"Talk with an agent through {name} without being paired.",
        instance="fresh",
    )(run(stranger_writes))
    row(
        f"inbound-{kind}-code-guessed",
        "CWE-340",
        f"Pair a person on {name} with a part of the code, a similar one, or a wildcard.",
        instance="fresh",
    )(run(code_guessed))
    row(
        f"buttons-{kind}-stranger",
        "CWE-863",
        f"Answer a tool call with another person's button on {name}.",
        instance="fresh",
    )(run(stranger_presses))


for _chat in chats.ALL:
    register(_chat)


@row(
    "inbound-trusted-by-lesser-key",
    "CWE-269",
    "Make a person's messages count as the owner's with a key that may only pair people.",
    instance="fresh",
)
def trusted_by_lesser_key(g):
    with chats.Telegram() as chat:
        receive(g, chat)
        code = code_of(chat, chat.person)
        pairs = g.make_key(["operator.pairing"]).caller
        callers = [pairs, g.make_key(["operator.pairing", "operator.write", "operator.approvals"]).caller]
        for caller in callers:
            trusted = {"code": code, "trusted": True}
            refuse(not denied(g, caller, "pairing.approve", trusted), "such a key pairs a trusted person")
        g.call(pairs, "pairing.approve", {"code": code})
        person = next(it for it in g.call(g.owner, "pairing.people")["people"] if it["person"] == chat.person)
        for caller in callers:
            trusted = {"id": person["id"], "trusted": True}
            refuse(not denied(g, caller, "pairing.trust", trusted), "such a key makes a person trusted")
        people = g.call(g.owner, "pairing.people")["people"]
        refuse(any(it.get("trusted") for it in people), "the person is trusted")
        require(g.call(g.owner, "pairing.trust", trusted), "the owner cannot trust a person")
    return "only an administrator trusts people"
