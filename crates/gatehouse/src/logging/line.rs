//! Formats an event as one line of text, in the layout of the subscriber's own formatter. That formatter still handles
//! all other cases: colors, spans, and errors with causes. This module exists because every request writes a line, and
//! the general formatter costs as much as the rest of the gate.

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
                // The time is outside the formatter's range, so it is written as a plain number.
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
            // The formatter escapes the escape characters in values, but keeps those of its own
            // colors.
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

/// Returns whether the text needs no quoting or escaping.
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

/// A writer that escapes external text, which must neither start a new line nor control the
/// terminal.
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
mod tests;
