//! Subtitles of a transcript, as `SubRip` and `WebVTT` (<https://www.w3.org/TR/webvtt1/>). Provider
//! timestamps are not trusted: the output is ordered and without overlaps, and every cue has a duration.

mod from_words;
#[cfg(test)]
mod tests;

use crate::stt::{Segment, Word};
use std::fmt::Write as _;
use std::time::Duration;

/// The maximum number of characters per line, and lines per cue.
const MAX_LINE: usize = 42;
const MAX_LINES: usize = 2;
/// The longest duration of a cue.
const MAX_CUE: Duration = Duration::from_secs(7);
/// The duration of a cue whose end is unknown.
const DEFAULT_CUE: Duration = Duration::from_secs(1);
/// Speaking rate, to estimate the duration of a text without timestamps.
const CHARACTERS_A_SECOND: u32 = 15;
/// The latest valid time. Later timestamps are provider errors.
const MAX_TIME: Duration = Duration::from_hours(1000);

/// Returns the cues of a transcript from the first source that fits: its segments if none is too long to read, cues
/// built from its words, its segments unchanged, or the whole text as one cue.
pub(crate) fn cues(
    words: &[Word],
    segments: &[Segment],
    text: &str,
    duration_seconds: f64,
) -> Vec<Segment> {
    if !segments.is_empty() && (words.is_empty() || segments.iter().all(is_short)) {
        return segments.to_vec();
    }
    if !words.is_empty() {
        return from_words::cues(words);
    }
    if text.trim().is_empty() {
        return Vec::new();
    }
    let guess = u32::try_from(text.chars().count()).unwrap_or(u32::MAX) / CHARACTERS_A_SECOND;
    let known = time(duration_seconds).filter(|duration| !duration.is_zero());
    let duration = known.unwrap_or_else(|| Duration::from_secs(u64::from(guess).max(1)));
    vec![Segment {
        text: text.trim().to_owned(),
        start: 0.0,
        end: duration.as_secs_f64(),
    }]
}

fn is_short(segment: &Segment) -> bool {
    let length = segment.text.trim().chars().count();
    length <= MAX_LINE * MAX_LINES && segment.end - segment.start <= MAX_CUE.as_secs_f64()
}

/// Formats `SubRip`: numbered cues, with a comma before the milliseconds.
pub(crate) fn srt(cues: &[Segment]) -> String {
    let mut file = String::new();
    for (number, cue) in timed(cues).into_iter().enumerate() {
        let (start, end) = (clock(cue.start, ','), clock(cue.end, ','));
        // Some players would take an arrow in the text for a timing line.
        let text = cue.text.replace("-->", "->");
        // Writing to a `String` cannot fail.
        let _ = write!(file, "{}\n{start} --> {end}\n{text}\n\n", number + 1);
    }
    file
}

/// Formats `WebVTT`.
pub(crate) fn vtt(cues: &[Segment]) -> String {
    let mut file = String::from("WEBVTT\n\n");
    for cue in timed(cues) {
        let (start, end) = (clock(cue.start, '.'), clock(cue.end, '.'));
        let text = cue.text.replace('&', "&amp;").replace('<', "&lt;");
        let text = text.replace('>', "&gt;");
        let _ = write!(file, "{start} --> {end}\n{text}\n\n");
    }
    file
}

/// A cue with valid times.
struct Timed {
    start: Duration,
    end: Duration,
    text: String,
}

/// Returns the non-empty cues in order. Each cue starts no earlier than its predecessor, has a positive duration, and
/// ends no later than its successor starts.
fn timed(cues: &[Segment]) -> Vec<Timed> {
    let mut all: Vec<Timed> = Vec::with_capacity(cues.len());
    for cue in cues {
        let text = readable(&cue.text);
        if text.is_empty() {
            continue;
        }
        let (start, end) = match (time(cue.start), time(cue.end)) {
            (Some(start), Some(end)) if end < start => (Some(end), Some(start)),
            times => times,
        };
        let start = match all.last_mut() {
            None => start.unwrap_or_default(),
            Some(before) => match start {
                Some(start) if start > before.start => {
                    before.end = before.end.min(start);
                    start
                }
                _ => before.end,
            },
        };
        let end = end.filter(|end| *end > start);
        all.push(Timed {
            start,
            end: end.unwrap_or(start + DEFAULT_CUE),
            text,
        });
    }
    all
}

/// Returns a time rounded to whole milliseconds, or `None` if it is invalid.
fn time(seconds: f64) -> Option<Duration> {
    let exact = Duration::try_from_secs_f64(seconds).ok()?;
    let rounded = exact.saturating_add(Duration::from_micros(500)).as_millis();
    let time = Duration::from_millis(u64::try_from(rounded).ok()?);
    (time <= MAX_TIME).then_some(time)
}

/// Returns the non-empty lines of a text, without control characters.
fn readable(text: &str) -> String {
    let lines = text.split(['\n', '\r']).map(|line| {
        let line: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        line.trim().to_owned()
    });
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Formats hours, minutes, seconds and milliseconds.
fn clock(time: Duration, mark: char) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let (seconds, millis) = (seconds % 60, time.subsec_millis());
    format!("{hours:02}:{minutes:02}:{seconds:02}{mark}{millis:03}")
}
