"""A small MCP server over standard input and output. A JSON file lists its tools; a change of the file is
announced. The tool `environment` returns the server's environment."""

import json
import os
import sys
import threading
import time

STATE = sys.argv[1]
LOCK = threading.Lock()


def say(message):
    with LOCK:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def tools():
    with open(STATE) as file:
        return json.load(file)


def watch():
    last = os.stat(STATE).st_mtime_ns
    while True:
        time.sleep(0.2)
        now = os.stat(STATE).st_mtime_ns
        if now != last:
            last = now
            say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "gauntlet", "version": "1"},
        }
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        return {"tools": [{"inputSchema": schema, **tool} for tool in tools()]}
    if method == "tools/call":
        text = f"ran {params['name']}"
        if params["name"] == "environment":
            text = json.dumps(dict(os.environ))
        return {"content": [{"type": "text", "text": text}]}
    return {}


threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        say({"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message.get("params") or {})})
