//! Tests of the parent module.

use super::*;
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::SubscriberExt;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the formatted lines of these events, without their times.
fn lines<F>(format: F, events: fn()) -> Vec<String>
where
    F: FormatEvent<tracing_subscriber::Registry, tracing_subscriber::fmt::format::DefaultFields>
        + Send
        + Sync
        + 'static,
{
    let kept = Captured::default();
    let writer = kept.clone();
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .event_format(format)
        .with_writer(move || writer.clone());
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, events);
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    text.lines()
        .map(|line| line.split_once('Z').unwrap().1.to_owned())
        .collect()
}

fn events() {
    let client: std::net::IpAddr = [192, 0, 2, 1].into();
    tracing::info!(
        target: "gatehouse::request",
        request_id = "req_1", status = 200_u16, client = %client, some = ?Some("a\"b"),
        "request"
    );
    tracing::info!(
        quoted = "a \"b\" \\ c",
        umlaut = "ä",
        is_so = true,
        share = 0.5,
        "said {}",
        1
    );
    tracing::info!(left = -1_i64, "");
    tracing::warn!(why = "disk", "warned");
    tracing::info_span!("outer", id = 7).in_scope(|| tracing::info!("inside"));
}

#[test]
fn the_line_is_the_general_formatters() {
    let general = Format::default()
        .with_timer(Milliseconds::default())
        .with_ansi(false);
    let expected = lines(general, events);
    assert_eq!(expected.len(), 5);
    assert_eq!(lines(TextLine::new(false), events), expected);
    assert_eq!(
        expected[0],
        "  INFO gatehouse::request: request request_id=\"req_1\" status=200 \
         client=192.0.2.1 some=Some(\"a\\\"b\")"
    );
}

#[test]
fn what_came_from_elsewhere_stays_in_its_line() {
    let found = lines(TextLine::new(false), || {
        tracing::info!(name = "a\nb\u{1b}[31m", shown = %"c\r\nd\u{9b}\u{202e}", "e\nf");
        tracing::warn!(name = "a\u{1b}", shown = %"c\u{9b}\u{202e}", "f\u{2066}");
    });
    assert_eq!(found.len(), 2, "{found:?}");
    for line in &found {
        assert!(!line.chars().any(visible::hides), "{line:?}");
        assert!(
            line.contains("u{202E}") || line.contains("u{202e}"),
            "{line}"
        );
    }
}

#[test]
fn times_are_the_clocks_whatever_was_written_before() {
    for millis in [
        0,
        999,
        1_000,
        1_000,
        1_700_000_000_123,
        -1,
        i64::MIN,
        i64::MAX,
        1_700_000_000_999,
    ] {
        let (now, mut text) = (Timestamp::from_millis(millis), String::new());
        write_time(&mut text, now).unwrap();
        assert_eq!(text, now.to_string());
    }
}
