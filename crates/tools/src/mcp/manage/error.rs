//! Errors of the management of MCP servers.

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::StoreError;

/// Why an operation on a server was refused or failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("the server does not exist")]
    NotFound,
    #[error("the server is not connected")]
    NotConnected,
    /// The server's tools differ from the tools that the caller saw.
    #[error("the tools have changed")]
    Changed,
    #[error("the server does not offer the tool {0}")]
    NoTool(String),
    #[error("the server does not offer the prompt")]
    NoPrompt,
    /// An argument of a prompt is missing, unknown or too long.
    #[error("the arguments are not valid: {0}")]
    Argument(String),
    /// The server did not fill in a prompt. Its error text is for the caller.
    #[error("the server returned no prompt")]
    Refused {
        /// The name of the server.
        server: String,
        said: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<McpError> for Problem {
    fn from(error: McpError) -> Self {
        match error {
            McpError::NotFound => Self::not_found("MCP server"),
            McpError::NotConnected => Self::new(
                ErrorCode::Conflict,
                "The MCP server is not connected. Nothing was changed. See its `problem` in mcp.list.",
            ),
            McpError::Changed => Self::new(
                ErrorCode::Conflict,
                "The tools of the MCP server have changed since you listed them. Nothing was approved. Call mcp.list \
                 again.",
            ),
            McpError::NoTool(_) => {
                Self::invalid_params("tools", "contains a tool that the server does not have")
            }
            McpError::NoPrompt => Self::not_found("MCP prompt"),
            McpError::Argument(reason) => Self::invalid_params("arguments", reason),
            McpError::Refused { server, said } => Self::new(
                ErrorCode::ProviderFailed,
                "The MCP server returned no prompt. Check the arguments and try again.",
            )
            .with("provider", server)
            .with("retryable", false)
            .with("provider_message", said),
            McpError::Store(error) => error.into(),
        }
    }
}
