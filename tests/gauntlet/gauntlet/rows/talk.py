"""Spoken conversations: a socket that receives a microphone and pays vendors for what it hears."""

import socket

from ..model import refuse, require, row
from ..ws import frame
from .crosssite import FOREIGN

VOICE = {"voice.stt.whisper.api_key": "sk-test-gauntlet", "voice.tts.openai.api_key": "sk-test-gauntlet"}
START = {"type": "start", "input": {"rate": 16000}}
# A second of silence in one message.
SECOND = frame(bytes(32000), opcode=2)


@row("talk-foreign-origin", "CVE-2026-25253", "Open a conversation from a foreign page with the owner's cookie.")
def talk_foreign(g):
    owner = g.need_owner()
    with g.socket(owner, g.paths.talk, headers=[("Origin", g.origin)]) as opened:
        require(opened.status == 101, "the gateway's own page cannot open a conversation")
    for origin in FOREIGN:
        with g.socket(owner, g.paths.talk, headers=[("Origin", origin)]) as opened:
            refuse(opened.status == 101, f"opened to {origin}")
    return f"{len(FOREIGN)} origins, none opened"


@row("talk-without-permission", "CWE-862", "Open a conversation without a credential, and with a key that only reads.")
def talk_without_permission(g):
    writer, reader = g.make_key(["operator.write"]).caller, g.make_key(["operator.read"]).caller
    with g.socket(writer, g.paths.talk) as opened:
        require(opened.status == 101, "a key that writes cannot open a conversation")
    for who, caller in (("nobody", g.stranger()), ("a key that reads", reader)):
        with g.socket(caller, g.paths.talk) as opened:
            refuse(opened.status == 101, f"{who} may talk")
    return "neither may talk"


@row("talk-audio-flood", "CWE-770", "Send an hour of audio to a conversation within seconds.", settings=VOICE)
def talk_flood(g):
    caller = g.make_key(["operator.write"]).caller
    with g.socket(caller, g.paths.talk) as talk:
        require(talk.status == 101, "a key that writes cannot open a conversation")
        talk.send(START)
        ready = talk.receive()
        require(ready and ready.get("type") == "ready", f"no conversation begins: {ready}")
        sent = 0
        try:
            while sent < 3600:
                talk.peer.sendall(SECOND)
                sent += 1
        except (OSError, socket.timeout):
            return f"ended after {sent} seconds of audio"
        while talk.receive(10) is not None:
            pass
        refuse(talk.closed is None, "an hour of audio is taken at once")
        return "ended"


@row("talk-key-of-another-purpose", "CWE-863", "Open a conversation with a key that was made for another purpose.")
def talk_only(g):
    opens = lambda only: g.socket(g.make_key(["operator.write", "operator.read"], only=only).caller, g.paths.talk)
    with opens([g.paths.talk]) as opened:
        require(opened.status == 101, "a key for conversations cannot open one")
    for only in (["chat.*"], ["/v1/chat/completions"], ["/v1/audio/*"], ["tts.*", "stt.*"]):
        with opens(only) as opened:
            refuse(opened.status == 101, f"a key for {only[0]} may talk")
    return "only a key for conversations"


@row("talk-outlives-key", "CWE-613", "Keep a conversation open after its key was revoked.", settings=VOICE)
def talk_outlives(g):
    key = g.make_key(["operator.write"])
    with g.socket(key.caller, g.paths.talk) as talk:
        require(talk.status == 101, "a key that writes cannot open a conversation")
        talk.send(START)
        ready = talk.receive()
        require(ready and ready.get("type") == "ready", f"no conversation begins: {ready}")
        talk.peer.sendall(SECOND)
        talk.receive(1)
        require(talk.closed is None, "a conversation ends although its key is valid")
        g.revoke_key(key)
        for second in range(20):
            try:
                talk.peer.sendall(SECOND)
            except OSError:
                return f"ended after {second} seconds"
            while talk.receive(1) is not None:
                pass
            if talk.closed is not None:
                return f"ended after {second} seconds, close code {talk.closed}"
        refuse(True, "audio is still taken after 20 seconds")
