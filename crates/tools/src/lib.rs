//! The built-in tools (calc, web_fetch, web_search) and the tools of MCP servers.
