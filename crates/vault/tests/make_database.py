"""Creates the SQLite database for the test python_reader.rs: make_database.py VECTORS DB KEYS_FILE.

Tables and columns as in docs/vault-format.md, rows from vectors.json, one variable not encrypted.
"""
import json
import sqlite3
import sys

vectors_path, database_path, keys_path = sys.argv[1:]
with open(vectors_path, encoding="utf-8") as file:
    vectors = json.load(file)
db = sqlite3.connect(database_path)
db.executescript("""
    CREATE TABLE vault (id BIGINT PRIMARY KEY, version BIGINT, kdf_salt TEXT, kdf_params TEXT,
        wrapped_dek TEXT, recovery_wrapped_dek TEXT, recovery_key_hash TEXT, dek_id TEXT,
        dek_commitment TEXT, hold_public_key TEXT, hold_private_key TEXT, created_at BIGINT, updated_at BIGINT);
    CREATE TABLE env_variables (key TEXT PRIMARY KEY, value TEXT, encrypted BIGINT);
    CREATE TABLE ssh_keys (name TEXT PRIMARY KEY, public_key TEXT, private_key TEXT, encrypted BIGINT);
    INSERT INTO env_variables VALUES ('NOT_ENCRYPTED', 'as it is', 0);
""")
record = vectors["record"]
columns = ", ".join(record)
db.execute(f"INSERT INTO vault (id, {columns}) VALUES (1{', ?' * len(record)})", list(record.values()))
for item in vectors["ciphertexts"]:
    kind, _, name = item["aad"].partition(":")
    if kind == "env":
        db.execute("INSERT INTO env_variables VALUES (?, ?, 1)", (name, item["ciphertext"]))
    elif kind == "ssh-key":
        db.execute("INSERT INTO ssh_keys VALUES (?, '', ?, 1)", (name, item["ciphertext"]))
    elif kind == "provider_keys":
        with open(keys_path, "w", encoding="ascii") as file:
            file.write(item["ciphertext"])
db.commit()
db.close()
