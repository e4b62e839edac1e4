"""Runs jobs with the MCP client of the Python SDK against a gateway.

Reads {"url", "key", "jobs": [{"tool", "arguments", "progress"?}]} from standard input and writes {"version", "tools",
"results"}, with one result per job: {"isError", "content"} or {"code", "message"}. If "progress" is true, the client
asks for notifications, and their values are in "progress" of the result. A connection that is refused is {"refused"}.
"""

import asyncio
import json
import sys

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client


async def call(client, job):
    values = []

    async def note(progress, total, message):
        values.append(progress)

    asks = job.get("progress", False)
    callback = note if asks else None
    try:
        result = await client.call_tool(job["tool"], job["arguments"], progress_callback=callback)
    except mcp.MCPError as error:
        return {"code": error.code, "message": str(error)}
    answer = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**answer, "progress": values} if asks else answer


async def work(order):
    headers = {"Authorization": f"Bearer {order['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(order["url"], http_client=http)
        async with mcp.Client(transport) as client:
            listed = await client.list_tools()
            return {
                "version": client.protocol_version,
                "tools": [tool.name for tool in listed.tools],
                "results": [await call(client, job) for job in order["jobs"]],
            }


def main():
    order = json.load(sys.stdin)
    try:
        answer = asyncio.run(work(order))
    except* mcp.MCPError as group:
        answer = {"refused": repr(group.exceptions)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
