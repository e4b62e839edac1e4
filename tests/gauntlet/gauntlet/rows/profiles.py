"""Senders that the owner describes in a file: how they sign, and the proof that the gateway has the secret."""

import json
import time

from ..model import refuse, require, row
from .webhooks import accepted, mac

PROFILE = """
id = "acme"
name = "Acme"
about = "Orders"

[verify]
headers = ["x-acme-signature"]
algorithm = "hmac-sha256"
prefix = "v1="
separator = ","
signs = "{timestamp}.{body}"
timestamp = { item = "t=" }

[event]
body = ["/type"]

[handshake]
body = "/type"
is = "endpoint.url_validation"
json = { plainToken = "{payload.plainToken}", encryptedToken = "{hmac:payload.plainToken}" }
"""
FILES = {"files": {"profiles/acme.toml": PROFILE}}
BODY = b'{"type":"order.paid","id":1}'


def hook_of(g):
    return g.make_webhook(source_profile="acme", deliver_only=True, deliver_to="inbox")


def signature(hook, body, stamp=None):
    stamp = int(time.time()) if stamp is None else stamp
    return f"t={stamp},v1={mac(hook['secret'], f'{stamp}.'.encode() + body)}"


def send(g, hook, body, *values, name="X-Acme-Signature"):
    return g.deliver(hook, body, [(name, value) for value in values])


@row(
    "profile-file-forged",
    "CWE-347",
    "Forge a delivery of a sender that the owner has described in a file.",
    settings=FILES,
)
def forged(g):
    hook = hook_of(g)
    right = signature(hook, BODY)
    require(accepted(send(g, hook, BODY, right)), "a signed delivery is not accepted")
    stamp, value = right.split(",")
    now, wrong = int(time.time()), "0" * 64
    plain = mac(hook["secret"], BODY)
    headers = {
        "nothing": [],
        "an empty value": [""],
        "a prefix": ["v1="],
        "no time": [value],
        "no prefix": [f"{stamp},{value.removeprefix('v1=')}"],
        "another prefix": [f"{stamp},{value.replace('v1', 'v0')}"],
        "a signature without the time": [f"{stamp},v1={plain}", f"v1={plain}"],
        "a part of the signature": [right[:-1]],
        "another time": [f"t={now + 1},{value}"],
        "two times": [f"t={now + 1},{right}", f"{right},t={now + 1}"],
        "an old time": [signature(hook, BODY, now - 3600)],
        "a time to come": [signature(hook, BODY, now + 3600)],
        "a time that is none": [signature(hook, BODY, "-1"), signature(hook, BODY, ""), signature(hook, BODY, "1e99")],
        "the signature of another body": [signature(hook, BODY + b" ")],
        "ten thousand signatures": [f"{stamp}," + ",".join([f"v1={wrong}"] * 700)],
    }
    for what, values in headers.items():
        for value in values or [None]:
            reply = send(g, hook, BODY + b"\n" * len(what), *([] if value is None else [value]))
            refuse(accepted(reply), f"{what} is accepted")
    for name in ("X-Hub-Signature-256", "Authorization", "X-Webhook-Secret", "Acme-Signature"):
        refuse(accepted(send(g, hook, BODY + b" ", signature(hook, BODY + b" "), name=name)), f"{name} is accepted")
    return f"{len(headers) + 4} forgeries, all refused"


@row(
    "profile-handshake-signs",
    "CWE-441",
    "Have the gateway's proof that it has a webhook's secret sign a delivery that the sender never sent.",
    settings=FILES,
)
def handshake_signs(g):
    hook = hook_of(g)
    ask = lambda token: json.dumps({"type": "endpoint.url_validation", "payload": {"plainToken": token}}).encode()
    body = ask("a-token")
    proof = send(g, hook, body, signature(hook, body))
    require(mac(hook["secret"], b"a-token") in proof.text, "the gateway does not prove that it has the secret")
    stamp = int(time.time())
    forged = f"{stamp}.".encode() + BODY
    # A signature of what an outsider chose would be accepted as that of a delivery.
    for headers in ([], [""], ["v1=" + "0" * 64], [f"t={stamp},v1={'0' * 64}"]):
        reply = send(g, hook, ask(forged.decode()), *headers)
        made = mac(hook["secret"], forged)
        refuse(made in reply.text, "the gateway signs what an outsider chose")
    return f"answered {reply.status}"
