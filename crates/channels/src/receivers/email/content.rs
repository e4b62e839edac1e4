//! The text and the files of an email (RFC 2045 to 2049).

use super::html::html_text;
use super::reply::{is_forwarded, is_reply};
use super::text::{Form, own_text};
use crate::receivers::{MAX_FILES, file_name, with_unread};
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};

/// The largest email that is read, in bytes, with its attachments.
pub(super) const MAX_MAIL: u32 = 25 * 1024 * 1024;
/// The number of bytes of an email that are read for its text.
pub(super) const MAX_READ: usize = 256 * 1024;
/// The maximum length of a text in bytes, without the quoted email.
const MAX_TEXT: usize = 64 * 1024;
/// The maximum number of parts. Each part has its own type, so this also limits the nesting depth.
const MAX_PARTS: usize = 100;

const TOO_LARGE: &str = "This email was not read, because it is larger than 25 MiB.";
const TOO_LONG: &str = "This email was not read, because its text is longer than 64 KiB. Attach a long text as a file.";
const TOO_MANY: &str = "This email was not read, because it has more than 100 parts.";
const UNREADABLE: &str = "This email could not be read.";

/// The content of an email.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) text: Option<String>,
    /// Whether the person wrote the text.
    pub(super) is_own: bool,
    /// The names of the attached files that are read.
    pub(super) files: Vec<String>,
    /// A fixed answer that needs no agent.
    pub(super) answer: Option<&'static str>,
}

impl Content {
    fn refused(answer: &'static str) -> Self {
        Self {
            answer: Some(answer),
            ..Self::default()
        }
    }

    pub(super) fn unreadable() -> Self {
        Self::refused(UNREADABLE)
    }
}

/// Checks whether an email of this size is read. The error is the answer to its sender.
pub(super) fn check_size(size: u32) -> Result<(), Content> {
    if size > MAX_MAIL {
        return Err(Content::refused(TOO_LARGE));
    }
    Ok(())
}

/// Reads the beginning of an email of `size` bytes. The subject of an email that begins a conversation (`is_first`)
/// becomes the first line.
pub(super) fn read(bytes: &[u8], size: u32, subject: &str, is_first: bool) -> Content {
    let message = match parse(bytes) {
        Ok(message) => message,
        Err(answer) => return Content::refused(answer),
    };
    let is_cut = usize::try_from(size).is_ok_and(|size| bytes.len() < size);
    let is_text =
        |part: &&MessagePart<'_>| matches!(part.body, PartType::Text(_) | PartType::Html(_));
    let bodies: Vec<&MessagePart<'_>> = message.text_bodies().filter(is_text).collect();
    let ends_open = |part: &&MessagePart<'_>| {
        usize::try_from(part.raw_end_offset()).is_ok_and(|end| end.saturating_add(4) >= bytes.len())
    };
    let has_nothing = bodies.is_empty() && files(&message).next().is_none();
    if is_cut && (has_nothing || bodies.iter().any(ends_open)) {
        return Content::refused(TOO_LONG);
    }
    let (text, is_html) = text_of(&bodies);
    // Some programs insert text files into the text, so the text may not be the person's own.
    let has_names = bodies.iter().any(|part| part.attachment_name().is_some());
    let is_forwarded = is_forwarded(subject);
    let form = Form {
        is_html,
        is_reply: is_reply(subject) && !is_forwarded,
    };
    let own = own_text(&text, form);
    let mut text = own.text;
    if is_first && !is_reply(subject) && !subject.is_empty() {
        text.insert_str(0, &format!("{subject}\n\n"));
    }
    if text.trim().len() > MAX_TEXT {
        return Content::refused(TOO_LONG);
    }
    let mut names = files(&message).map(name_of);
    let read = names.by_ref().take(MAX_FILES).collect();
    text = with_unread(text, names);
    Content {
        text: Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        is_own: own.is_own && !is_forwarded && !has_names,
        files: read,
        answer: None,
    }
}

/// Returns the contents of the files that are read from a whole email.
pub(super) fn contents(bytes: &[u8]) -> Vec<Vec<u8>> {
    let Ok(message) = parse(bytes) else {
        return Vec::new();
    };
    let files = files(&message).take(MAX_FILES);
    files.map(|part| part.contents().to_vec()).collect()
}

fn parse(bytes: &[u8]) -> Result<Message<'_>, &'static str> {
    let word = b"content-type";
    let is_type = |part: &&[u8]| part.eq_ignore_ascii_case(word);
    if bytes.windows(word.len()).filter(is_type).count() > MAX_PARTS {
        return Err(TOO_MANY);
    }
    let message = MessageParser::default().parse(bytes).ok_or(UNREADABLE)?;
    if message.parts.len() > MAX_PARTS {
        return Err(TOO_MANY);
    }
    Ok(message)
}

/// Returns the plain text, or the text of the HTML if there is no plain text.
fn text_of(bodies: &[&MessagePart<'_>]) -> (String, bool) {
    let plain: Vec<&str> = bodies
        .iter()
        .filter_map(|part| match &part.body {
            PartType::Text(text) => Some(text.trim_end_matches(['\r', '\n'])),
            _ => None,
        })
        .collect();
    if !plain.is_empty() {
        return (plain.join("\n"), false);
    }
    let html = bodies.iter().find_map(|part| match &part.body {
        PartType::Html(html) => Some(html_text(html)),
        _ => None,
    });
    (html.unwrap_or_default(), true)
}

/// Returns the parts that are files: attachments except inline pictures, signatures and forwarded emails.
fn files<'a>(message: &'a Message<'a>) -> impl Iterator<Item = &'a MessagePart<'a>> {
    message.attachments().filter(|part| {
        let is_shown = part.content_id().is_some()
            && part
                .content_disposition()
                .is_none_or(|it| !it.is_attachment());
        let kind = part.content_type().and_then(|it| it.subtype());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        let is_signature = kind.ends_with("-signature");
        let is_data = matches!(
            part.body,
            PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Text(_) | PartType::Html(_)
        );
        is_data && !is_shown && !is_signature && !part.contents().is_empty()
    })
}

fn name_of(part: &MessagePart<'_>) -> String {
    file_name(part.attachment_name().unwrap_or_default())
}

#[cfg(test)]
mod tests;
