//! Log lines on standard error, as text or JSON, with times in milliseconds. The log starts with the settings of file
//! and environment, because the database is not open yet. [`Logging::apply`] adds settings that were changed at run
//! time.

mod line;
mod output;

pub(crate) use output::LINES_DROPPED;
pub use output::LogOutput;

use gatehouse_config::{Log, LogFormat};
use line::{Milliseconds, TextLine};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, reload};

/// The target of panics. Panics are logged at every `log.level`, because the line may be their only trace.
const PANIC: &str = "gatehouse::panic";

type Lines = Box<dyn Layer<Registry> + Send + Sync>;
type WithLines = Layered<reload::Layer<Lines, Registry>, Registry>;

/// The log output, whose settings can change at run time. Dropping it flushes the lines.
pub struct Logging {
    output: LogOutput,
    lines: reload::Handle<Lines, Registry>,
    filter: reload::Handle<EnvFilter, WithLines>,
    no_color: bool,
}

impl Logging {
    /// Starts the log, which includes panics. Call it once per process.
    ///
    /// # Errors
    /// Fails if the writer thread cannot be started, or on a second call.
    pub fn start(log: &Log, no_color: bool) -> io::Result<Self> {
        let output = LogOutput::start()?;
        let (lines, lines_handle) = reload::Layer::new(lines(output.clone(), log.format, no_color));
        let (filter, filter_handle) = reload::Layer::new(filter(&log.level));
        tracing_subscriber::registry()
            .with(lines)
            .with(filter)
            .try_init()
            .map_err(io::Error::other)?;
        log_panics(output.clone());
        Ok(Self {
            output,
            lines: lines_handle,
            filter: filter_handle,
            no_color,
        })
    }

    /// Applies new settings.
    pub fn apply(&self, log: &Log) {
        let lines = lines(self.output.clone(), log.format, self.no_color);
        let lines = self.lines.reload(lines);
        if let Err(error) = lines.and_then(|()| self.filter.reload(filter(&log.level))) {
            tracing::warn!(%error, "the log settings could not be changed");
        }
    }

    /// Returns the queue of lines that wait to be written.
    pub const fn output(&self) -> &LogOutput {
        &self.output
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.output.flush();
    }
}

/// Logs panics as errors. The standard hook would write to standard error directly, and block if it is not read.
fn log_panics(output: LogOutput) {
    std::panic::set_hook(Box::new(move |panic| {
        let (thread, backtrace) = (std::thread::current(), Backtrace::capture());
        let is_captured = backtrace.status() == BacktraceStatus::Captured;
        tracing::error!(
            target: PANIC,
            thread = thread.name(),
            location = panic.location().map(display),
            backtrace = is_captured.then(|| display(&backtrace)),
            "panicked: {}",
            panic.payload_as_str().unwrap_or("without a message")
        );
        output.flush();
    }));
}

/// Builds the filter. The configuration has already validated the directives, so invalid ones are ignored here.
///
/// Panics pass the filter unless a directive names their target. `rmcp` logs messages of third-party servers in full at
/// `info`. It is therefore limited to `warn`, unless a directive names it.
fn filter(directives: &str) -> EnvFilter {
    let overall = directives.split(',').rfind(|part| !part.contains('='));
    let hears_info = overall.is_some_and(|level| {
        ["info", "debug", "trace"]
            .iter()
            .any(|heard| heard.eq_ignore_ascii_case(level.trim()))
    });
    let builder = EnvFilter::builder();
    // A later directive for the same target overrides an earlier one.
    if hears_info {
        builder.parse_lossy(format!("{PANIC}=error,rmcp=warn,{directives}"))
    } else {
        builder.parse_lossy(format!("{PANIC}=error,{directives}"))
    }
}

fn lines(output: LogOutput, format: LogFormat, no_color: bool) -> Lines {
    let layer = tracing_subscriber::fmt::layer().with_writer(output);
    let is_colored = !no_color && io::stderr().is_terminal();
    match format {
        LogFormat::Text => layer
            .with_ansi(is_colored)
            .event_format(TextLine::new(is_colored))
            .boxed(),
        LogFormat::Json => layer
            .with_timer(Milliseconds::default())
            .json()
            .flatten_event(true)
            .with_ansi(false)
            .boxed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::{Level, enabled, subscriber::with_default};

    /// Returns whether each of these is enabled: `info` and `warn` of `rmcp`, `info` of one of its modules, `info` of
    /// one of our crates.
    fn heard(directives: &str) -> [bool; 4] {
        let subscriber = tracing_subscriber::registry().with(filter(directives));
        with_default(subscriber, || {
            [
                enabled!(target: "rmcp", Level::INFO),
                enabled!(target: "rmcp", Level::WARN),
                enabled!(target: "rmcp::service", Level::INFO),
                enabled!(target: "gatehouse_rpc", Level::INFO),
            ]
        })
    }

    #[test]
    fn what_servers_of_strangers_say_is_not_logged_unless_asked_for() {
        assert_eq!(heard("info"), [false, true, false, true]);
        assert_eq!(heard("DEBUG,sqlx=warn"), [false, true, false, true]);
        assert_eq!(heard("info,rmcp=info"), [true, true, true, true]);
        assert_eq!(heard("rmcp=debug,info"), [true, true, true, true]);
    }

    #[test]
    fn panics_are_logged_at_every_level_unless_they_are_named() {
        let is_logged = |directives| {
            let subscriber = tracing_subscriber::registry().with(filter(directives));
            with_default(subscriber, || enabled!(target: PANIC, Level::ERROR))
        };
        for directives in [
            "off",
            "error",
            "info",
            "gatehouse_web=info",
            "off,gatehouse=off",
        ] {
            assert!(is_logged(directives), "{directives}");
        }
        assert!(!is_logged("info,gatehouse::panic=off"));
    }

    #[test]
    fn a_stricter_level_stays_stricter() {
        assert_eq!(heard("error"), [false; 4]);
        assert_eq!(heard("off"), [false; 4]);
        assert_eq!(heard("warn"), [false, true, false, false]);
    }
}
