"""A local MCP server over streamable HTTP. Its tool `echo` returns the headers and the path of the request."""

import json

from .recorder import Recorder

JSON = {"Content-Type": "application/json"}
STREAM = {"Content-Type": "text/event-stream"}


class McpServer(Recorder):
    """`received(hit)` is what the tool returns. The argument `as` chooses how: `text`, `stream` or `error`."""

    def __init__(self, received=lambda hit: hit.path + repr(hit.headers)):
        super().__init__(self.reply)
        self.received = received

    @property
    def mcp(self):
        return f"{self.url}/mcp"

    def reply(self, hit):
        if hit.method != "POST":
            return 405, {}, b""
        message = json.loads(hit.body)
        if "id" not in message:
            return 202, {}, b""
        params = message.get("params") or {}
        wanted = (params.get("arguments") or {}).get("as", "text")
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "tools/call" and wanted == "error":
            answer["error"] = {"code": -32000, "message": self.received(hit)}
        else:
            answer["result"] = self.result(message["method"], params, hit)
        text = json.dumps(answer)
        if wanted == "stream":
            # The longest escapes.
            text = text.replace("/", "\\/").replace("&", "\\u0026").replace("_", "\\u005f")
            return 200, STREAM, f"data: {text}\n\n".encode()
        return 200, JSON, text.encode()

    def result(self, method, params, hit):
        if method == "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "gauntlet", "version": "1"},
                "instructions": self.received(hit),
            }
        if method == "tools/list":
            schema = {"type": "object", "properties": {"as": {"type": "string", "description": self.received(hit)}}}
            return {"tools": [{"name": "echo", "description": self.received(hit), "inputSchema": schema}]}
        if method == "tools/call":
            text = self.received(hit)
            return {"content": [{"type": "text", "text": text}], "structuredContent": {text: text}}
        return {}
