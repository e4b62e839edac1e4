//! Errors of the connection to a server.

/// Why there is no connection. Shown to people; contains no secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the vault is sealed; it starts when the vault is unlocked")]
    Sealed,
    #[error("the vault's environment variables cannot be read")]
    Secrets,
    #[error(
        "the environment variable {0}, named in `env` of this server, is not in the vault; set it \
         with env.set"
    )]
    Missing(String),
    #[error(
        "the environment variable {0} was entered for {1}, not for this server's address; set it again \
         with env.set to send it here, or delete it"
    )]
    KeyOfAnother(String, String),
    /// A secret in the URL or a header cannot be sent.
    #[error("{0}")]
    Secret(String),
    #[error("its program cannot be started: {0}")]
    Program(std::io::ErrorKind),
    #[error("its URL cannot be called: {0}")]
    Url(#[from] gatehouse_outbound::OutboundError),
    #[error("it requires an authorization; connect it on the MCP servers page")]
    Unauthorized,
    /// The stored tokens cannot currently be read or refreshed.
    #[error("there is no access token for it: {0}")]
    NoToken(String),
    #[error("the MCP handshake failed")]
    Handshake,
}
