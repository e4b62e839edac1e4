//! Summaries of GitHub events. Fields: docs.github.com, "Webhook events and payloads".

mod fields;
mod sections;
mod sentences;

use crate::summary::Summary;

pub(super) const SUMMARY: Summary = Summary {
    sentences: sentences::SENTENCES,
    titles: &["pull_request.title", "issue.title", "discussion.title"],
    sections: sections::SECTIONS,
};
