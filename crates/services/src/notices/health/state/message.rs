//! The messages about failures and their ends.

use crate::doctor::check::Check;
use crate::notices::health::Message;
use std::collections::BTreeMap;

/// The changes to report to one target about one check.
#[derive(Default)]
pub(super) struct News {
    /// The messages of the subjects that failed, or of the check itself.
    pub(super) failed: Vec<String>,
    pub(super) ended: bool,
    /// The names of the subjects whose failure ended.
    pub(super) names: Vec<String>,
}

/// The changes to report, by target and check.
pub(super) type AllNews = BTreeMap<(String, String), News>;

pub(super) fn failed_message(label: &str, news: &News, check: Option<&Check>) -> Option<Message> {
    if news.failed.is_empty() {
        return None;
    }
    let mut details = news.failed.clone();
    details.extend(check.and_then(|check| check.hint.clone()));
    let headline = format!("The health check {label} failed.");
    Some(message(headline, details))
}

pub(super) fn ended_message(label: &str, news: &News, check: Option<&Check>) -> Option<Message> {
    let check = check.filter(|_| news.ended)?;
    let headline = if check.ok {
        format!("The health check {label} passes again.")
    } else {
        let names = news.names.join(", ");
        format!("The health check {label} passes again for {names}. It still fails:")
    };
    Some(message(headline, vec![check.message.clone()]))
}

fn message(headline: String, details: Vec<String>) -> Message {
    Message {
        headline,
        details,
        path: "/settings/system".to_owned(),
    }
}
