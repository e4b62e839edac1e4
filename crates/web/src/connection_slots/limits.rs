//! Limits of connections.

use std::time::Duration;

/// The limits for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The maximum number of connections, including WebSockets.
    pub total: usize,
    /// The maximum per client: an IPv4 address or the /64 of an IPv6 address. Peers on this machine and
    /// trusted proxies are exempt, because they carry the traffic of many clients.
    pub per_client: usize,
    /// How long a connection may be without an active request.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            total: 16_384,
            per_client: 1024,
            idle: Duration::from_mins(2),
        }
    }
}

impl ConnectionLimits {
    /// Adjusts the limits to the process's limit of open files and keeps some files in reserve.
    pub fn for_open_files(files: u64) -> Self {
        let usual = Self::default();
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let for_connections = files.saturating_sub((files / 4).min(512));
        Self {
            total: usual.total.min(for_connections.max(1)),
            ..usual
        }
    }
}
