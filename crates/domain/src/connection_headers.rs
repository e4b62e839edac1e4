//! Headers that a connection needs for itself.

/// Whether an HTTP client sets this header, or it is about the connection (RFC 9110, section 7.6.1) and not the
/// message. `name` is in lower case.
pub fn is_connection_header(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.contains(&name) || name.starts_with("proxy-")
}
