"""Reads a Gatehouse database with only the password (or the recovery key), given on standard input.

read_vault.py [--recovery] DATABASE [PROVIDER_KEYS_FILE]   prints the secrets as JSON
read_vault.py --vectors FILE                               checks itself against vectors.json

Written from docs/vault-format.md alone; needs Python 3.10, PyNaCl and argon2-cffi.
"""
import base64
import hashlib
import hmac
import json
import pathlib
import sqlite3
import sys

from argon2.low_level import Type, hash_secret_raw
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt as xchacha_decrypt
from nacl.bindings import crypto_scalarmult, crypto_scalarmult_base

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def argon2id(secret: bytes, salt: bytes, params: dict) -> bytes:
    return hash_secret_raw(secret, salt, params["t_cost"], params["m_cost"], params["p_cost"], 32, Type.ID)


def decrypt(key: bytes, aad: str, text: str) -> bytes:
    """nonce (24 bytes) ‖ ciphertext ‖ tag (16 bytes), as base64."""
    sealed = base64.b64decode(text, validate=True)
    return xchacha_decrypt(sealed[24:], aad.encode(), sealed[:24], key)


def decrypt_held(private: bytes, aad: str, text: str) -> bytes:
    """The sender's public key as base64, a dot, and a ciphertext."""
    sender, sealed = text.split(".")
    sender = base64.b64decode(sender, validate=True)
    salt = sender + crypto_scalarmult_base(private)
    extracted = hmac.new(salt, crypto_scalarmult(private, sender), hashlib.sha256).digest()
    key = hmac.new(extracted, b"gatehouse/hold/v1" + bytes([1]), hashlib.sha256).digest()
    return decrypt(key, aad, sealed)


def recovery_letters(typed: str) -> str:
    letters = "".join(c for c in typed.upper() if c != "-" and not c.isspace())
    if len(letters) != 32 or any(c not in ALPHABET for c in letters):
        sys.exit("not a recovery key")
    bits = "".join(f"{ALPHABET.index(c):05b}" for c in letters)
    key = int(bits[:128], 2).to_bytes(16, "big")
    digest = hashlib.sha256(b"gatehouse/recovery/check" + key).digest()
    check = "".join(f"{byte:08b}" for byte in digest)[:30]
    if bits[128:130] != "00" or bits[130:] != check:
        sys.exit("mistyped recovery key")
    return letters


def open_record(record: dict, typed: str, by_recovery: bool) -> bytes:
    assert record["version"] == 1, "unknown version"
    if by_recovery:
        letters = recovery_letters(typed).encode()
        digest = hashlib.sha256(b"gatehouse/recovery/hash/v1" + letters).digest()
        assert base64.b64encode(digest).decode() == record["recovery_key_hash"]
        params = {"m_cost": 16384, "t_cost": 2, "p_cost": 1}
        kek = argon2id(letters, b"gatehouse/vault/recovery/v1", params)
        dek = decrypt(kek, "vault:dek:recovery", record["recovery_wrapped_dek"])
    else:
        salt = base64.b64decode(record["kdf_salt"], validate=True)
        kek = argon2id(typed.encode(), salt, json.loads(record["kdf_params"]))
        dek = decrypt(kek, "vault:dek", record["wrapped_dek"])
    commitment = hmac.new(dek, b"gatehouse/dek/v1", hashlib.sha256).digest()
    if not hmac.compare_digest(commitment, base64.b64decode(record["dek_commitment"])):
        sys.exit("the key does not fit its commitment")
    return dek


def read_database(path: str, keys_file: str | None, by_recovery: bool) -> dict:
    db = sqlite3.connect(pathlib.Path(path).resolve().as_uri() + "?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    record = db.execute("SELECT * FROM vault WHERE id = 1").fetchone() or sys.exit("no vault")
    typed = sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    dek = open_record(record, typed, by_recovery)

    def rows(sql: str, aad: str) -> dict:
        plain = lambda name, value, sealed: decrypt(dek, aad + name, value).decode() if sealed else value
        return {row[0]: plain(*row) for row in db.execute(sql)}

    secrets = {"env_variables": rows("SELECT key, value, encrypted FROM env_variables", "env:"),
               "ssh_keys": rows("SELECT name, private_key, encrypted FROM ssh_keys", "ssh-key:")}
    if keys_file:
        text = pathlib.Path(keys_file).read_text(encoding="ascii").strip()
        secrets["provider_keys"] = json.loads(decrypt(dek, "provider_keys", text))
    return secrets


def check_vectors(path: str) -> str:
    vectors = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    for by_recovery, typed in ((False, vectors["password"]), (True, vectors["recovery_key"])):
        dek = open_record(vectors["record"], typed, by_recovery)
        assert dek.hex() == vectors["dek_hex"]
        for item in vectors["ciphertexts"]:
            assert decrypt(dek, item["aad"], item["ciphertext"]).decode() == item["plaintext"], item["aad"]
        private = decrypt(dek, "vault:hold", vectors["record"]["hold_private_key"])
        held = vectors["held"]
        assert decrypt_held(private, held["aad"], held["ciphertext"]).decode() == held["plaintext"]
    return f"{len(vectors['ciphertexts'])} ciphertexts, opened by password and by recovery key"


if __name__ == "__main__":
    options, paths = [a for a in sys.argv[1:] if a.startswith("--")], [a for a in sys.argv[1:] if a[:2] != "--"]
    if options == ["--vectors"] and len(paths) == 1:
        print(check_vectors(paths[0]))
    elif options in ([], ["--recovery"]) and len(paths) in (1, 2):
        print(json.dumps(read_database(paths[0], (paths + [None])[1], options != []), indent=2))
    else:
        sys.exit(__doc__)
