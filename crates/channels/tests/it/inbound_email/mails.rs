//! Emails as a server stores them.

use crate::harness::NOW_MS;
use crate::imap::{PASSWORD, USER};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the fields of an account whose mail server is on this port.
pub(super) fn fields_at(imap_port: u16) -> Value {
    json!({
        "host": "localhost", "port": 25, "from": "Gatehouse <gatehouse@example.com>",
        "inbound": true, "imap_host": "localhost", "imap_port": imap_port, "imap_security": "none",
        "imap_user": USER, "imap_password": PASSWORD, "authserv_id": "mx.example.com",
    })
}

/// Returns the fields of an email to this account, with an ID of its own.
pub(super) fn sent(ms: i64) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(
        "To: {USER}\nDate: {}\nMessage-ID: <{number}@x.example>\n",
        date(ms)
    )
}

/// Returns a time as in an email.
pub(super) fn date(ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap();
    at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// Returns an email that the server has authenticated.
pub(super) fn mail(from: &str, more: &str, body: &str) -> String {
    mail_at(NOW_MS, from, more, body)
}

pub(super) fn mail_at(ms: i64, from: &str, more: &str, body: &str) -> String {
    format!("{}{more}{}\n{body}\n", authentic(from), sent(ms))
}

/// Returns the beginning of an email that the server has authenticated.
pub(super) fn authentic(from: &str) -> String {
    let domain = from.split_once('@').unwrap().1.trim_end_matches('>');
    format!(
        "Authentication-Results: mx.example.com; dmarc=pass header.from={domain}\nFrom: {from}\n"
    )
}
