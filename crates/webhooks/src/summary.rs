//! Tells an event to a person: a sentence, then one line for each thing worth knowing. Owns how a
//! profile's table of sentences and fields becomes text, and what of an unknown payload is shown; the
//! tables are data of the profiles. Everything in the result that comes from the sender is cleaned and
//! bounded, and its longer texts are indented, so that they cannot pass for lines of ours.

pub(crate) mod codehost_a;
pub(crate) mod codehost_b;
mod field;
mod outline;
pub(crate) mod payments;
mod report;

pub use field::{Field, Section, Summary};
pub use report::MAX_SUMMARY_CHARS;

use crate::payload::Payload;
use crate::profile::{Profile, in_family};
use report::Report;

/// An event for people, at most [`MAX_SUMMARY_CHARS`] long, without a line break at its end.
pub fn summarise(profile: &Profile, event_type: Option<&str>, payload: &Payload) -> String {
    let mut report = Report::default();
    let root = payload.root();
    let event = event_type.unwrap_or_default();
    let summary = &profile.summary;
    let sentence = field::most_specific(
        summary.sentences.iter().copied().flatten(),
        event,
        |entry| entry.0,
    )
    .find_map(|(_, template)| field::fill(template, root));
    if let Some(sentence) = sentence {
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

#[cfg(test)]
mod tests;
