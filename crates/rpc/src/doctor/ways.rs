//! What goes wrong on the ways in and out: MCP servers, webhooks that anybody may call.

use super::Check;
use crate::rooms::Rooms;
use gatehouse_tools::{McpState, McpStatus};
use gatehouse_webhooks::AuthMode;

/// All MCP servers together, when there are any.
pub(super) fn mcp(servers: &[McpStatus]) -> Option<Check> {
    if servers.is_empty() {
        return None;
    }
    let broken = servers
        .iter()
        .find(|server| matches!(server.state, McpState::Failed | McpState::NotBuilt));
    let waiting = servers
        .iter()
        .filter(|server| server.state == McpState::WaitingForVault)
        .count();
    let check = match broken {
        Some(server) => {
            let problem = server.problem.as_deref().unwrap_or("it cannot be used");
            let message = format!("The MCP server {} does not work: {problem}.", server.name);
            let hint =
                "Check its settings under [mcp.servers] and that its program runs by itself.";
            Check::bad("mcp", message, hint)
        }
        None if waiting > 0 => Check::bad(
            "mcp",
            format!("{waiting} MCP server(s) wait for variables in the sealed vault."),
            "Unlock the vault.",
        ),
        None => {
            let tools: usize = servers.iter().map(|server| server.tools).sum();
            let count = servers.len();
            Check::fine("mcp", format!("{count} MCP server(s), {tools} tool(s)."))
        }
    };
    Some(check)
}

/// Webhooks that verify nothing.
pub(super) async fn open_webhooks(rooms: &Rooms) -> Option<Check> {
    let id = "webhooks";
    let all = match rooms.webhooks.list(500, None).await {
        Ok(page) => page.webhooks,
        Err(error) => {
            let message = format!("The webhooks cannot be read: {error}.");
            return Some(Check::bad(id, message, "The log has more."));
        }
    };
    let is_open = |mode: AuthMode, enabled: bool| enabled && mode == AuthMode::None;
    let open: Vec<&str> = all
        .iter()
        .filter(|webhook| is_open(webhook.auth_mode, webhook.enabled))
        .map(|webhook| webhook.name.as_str())
        .collect();
    match open.first() {
        _ if all.is_empty() => None,
        None => Some(Check::fine(id, "Every webhook verifies its deliveries.")),
        Some(name) => Some(Check::bad(
            id,
            format!(
                "{} webhook(s) take deliveries from anybody; first: {name}.",
                open.len()
            ),
            "Choose an auth_mode other than none, or disable them.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(state: McpState) -> McpStatus {
        McpStatus {
            name: "files".to_owned(),
            transport: "stdio",
            state,
            tools: 2,
            problem: None,
        }
    }

    #[test]
    fn a_server_that_does_not_work_is_named() {
        assert!(mcp(&[]).is_none());
        let good = mcp(&[server(McpState::Connected), server(McpState::Starting)]).unwrap();
        assert!(good.ok && good.message.contains("4 tool(s)"), "{good:?}");
        let bad = mcp(&[server(McpState::Connected), server(McpState::Failed)]).unwrap();
        assert!(!bad.ok && bad.message.contains("files"), "{bad:?}");
        let waits = mcp(&[server(McpState::WaitingForVault)]).unwrap();
        assert!(!waits.ok, "{waits:?}");
    }
}
