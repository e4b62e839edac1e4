"""A software authenticator: ES256, attestation `none`. Slow and not constant-time; for tests only."""

import base64
import hashlib
import json
import secrets
import struct

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(number, point):
    total = None
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def hashed(data):
    return int.from_bytes(hashlib.sha256(data).digest(), "big")


def sign(secret, data):
    """Returns a DER-encoded signature."""
    nonce = secrets.randbelow(N - 1) + 1
    r = multiply(nonce, G)[0] % N
    s = pow(nonce, -1, N) * (hashed(data) + r * secret) % N
    parts = b""
    for number in (r, s):
        value = number.to_bytes(33, "big").lstrip(b"\0")
        value = b"\0" + value if value[0] & 0x80 else value
        parts += b"\x02" + bytes([len(value)]) + value
    return b"\x30" + bytes([len(parts)]) + parts


def verify(public, data, signature):
    size = signature[3]
    r = int.from_bytes(signature[4 : 4 + size], "big")
    s = int.from_bytes(signature[6 + size :], "big")
    if not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    point = add(multiply(hashed(data) * inverse % N, G), multiply(r * inverse % N, public))
    return point is not None and point[0] % N == r


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Authenticator:
    """Holds one passkey. `origin` is the origin that the browser reports."""

    def __init__(self, rp_id, origin):
        self.rp_id, self.origin = rp_id, origin
        self.secret = secrets.randbelow(N - 1) + 1
        self.public = multiply(self.secret, G)
        self.id, self.counter = secrets.token_bytes(16), 0

    def client_data(self, kind, challenge):
        value = {"type": f"webauthn.{kind}", "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(value, separators=(",", ":")).encode()

    def authenticator_data(self, flags):
        self.counter += 1
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + struct.pack(">I", self.counter)

    def shell(self, response):
        return {
            "id": b64(self.id),
            "rawId": b64(self.id),
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }

    def create(self, options):
        """Performs `navigator.credentials.create()`."""
        x, y = (number.to_bytes(32, "big") for number in self.public)
        key = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + x + b"\x22\x58\x20" + y
        data = self.authenticator_data(0x45) + b"\0" * 16 + struct.pack(">H", len(self.id)) + self.id + key
        sized = b"\x58" + bytes([len(data)]) if len(data) < 256 else b"\x59" + struct.pack(">H", len(data))
        attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData" + sized + data
        client = self.client_data("create", options["publicKey"]["challenge"])
        return self.shell(
            {"clientDataJSON": b64(client), "attestationObject": b64(attestation), "transports": ["internal"]}
        )

    def get(self, options):
        """Performs `navigator.credentials.get()`."""
        data = self.authenticator_data(0x05)
        client = self.client_data("get", options["publicKey"]["challenge"])
        signature = sign(self.secret, data + hashlib.sha256(client).digest())
        response = {
            "clientDataJSON": b64(client),
            "authenticatorData": b64(data),
            "signature": b64(signature),
            "userHandle": None,
        }
        return self.shell(response)
