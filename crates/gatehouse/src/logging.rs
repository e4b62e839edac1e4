//! Log lines on standard error, as text or JSON, with times in milliseconds. Starts with the settings of file
//! and environment, because the database is not open yet; [`Logging::apply`] adds those changed at run time.

mod line;

use gatehouse_config::{Log, LogFormat};
use line::{Milliseconds, TextLine};
use std::io::IsTerminal;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry, reload};

type Lines = Box<dyn Layer<Registry> + Send + Sync>;
type WithLines = Layered<reload::Layer<Lines, Registry>, Registry>;

/// The log output, whose settings can change at run time.
pub struct Logging {
    lines: reload::Handle<Lines, Registry>,
    filter: reload::Handle<EnvFilter, WithLines>,
    no_color: bool,
}

impl Logging {
    /// Starts logging. Call it once per process.
    pub fn start(log: &Log, no_color: bool) -> Result<Self, TryInitError> {
        let (lines, lines_handle) = reload::Layer::new(lines(log.format, no_color));
        let (filter, filter_handle) = reload::Layer::new(filter(&log.level));
        tracing_subscriber::registry()
            .with(lines)
            .with(filter)
            .try_init()?;
        Ok(Self {
            lines: lines_handle,
            filter: filter_handle,
            no_color,
        })
    }

    /// Applies new settings.
    pub fn apply(&self, log: &Log) {
        let lines = self.lines.reload(lines(log.format, self.no_color));
        if let Err(error) = lines.and_then(|()| self.filter.reload(filter(&log.level))) {
            tracing::warn!(%error, "the log settings could not be changed");
        }
    }
}

/// Builds the filter. The configuration has already validated the directives; invalid ones are ignored here.
///
/// `rmcp` logs messages of third-party servers in full at `info`. It is therefore limited to `warn`, unless a
/// directive names it.
fn filter(directives: &str) -> EnvFilter {
    let overall = directives.split(',').rfind(|part| !part.contains('='));
    let hears_info = overall.is_some_and(|level| {
        ["info", "debug", "trace"]
            .iter()
            .any(|heard| heard.eq_ignore_ascii_case(level.trim()))
    });
    let builder = EnvFilter::builder();
    if hears_info {
        // A later directive for the same target overrides an earlier one.
        builder.parse_lossy(format!("rmcp=warn,{directives}"))
    } else {
        builder.parse_lossy(directives)
    }
}

fn lines(format: LogFormat, no_color: bool) -> Lines {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let is_colored = !no_color && std::io::stderr().is_terminal();
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

    /// Whether each is enabled: `info` and `warn` of `rmcp`, `info` of one of its modules, `info` of a crate
    /// of ours.
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
    fn a_stricter_level_stays_stricter() {
        assert_eq!(heard("error"), [false; 4]);
        assert_eq!(heard("off"), [false; 4]);
        assert_eq!(heard("warn"), [false, true, false, false]);
    }
}
