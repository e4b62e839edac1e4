"""The stub as an MCP server."""

from .base import CallError

READ, WRITE = "operator.read", "operator.write"
# Each tool with its method and scope.
TOOLS = {
    "list_deliveries": ("webhooks.deliveries", READ),
    "list_channels": ("channels.list", READ),
    "list_agents": ("agents.list", READ),
    "send_message": ("channels.send", WRITE),
    "ask_agent": ("chat.send_sync", WRITE),
}


class Mcp:
    """Part of the stub."""

    def mcp(self, request, identity, call):
        """Returns the response to one message or a batch."""
        if isinstance(call, list):
            return [self.mcp(request, identity, one) for one in call]
        answer = {"jsonrpc": "2.0", "id": call.get("id")}
        try:
            answer["result"] = self.mcp_result(identity, call.get("method"), call.get("params") or {})
        except CallError as error:
            answer["error"] = {"code": error.number, "message": error.text}
        if self.identify(request) is None and not self.weak("mcp-outlives-key"):
            return {"jsonrpc": "2.0", "id": call.get("id"), "error": {"code": -32001, "message": "the key has ended"}}
        return answer

    def mcp_result(self, identity, method, params):
        if method == "tools/list":
            return {"tools": [{"name": name} for name in TOOLS if self.may_use(identity, name)]}
        name = params.get("name")
        if method != "tools/call" or name not in TOOLS:
            raise CallError(-32601, "METHOD_NOT_FOUND", "no such method")
        if not self.may_use(identity, name):
            raise CallError(-32004, "FORBIDDEN", "another key is needed")
        arguments, content = params.get("arguments") or {}, "{}"
        if name == "send_message":
            self.messages.append({"text": arguments["text"]})
        if name == "ask_agent":
            content = self.turn(arguments["text"])
        return {"content": [{"type": "text", "text": content}], "isError": False}

    def may_use(self, identity, name):
        method, scope = TOOLS[name]
        has_scope = identity.may(scope) or self.weak("mcp-tool-scope") or self.weak("mcp-scope-of-each-tool")
        return has_scope and (self.is_within(identity, method) or self.weak("mcp-only"))
