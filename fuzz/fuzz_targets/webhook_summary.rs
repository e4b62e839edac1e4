//! Deliveries of every profile: event type, keys, kept headers, handshake and summary for any input. No
//! output exceeds its maximum length or contains a control character. No line of untrusted text begins a line
//! of the summary unless it belongs to the outline.
#![no_main]

use gatehouse_sources::event::{self, MAX_VALUE_CHARS};
use gatehouse_sources::profile;
use gatehouse_sources::summary::{MAX_SUMMARY_CHARS, summarise};
use gatehouse_sources::{Payload, PayloadError};
use libfuzzer_sys::fuzz_target;

// The first byte selects the profile. Header lines, an empty line and the body follow.
fuzz_target!(|bytes: &[u8]| {
    let (pick, rest) = gatehouse_fuzz::split(bytes);
    let profiles = profile::all();
    let profile = profiles[usize::from(pick) % profiles.len()];
    let blank = rest.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = match blank {
        Some(at) => (&rest[..at], &rest[at + 2..]),
        None => (&rest[..0], rest),
    };
    let headers = gatehouse_fuzz::headers(head, profile.headers);
    let payload = match Payload::read(profile.body, body) {
        Ok(payload) => payload,
        Err(error) => return assert!(!matches!(error, PayloadError::TooLarge)),
    };
    let own = Some("x-event-type");
    let read = event::read(profile, own, &headers, &payload, body);
    let longest = MAX_VALUE_CHARS + "recording.".len();
    for value in [&read.event_type, &read.delivery_key].into_iter().flatten() {
        assert_sound(value, longest);
    }
    if let Some(entity) = &read.entity_key {
        assert_sound(entity, 4 * MAX_VALUE_CHARS);
    }
    for (name, value) in event::safe_headers(profile, own, &headers) {
        assert!(profile.headers.contains(&&*name) || name == "content-type");
        assert_sound(&value, MAX_VALUE_CHARS);
    }
    let asked = event::HandshakeInput {
        profile,
        mode: profile.default_auth_mode,
        headers: &headers,
        payload: &payload,
        secret: Some("a secret"),
    };
    assert!(event::handshake(&asked).is_none() || profile.handshake.is_some());
    for event_type in [read.event_type.as_deref(), None] {
        let summary = summarise(profile, event_type, &payload);
        assert!(!summary.is_empty() && summary.chars().count() <= MAX_SUMMARY_CHARS);
        assert!(!summary.chars().any(|it| it.is_control() && it != '\n'));
        assert!(!summary.lines().any(|line| line.trim_end() == "---"));
    }
});

fn assert_sound(value: &str, max_chars: usize) {
    assert!(
        !value.is_empty() && value.chars().count() <= max_chars,
        "{value}"
    );
    assert!(!value.chars().any(char::is_control), "{value}");
}
