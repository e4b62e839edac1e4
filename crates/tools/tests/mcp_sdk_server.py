"""An MCP server made with the official Python SDK, for tests: over standard input and output, or over HTTP on the
port that the first argument names.
"""

import sys

from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("sdk")


class Place(BaseModel):
    city: str
    country: str | None = None


@server.tool()
def route(start: Place, end: Place) -> str:
    """Describes the way from one place to another."""
    return f"{start.city} to {end.city}"


@server.resource("note://plan")
def plan() -> str:
    """The plan."""
    return "Step one."


@server.resource("note://days/{day}")
def day(day: str) -> str:
    """The notes of a day."""
    return f"Notes of {day}."


@server.prompt()
def review(code: str, style: str = "any") -> str:
    """Asks for a review."""
    return f"Review in the style {style}: {code}"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("it is broken")


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
