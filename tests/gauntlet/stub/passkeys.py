"""Passkeys of the stub."""

import hashlib
import json
import secrets

from gauntlet.passkey import unb64, verify


class Passkeys:
    def __init__(self):
        self.passkeys, self.challenges = {}, {}

    def passkey(self, request, name, body):
        """Returns the response for paths below `passkey/`; None if there is no such endpoint."""
        if name.endswith("/begin"):
            number, challenge = secrets.token_hex(8), secrets.token_urlsafe(24)
            self.challenges[number] = challenge
            return 200, [], {"challenge_id": number, "options": {"publicKey": {"challenge": challenge}}}
        host = request.extra["host"]
        client = unb64(body["credential"]["response"]["clientDataJSON"])
        said = json.loads(client)
        challenge = self.challenges.get(body["challenge_id"])
        if not self.weak("passkey-replay"):
            self.challenges.pop(body["challenge_id"], None)
        stale = said["challenge"] != challenge and not self.weak("passkey-replay")
        other = said["origin"] != f"http://{host}"
        if self.weak("passkey-other-origin"):
            other = said["origin"].split(":")[1] != "//" + host.split(":")[0]
        if self.weak("passkey-other-scheme"):
            other = said["origin"].partition("://")[2] != host
        if stale or other or challenge is None:
            return 401, [], {"code": "INVALID_CREDENTIALS"}
        if name == "register/finish":
            data = unb64(body["credential"]["response"]["attestationObject"])
            self.passkeys[body["credential"]["id"]] = tuple(
                int.from_bytes(part, "big") for part in (data[-67:-35], data[-32:])
            )
            return 200, [], {"id": body["credential"]["id"]}
        public = self.passkeys.get(body["credential"]["id"])
        response = body["credential"]["response"]
        signed = unb64(response["authenticatorData"]) + hashlib.sha256(client).digest()
        if public is None or not verify(public, signed, unb64(response["signature"])):
            return 401, [], {"code": "INVALID_CREDENTIALS"}
        return self.new_session()
