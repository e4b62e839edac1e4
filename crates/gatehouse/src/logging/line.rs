//! Formats an event as one line of text, in the layout of the subscriber's own formatter. That formatter
//! still handles everything except the plain case: colors, spans, errors with causes. Every request writes a
//! line, and the general formatter costs as much as the rest of the gate.

use gatehouse_domain::{Clock, SystemClock, Timestamp, visible};
use std::cell::RefCell;
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The time in UTC with milliseconds.
#[derive(Debug, Default)]
pub(super) struct Milliseconds(SystemClock);

thread_local! {
    /// The second of this thread's last line, and its formatted text up to the decimal point.
    static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
}

impl FormatTime for Milliseconds {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write_time(writer, self.0.now())
    }
}

fn write_time(writer: &mut dyn Write, now: Timestamp) -> fmt::Result {
    let (second, millis) = (
        now.as_millis().div_euclid(1000),
        now.as_millis().rem_euclid(1000),
    );
    SECOND.with_borrow_mut(|(of, text)| {
        if *of != second {
            let whole = Timestamp::from_millis(now.as_millis().saturating_sub(millis)).to_string();
            let Some((start, _)) = whole.split_once('.') else {
                // Out of the formatter's range: the time is a plain number.
                return write!(writer, "{now}");
            };
            start.clone_into(text);
            *of = second;
        }
        writer.write_str(text)?;
        write!(writer, ".{millis:03}Z")
    })
}

/// The formatter of text lines.
#[derive(Debug)]
pub(super) struct TextLine {
    time: Milliseconds,
    general: Format<Full, Milliseconds>,
}

impl TextLine {
    pub(super) fn new(is_colored: bool) -> Self {
        let general = Format::default()
            .with_timer(Milliseconds::default())
            .with_ansi(is_colored);
        Self {
            time: Milliseconds::default(),
            general,
        }
    }
}

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let meta = event.metadata();
        let is_plain = *meta.level() == Level::INFO
            && !writer.has_ansi_escapes()
            && context.lookup_current().is_none();
        if !is_plain {
            let is_colored = writer.has_ansi_escapes();
            let mut text = String::new();
            self.general
                .format_event(context, Writer::new(&mut text), event)?;
            // The formatter escapes the escape characters of values, but not those of its colors.
            let is_kept = |c| matches!(c, '\n' | '\t') || (is_colored && c == '\u{1b}');
            return writer.write_str(&visible::keeping(&text, is_kept).text);
        }
        self.time.format_time(&mut writer)?;
        for part in ["  INFO ", meta.target(), ":"] {
            writer.write_str(part)?;
        }
        let mut fields = Fields {
            writer: &mut writer,
            outcome: Ok(()),
        };
        event.record(&mut fields);
        fields.outcome?;
        writer.write_char('\n')
    }
}

struct Fields<'a, 'w> {
    writer: &'a mut Writer<'w>,
    outcome: fmt::Result,
}

impl Fields<'_, '_> {
    fn write(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.outcome.is_err() {
            return;
        }
        self.outcome = self.writer.write_char(' ').and_then(|()| {
            if field.name() != "message" {
                self.writer.write_str(field.name())?;
                self.writer.write_char('=')?;
            }
            value(self.writer)
        });
    }
}

/// Whether the text needs no quoting or escaping.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

impl Visit for Fields<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            return self.record_debug(field, &format_args!("{value}"));
        }
        self.write(field, |writer| {
            if !is_plain(value) {
                return write!(Escaped(writer), "{value:?}");
            }
            writer.write_char('"')?;
            writer.write_str(value)?;
            writer.write_char('"')
        });
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, |writer| write!(writer, "{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, |writer| write!(Escaped(writer), "{value:?}"));
    }
}

/// External text must neither start a new line nor control the terminal.
struct Escaped<'a, 'w>(&'a mut Writer<'w>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        self.0.write_str(&visible::line(text).text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The formatted lines of these events, without their times.
    fn lines<F>(format: F, events: fn()) -> Vec<String>
    where
        F: FormatEvent<
                tracing_subscriber::Registry,
                tracing_subscriber::fmt::format::DefaultFields,
            > + Send
            + Sync
            + 'static,
    {
        let kept = Kept::default();
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
}
