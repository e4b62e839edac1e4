"""An MCP server over standard input and output, without dependencies, for tests.

MCP 2025-06-18: one JSON-RPC message per line; initialize, notifications/initialized, tools/list, tools/call,
notifications/tools/list_changed.
"""

import json
import os
import sys

# A PNG image of two pixels.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4"
    "z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC"
)

tools = [
    {
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    },
    {"name": "environment", "inputSchema": {"type": "object"}},
    {"name": "bad_schema", "inputSchema": "not a schema"},
    {"name": "worse_schema", "inputSchema": {"type": "array"}},
    {"name": "", "inputSchema": {"type": "object"}},
    {"name": "echo", "description": "A second one.", "inputSchema": {"type": "object"}},
    {"name": "large", "inputSchema": {"type": "object"}},
    {"name": "huge", "inputSchema": {"type": "object"}},
    {"name": "fail", "inputSchema": {"type": "object"}},
    {"name": "refuse", "inputSchema": {"type": "object"}},
    {"name": "mixed", "inputSchema": {"type": "object"}},
    {"name": "grow", "inputSchema": {"type": "object"}},
    {"name": "die", "inputSchema": {"type": "object"}},
]

if "collide" in sys.argv:
    # Names that become equal when unsupported characters are replaced.
    for name in ["a.b", "a_b"]:
        tools.append({"name": name, "inputSchema": {"type": "object"}})


def send(message):
    message["jsonrpc"] = "2.0"
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(name, arguments):
    if name == "echo":
        return text("you said: " + arguments["text"])
    if name == "environment":
        return text(json.dumps(dict(os.environ), sort_keys=True))
    if name == "large":
        return text("x" * 200000)
    if name == "huge":
        return text("x" * (5 << 20))
    if name == "fail":
        return {"content": [{"type": "text", "text": "it is broken"}], "isError": True}
    if name == "mixed":
        return {
            "content": [
                {"type": "text", "text": "a\x1b[31mb"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "image", "data": PICTURE, "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
            ]
        }
    if name == "grow":
        tools.append({"name": "grown", "inputSchema": {"type": "object"}})
        send({"method": "notifications/tools/list_changed"})
        return text("grew")
    if name in ("a.b", "a_b"):
        return text("this is " + name)
    if name == "die":
        sys.exit(3)
    return None


def answer(request):
    method, params = request.get("method"), request.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "test", "version": "1"},
        }
    if method == "tools/list":
        # Two pages.
        if params.get("cursor") == "more":
            return {"tools": tools[5:]}
        return {"tools": tools[:5], "nextCursor": "more"}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return None


sys.stderr.write("starting with token=" + os.environ.get("TEST_TOKEN", "") + "\n")
sys.stderr.flush()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message)
    if result is None:
        send({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
    else:
        send({"id": message["id"], "result": result})
