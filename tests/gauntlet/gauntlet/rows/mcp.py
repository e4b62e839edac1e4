"""The gateway as an MCP server: what a key may do there, and until when."""

import threading
from concurrent.futures import ThreadPoolExecutor

from ..model import refuse, require, row

# Each tool with the method that it calls, and arguments that are complete.
TOOLS = {
    "list_deliveries": ("webhooks.deliveries", {}),
    "get_delivery": ("webhooks.delivery.get", {"id": "dlv_00000000000000000000000000"}),
    "get_delivery_payload": ("webhooks.delivery.payload", {"id": "dlv_00000000000000000000000000"}),
    "replay_delivery": ("webhooks.delivery.replay", {"id": "dlv_00000000000000000000000000"}),
    "list_channels": ("channels.list", {}),
    "send_message": ("channels.send", {"target": "inbox", "text": "sent-by-mcp"}),
    "list_agents": ("agents.list", {}),
    "ask_agent": ("chat.send_sync", {"text": "SAY asked-by-mcp"}),
    "speak": ("tts.convert", {"text": "hello"}),
    "transcribe": ("stt.transcribe", {"audio": "UklGRg=="}),
}
WRITES = {"replay_delivery", "send_message", "ask_agent", "speak", "transcribe"}
BATCHES = [("MCP-Protocol-Version", "2025-03-26")]


def listed(g, caller):
    reply = g.mcp(caller, "tools/list")
    return {tool["name"] for tool in reply.json().get("result", {}).get("tools", [])}


def calls(g, caller, tool):
    return g.mcp(caller, "tools/call", {"name": tool, "arguments": TOOLS[tool][1]})


def has_effect(g):
    """Returns whether a message was sent or the model was asked."""
    return any(it["text"] == "sent-by-mcp" for it in g.inbox()) or any(
        "asked-by-mcp" in str(request["messages"]) for request in g.model().requests()
    )


def use_all(g, caller, tools, who):
    """Calls the tools, one by one and in a batch. None may have a result."""
    for tool in tools:
        refuse("result" in calls(g, caller, tool).json(), f"{who} calls {tool}")
    batch = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": tool, "arguments": TOOLS[tool][1]}}
        for n, tool in enumerate(tools)
    ]
    answers = g.http("POST", g.paths.mcp, caller, batch, BATCHES) if batch else None
    values = answers.json() if answers else []
    for answer in values if isinstance(values, list) else []:
        refuse("result" in answer, f"{who} calls {tools[answer['id']]} in a batch")
    refuse(has_effect(g), f"{who} sends a message or asks the model")


@row(
    "mcp-only",
    "CWE-863",
    "Call tools of the gateway's MCP server with a key that is for another purpose.",
    instance="fresh",
)
def only(g):
    scopes = ["operator.read", "operator.write"]
    offered = listed(g, g.make_key(scopes).caller)
    require({"list_deliveries", "send_message", "ask_agent"} <= offered, "the gateway has no MCP server")
    for patterns, allowed in (
        (["webhooks.deliveries"], {"list_deliveries"}),
        (["channels.list", "agents.list"], {"list_channels", "list_agents"}),
        (["chat.send", "channels.test"], set()),
        (["/v1/audio/*", "/metrics"], set()),
        (["/mcp"], None),
    ):
        reply = g.http("POST", g.paths.keys, g.need_owner(), {"label": "x", "scopes": scopes, "only": patterns})
        if not reply.ok:
            require(allowed is None, f"no key can be made for {patterns}")
            continue
        bearer = ("Authorization", f"Bearer {reply.json()['key']}")
        caller, who = g.stranger().but(bearer), f"a key for {patterns}"
        allowed = allowed or set()
        refuse(listed(g, caller) - allowed, f"{who} is offered other tools")
        for tool in allowed & offered:
            require("result" in calls(g, caller, tool).json(), f"{who} cannot call {tool}")
        use_all(g, caller, sorted((offered | TOOLS.keys()) - allowed), who)
    return f"only the methods of the key, of {len(offered)} tools"


@row(
    "mcp-scope-of-each-tool",
    "CWE-862",
    "Call each tool of the gateway's MCP server with keys that have every scope but its own.",
    instance="fresh",
)
def scope_of_each(g):
    offered = listed(g, g.make_key(["operator.read", "operator.write"]).caller)
    require(len(offered) >= 2, "the gateway has no MCP server")
    refuse(offered - TOOLS.keys(), f"there are tools that this row lacks: {offered - TOOLS.keys()}")
    reads = sorted(offered - WRITES)
    for tool in reads:
        require("result" in calls(g, g.make_key(["operator.read"]).caller, tool).json(), f"{tool} cannot be called")
    for scopes, denied in (
        (["operator.read"], sorted(offered & WRITES)),
        (["operator.write"], reads),
        (["operator.approvals", "operator.pairing"], sorted(offered)),
    ):
        caller, who = g.make_key(scopes).caller, f"a key with {' and '.join(scopes)}"
        refuse(listed(g, caller) & set(denied), f"{who} is offered {listed(g, caller) & set(denied)}")
        use_all(g, caller, denied, who)
    return f"{len(offered)} tools, each with its scope"


@row(
    "mcp-outlives-key",
    "CWE-613",
    "Get the result of a tool of the gateway's MCP server after the key was revoked.",
    instance="fresh",
)
def outlives_key(g):
    revoked, asked = threading.Event(), threading.Event()
    reply_of, late = g.model().reply, []

    def answer(hit):
        if b"asked-by-mcp" in hit.body:
            asked.set()
            if not revoked.wait(30):
                late.append(True)
        return reply_of(hit)

    key = g.make_key(["operator.write", "operator.read"])
    require("asked-by-mcp" in calls(g, key.caller, "ask_agent").text, "the tool has no result")
    g.model().answer = answer
    with ThreadPoolExecutor(2) as pool:
        single = pool.submit(calls, g, key.caller, "ask_agent")
        require(asked.wait(60), "the model was not asked")
        g.revoke_key(key)
        revoked.set()
        reply = single.result()
    if late:
        raise RuntimeError("the key was revoked too late")
    refuse("asked-by-mcp" in reply.text, "the result is sent after the revocation")
    for method in ("tools/list", "initialize", "ping"):
        refuse("result" in g.mcp(key.caller, method).json(), f"{method} is answered after the revocation")
    refuse("result" in calls(g, key.caller, "list_channels").json(), "a tool is called after the revocation")
    return f"answered {reply.status}"
