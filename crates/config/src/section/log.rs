//! `[log]`: level and format of the log on standard error.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use std::str::FromStr;

const FORMATS: &[&str] = &["text", "json"];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "log.level",
        kind: Kind::Text(Rule::LogFilter),
        default: Initial::Text("info"),
        doc: "off, error, warn, info, debug or trace, optionally per module: info,hyper=warn. \
              SERVICE_LOG also sets it.",
        example: "",
        guard: Guard::Write,
        change: Change::Restart,
    },
    KeySpec {
        key: "log.format",
        kind: Kind::Text(Rule::OneOf(FORMATS)),
        default: Initial::Text("text"),
        doc: "text for reading, json for log collectors.",
        example: "",
        guard: Guard::Write,
        change: Change::Restart,
    },
];

/// The section `[log]`.
#[derive(Clone, Debug)]
pub struct Log {
    /// A level, or directives such as `info,hyper=warn`.
    pub level: String,
    pub format: LogFormat,
}

impl Log {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            level: reader.required("log.level")?,
            format: reader.required("log.format")?,
        })
    }
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    /// One JSON object per line.
    Json,
}

impl FromStr for LogFormat {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(InvalidValue::expected_one_of(FORMATS)),
        }
    }
}

/// Accepts a level, or `target=level` directives separated by commas. A word without `=` must be a level: if it
/// were accepted as a target, a misspelled level would log everything or nothing.
pub(crate) fn check_filter(text: &str) -> Result<String, InvalidValue> {
    let is_target = |target: &str| {
        !target.is_empty()
            && target
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-'))
    };
    for directive in text.split(',') {
        let directive = directive.trim();
        let level = match directive.split_once('=') {
            Some((target, level)) if is_target(target) => level,
            Some(_) => "",
            None => directive,
        };
        if !LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
            return Err(InvalidValue::new(
                "expected off, error, warn, info, debug or trace, or a list such as \
                 info,hyper=warn",
            ));
        }
    }
    Ok(text.replace(char::is_whitespace, ""))
}
