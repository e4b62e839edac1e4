//! Summarizes an event for people: a sentence, followed by one line per relevant field. Converts a profile's tables
//! of sentences and fields to text, and summarizes unknown payloads. The tables are profile data. All text from the
//! sender is cleaned and limited in length. Longer texts are indented, so that they cannot imitate the summary's
//! own lines.

pub(crate) mod field;
pub(crate) mod outline;
pub(crate) mod report;

pub use field::{Field, Section, Summary};
pub use report::MAX_SUMMARY_CHARS;

use crate::clean;
use crate::event_family::in_family;
use crate::payload::{Node, Payload};
use crate::profile::Profile;
use report::Report;

/// Summarizes an event. The result has at most [`MAX_SUMMARY_CHARS`] characters and no trailing line break.
pub fn summarise(profile: &Profile, event_type: Option<&str>, payload: &Payload) -> String {
    let mut report = Report::default();
    let root = payload.root();
    let event = event_type.unwrap_or_default();
    let summary = &profile.summary;
    if let Some(sentence) = filled(profile, event, root) {
        report.sentence(&sentence);
    }
    let section = summary
        .sections
        .iter()
        .find(|section| section.of.is_empty() || section.of.iter().any(|of| in_family(event, of)));
    match section {
        Some(section) => {
            for field in section.fields {
                field.write(&mut report, root);
            }
        }
        None => outline::everything(&mut report, root),
    }
    if report.is_empty() {
        outline::everything(&mut report, root);
    }
    report.finish()
}

/// Returns a summary in one line: the sentence and the subject's title. `None` if the profile has no sentence for
/// this event.
pub fn sentence(profile: &Profile, event_type: Option<&str>, payload: &Payload) -> Option<String> {
    let root = payload.root();
    let text = filled(profile, event_type.unwrap_or_default(), root)?;
    let text = match report::first(root, profile.summary.titles) {
        Some(title) if !text.contains(&title) => {
            format!("{}: {title}", text.trim_end_matches('.'))
        }
        _ => text,
    };
    clean::line(&text, report::MAX_LINE_CHARS)
}

/// Returns the beginning of a text as one line without invisible characters. `None` if nothing remains.
pub fn first_words(text: &str, max_chars: usize) -> Option<String> {
    clean::line(text, max_chars)
}

fn filled(profile: &Profile, event: &str, root: Node<'_>) -> Option<String> {
    let sentences = profile.summary.sentences.iter().copied().flatten();
    field::most_specific(sentences, event, |entry| entry.0)
        .find_map(|(_, template)| field::fill(template, root))
}

#[cfg(test)]
mod tests;
