//! Headers that concern the connection and not the message.

/// Returns whether an HTTP client sets this header itself, or the header concerns the connection and not the
/// message (RFC 9110, section 7.6.1). `name` must be in lower case.
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
