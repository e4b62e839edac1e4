//! The parts of an email that its answer repeats. They are stored as the thread of the message.

use super::header::{Header, is_message_id};
use crate::outgoing::one_line;
use data_encoding::BASE64URL_NOPAD;
use mail_parser::MessageParser;
use serde::{Deserialize, Serialize};

const MAX_SUBJECT_CHARS: usize = 200;
/// The number of emails that an answer refers to: the first one and the last ones. RFC 5536, section 3.2.10, allows
/// omitting the others.
const MAX_REFERENCES: usize = 6;

/// The fields of an answer (RFC 5322, section 3.6.4).
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The ID of the answered email.
    pub(crate) to: Option<String>,
    pub(crate) references: Vec<String>,
    /// The subject with `Re:`.
    pub(crate) subject: String,
}

impl Reply {
    /// Reads the fields that an answer needs. `bytes` is the header section.
    pub(super) fn of(header: &Header, bytes: &[u8]) -> Self {
        let to = header.ids("message-id").into_iter().next();
        let mut references = header.ids("references");
        if references.is_empty() {
            references = header.ids("in-reply-to").into_iter().take(1).collect();
        }
        references.extend(to.clone());
        if references.len() > MAX_REFERENCES {
            let last = references.len().saturating_sub(MAX_REFERENCES);
            references.drain(1..=last);
        }
        let subject = subject(bytes);
        Self {
            to,
            references,
            subject: if is_reply(&subject) {
                subject
            } else {
                format!("Re: {subject}").trim_end().to_owned()
            },
        }
    }

    /// Encodes the fields in their stored form: visible ASCII.
    pub(super) fn encode(&self) -> Option<String> {
        let json = serde_json::to_vec(self).ok()?;
        Some(BASE64URL_NOPAD.encode(&json))
    }

    pub(crate) fn decode(text: &str) -> Option<Self> {
        let json = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let reply: Self = serde_json::from_slice(&json).ok()?;
        let mut ids = reply.to.iter().chain(&reply.references);
        let is_plain = ids.all(|id| is_message_id(id)) && one_line(&reply.subject) == reply.subject;
        is_plain.then_some(reply)
    }
}

/// Returns the decoded subject in one line.
pub(super) fn subject(bytes: &[u8]) -> String {
    let message = MessageParser::default().parse_headers(bytes);
    let subject = message
        .as_ref()
        .and_then(|it| it.subject())
        .unwrap_or_default();
    let cut: String = one_line(subject).chars().take(MAX_SUBJECT_CHARS).collect();
    cut.trim().to_owned()
}

/// Subject prefixes of answers in several languages.
const ANSWERED: [&str; 22] = [
    "re", "aw", "antw", "antwort", "sv", "svar", "vs", "odp", "ynt", "res", "rif", "r", "bls",
    "atb", "отв", "απ", "回复", "回覆", "答复", "返信", "השב", "رد",
];
/// Maximum number of letters of the prefix in the subject of a forwarded email.
const MAX_PREFIX: usize = 6;

/// Returns whether a subject marks the email as an answer.
pub(super) fn is_reply(subject: &str) -> bool {
    prefix(subject).is_some_and(|(word, _)| is_answered(word))
}

/// Returns whether a subject marks the email as forwarded, or as the answer to a forwarded email. The prefix depends on
/// the language, so every short word before a colon counts, except prefixes of answers.
pub(super) fn is_forwarded(subject: &str) -> bool {
    let mut rest = subject;
    while let Some((word, after)) = prefix(rest) {
        if !is_answered(word) {
            let is_word = !word.is_empty() && word.chars().all(char::is_alphabetic);
            let is_url = after.starts_with("//");
            return is_word && !is_url && word.chars().count() <= MAX_PREFIX;
        }
        rest = after;
    }
    false
}

fn is_answered(word: &str) -> bool {
    ANSWERED.contains(&word.to_lowercase().as_str())
}

/// Returns the word before the first colon of a subject, and the text after the colon. Tags in brackets may precede the
/// word. A count may follow it, as in `Re[2]:`.
fn prefix(subject: &str) -> Option<(&str, &str)> {
    let mut rest = subject.trim_start();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
        rest = after.trim_start();
    }
    let (word, after) = rest.split_once([':', '\u{ff1a}'])?;
    let is_count = |c: char| c.is_ascii_digit() || matches!(c, '[' | ']' | '(' | ')' | '^');
    let word = word.trim_end().trim_end_matches(is_count);
    Some((word.trim_end(), after))
}

#[cfg(test)]
mod tests;
