"""An MCP server over standard input and output, without dependencies, for tests.

MCP 2025-06-18: one JSON-RPC message per line; initialize, notifications/initialized, tools/list, tools/call,
notifications/tools/list_changed. With the argument `offers` also resources/list, resources/templates/list,
resources/read, prompts/list, prompts/get, notifications/resources/list_changed, notifications/prompts/list_changed.
"""

import base64
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

resources = [
    {
        "uri": "file:///plan.txt",
        "name": "plan.txt",
        "title": "The plan",
        "description": "What to do,\nand \x1b[1mwhen.",
        "mimeType": "text/plain",
        "size": 12,
    },
    {"uri": "file:///dots.png", "name": "dots.png", "mimeType": "image/png"},
    {"uri": "file:///data.bin", "name": "data.bin", "mimeType": "application/octet-stream"},
    {"uri": "file:///note", "name": "note"},
    {"uri": "file:///folder", "name": "folder"},
    {"uri": "file:///large", "name": "large"},
    {"uri": "file:///hidden\u202e", "name": "a name with a hidden character"},
    {"uri": 7, "name": "no URI"},
]
templates = [{"uriTemplate": "file:///logs/{day}", "name": "logs", "description": "The log of a day."}]
prompts = [
    {
        "name": "review",
        "title": "Review code",
        "description": "Asks for a review.",
        "arguments": [
            {"name": "code", "description": "What to review.", "required": True},
            {"name": "style"},
        ],
    },
    {"name": "talk"},
    {"name": "hid\u200bden"},
    {"name": "broken"},
]

OFFERS = "offers" in sys.argv
OFFERED = {"resources": {"listChanged": True}, "prompts": {"listChanged": True}}
if OFFERS:
    for name in ["grow_resources", "grow_prompts"]:
        tools.append({"name": name, "inputSchema": {"type": "object"}})

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
    if name == "grow_resources":
        resources.append({"uri": "file:///new", "name": "new"})
        send({"method": "notifications/resources/list_changed"})
        return text("grew")
    if name == "grow_prompts":
        prompts.append({"name": "new"})
        send({"method": "notifications/prompts/list_changed"})
        return text("grew")
    if name in ("a.b", "a_b"):
        return text("this is " + name)
    if name == "die":
        sys.exit(3)
    return None


def blob(uri, mime_type, data):
    return {"uri": uri, "mimeType": mime_type, "blob": data}


def read(uri):
    encoded = lambda data: base64.b64encode(data).decode()
    if uri == "file:///plan.txt":
        contents = [{"uri": uri, "mimeType": "text/plain", "text": "Step\x1b[1m one."}]
    elif uri == "file:///dots.png":
        contents = [blob(uri, "image/png", PICTURE)]
    elif uri == "file:///data.bin":
        contents = [blob(uri, "application/octet-stream", encoded(b"\x00\x01\xff" * 4))]
    elif uri == "file:///note":
        contents = [blob(uri, None, encoded("Ein schöner Text.".encode()))]
    elif uri == "file:///folder":
        part = lambda n: blob("file:///folder/%d.png" % n, "image/png", PICTURE)
        contents = [{"uri": "file:///folder/a", "text": "first"}] + [part(n) for n in range(5)]
    elif uri == "file:///large":
        contents = [{"uri": uri, "text": "x" * 200000}]
    elif uri == "file:///logs/die":
        sys.exit(3)
    elif uri.startswith("file:///logs/"):
        contents = [{"uri": uri, "text": "log of " + uri[13:]}]
    else:
        return None
    return {"contents": contents}


def prompt(name, arguments):
    said = lambda role, content: {"role": role, "content": content}
    if name == "review":
        style = arguments.get("style", "any")
        value = "Review in the style %s:\u202e\n%s" % (style, arguments["code"])
        return {"description": "A review", "messages": [said("user", {"type": "text", "text": value})]}
    if name == "talk":
        inside = {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}}
        image = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
        texts = [{"type": "text", "text": "Hello."}, {"type": "text", "text": "Hi."}]
        return {
            "messages": [said("user", texts[0]), said("assistant", texts[1]), said("user", inside), said("user", image)]
        }
    return None


def in_pages(params, name, entries):
    """Two pages."""
    if params.get("cursor") == "more":
        return {name: entries[1:]}
    return {name: entries[:1], "nextCursor": "more"}


def answer(request):
    method, params = request.get("method"), request.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, **(OFFERED if OFFERS else {})},
            "serverInfo": {"name": "test", "version": "1"},
        }
    if method == "tools/list":
        # Two pages.
        if params.get("cursor") == "more":
            return {"tools": tools[5:]}
        return {"tools": tools[:5], "nextCursor": "more"}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    if not OFFERS:
        return None
    if method == "resources/list":
        return in_pages(params, "resources", resources)
    if method == "resources/templates/list":
        return {"resourceTemplates": templates}
    if method == "resources/read":
        return read(params["uri"])
    if method == "prompts/list":
        return in_pages(params, "prompts", prompts)
    if method == "prompts/get":
        return prompt(params["name"], params.get("arguments") or {})
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
