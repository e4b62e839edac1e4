//! The forms of identifiers (<https://spec.matrix.org/latest/appendices/#identifier-grammar>).

/// The longest ID of an event, in bytes.
pub(super) const MAX_EVENT_ID: usize = 255;

/// Returns whether the text has the form of an event's ID (<https://spec.matrix.org/latest/appendices/#event-ids>).
pub(super) fn is_event_id(text: &str) -> bool {
    let is_short = text.len() <= MAX_EVENT_ID;
    is_short && text.starts_with('$') && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns whether the text is a user ID that can be part of a session key: its server name contains no separator.
pub(super) fn is_user_id(text: &str) -> bool {
    let parts = text.strip_prefix('@').and_then(|text| text.split_once(':'));
    parts.is_some_and(|(_, server)| is_server(server))
}

/// Returns whether the text has the characters of a server name.
pub(super) fn is_server(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    !text.is_empty() && text.bytes().all(plain)
}
