//! The email of a message, with its pictures.

use crate::error::Failure;
use crate::media::Picture;
use crate::outgoing::one_line;
use crate::pictures::left_out_note;
use crate::receivers::email::Reply;
use crate::senders::Part;
use lettre::Message;
use lettre::address::Envelope;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Mailboxes, MultiPart, SinglePart};
use std::time::{Duration, UNIX_EPOCH};

/// A composed email.
pub(super) struct Mail {
    pub(super) envelope: Envelope,
    pub(super) bytes: Vec<u8>,
}

/// Composes the email. The library encodes header values. This function additionally ensures that each value is a
/// single line.
pub(super) fn compose(part: &Part<'_>, pictures: &[&Picture]) -> Result<Mail, Failure> {
    let wrong = |field| Failure::incomplete(field, "it is not an email address");
    // The sender always comes from the account. A message cannot override it.
    let from = part.field("from").unwrap_or_default();
    let from: Mailbox = from.parse().map_err(|_| wrong("from"))?;
    let to: Mailboxes = part.need("to")?.parse().map_err(|_| wrong("to"))?;
    let source = one_line(part.message.source);
    let subject = part.message.extra("subject").unwrap_or(source);
    let reply = part.message.extra("reply");
    let reply = reply.and_then(|reply| Reply::decode(&reply));
    let (submitted, subject) = match &reply {
        Some(reply) => ("auto-replied", reply.subject.clone()),
        None => ("auto-generated", subject),
    };
    let millis = u64::try_from(part.message.at.as_millis()).unwrap_or(0);
    let id = format!("<{}@{}>", part.part_id(), from.email.domain());
    let mut builder = Message::builder()
        .from(from)
        .subject(subject)
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(id))
        // This header prevents automatic replies (RFC 3834).
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            submitted.to_owned(),
        ));
    if let Some(reply) = reply {
        if let Some(id) = reply.to {
            builder = builder.in_reply_to(id);
        }
        if !reply.references.is_empty() {
            builder = builder.references(reply.references.join(" "));
        }
    }
    for recipient in to {
        builder = builder.to(recipient);
    }
    let left_out = part.message.pictures.len().saturating_sub(pictures.len());
    let text = SinglePart::plain(match left_out {
        0 => part.text.to_owned(),
        count => {
            let text = format!("{}\n\n{}", part.text, left_out_note(count));
            text.trim_start().to_owned()
        }
    });
    let mail = if pictures.is_empty() {
        builder.singlepart(text)
    } else {
        builder.multipart(with_pictures(text, pictures)?)
    };
    let mail = mail.map_err(|_| wrong("to"))?;
    Ok(Mail {
        envelope: mail.envelope().clone(),
        bytes: mail.formatted(),
    })
}

fn with_pictures(text: SinglePart, pictures: &[&Picture]) -> Result<MultiPart, Failure> {
    let mut parts = MultiPart::mixed().singlepart(text);
    for (at, picture) in pictures.iter().enumerate() {
        let media = picture.media(at + 1, "");
        let kind = ContentType::parse(media.content_type)
            .map_err(|_| Failure::refused("A picture could not be attached."))?;
        let file = Attachment::new(media.name).body(Vec::<u8>::from(media.data), kind);
        parts = parts.singlepart(file);
    }
    Ok(parts)
}
