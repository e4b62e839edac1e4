//! Reads the content of one event: a text, a file or a reaction, and the message that it replies to or edits.

use super::identifiers::{is_event_id, is_server};
use super::{Event, What, read};
use crate::receive::ReceivedFile;
use crate::receivers::file_name;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

#[derive(Debug, Deserialize)]
pub(super) struct Content {
    msgtype: String,
    #[serde(default)]
    body: String,
    #[serde(rename = "m.mentions")]
    mentions: Option<Mentions>,
    #[serde(rename = "m.relates_to")]
    relates_to: Option<Relation>,
    /// The name of a file. If it is present and differs from the body, the body is a caption.
    filename: Option<String>,
    /// `mxc://`, the server and the media ID. Absent from encrypted files.
    url: Option<String>,
    /// Present in a recording made in a Matrix program (MSC3245).
    #[serde(rename = "org.matrix.msc3245.voice")]
    voice: Option<IgnoredAny>,
    /// The key and the address of an encrypted file.
    file: Option<IgnoredAny>,
    /// The message after an edit.
    #[serde(rename = "m.new_content")]
    new: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Mentions {
    #[serde(default)]
    user_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Relation {
    rel_type: Option<String>,
    event_id: Option<String>,
    key: Option<String>,
    #[serde(rename = "m.in_reply_to")]
    in_reply_to: Option<Box<RawValue>>,
    /// Whether a message in a thread is marked as a reply only for programs without threads.
    #[serde(default)]
    is_falling_back: bool,
}

impl Relation {
    fn is_edit(&self) -> bool {
        self.rel_type.as_deref() == Some("m.replace")
    }
}

#[derive(Debug, Deserialize)]
struct RepliedTo {
    event_id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Annotated {
    #[serde(rename = "m.relates_to")]
    relates_to: Relation,
}

pub(super) fn edited(content: &Content) -> Option<String> {
    let relation = content.relates_to.as_ref();
    let edit = relation.filter(|it| it.is_edit())?;
    edit.event_id.clone().filter(|id| is_event_id(id))
}

pub(super) fn replied_to(content: &Content) -> Option<String> {
    let relation = content.relates_to.as_ref()?;
    let replied: RepliedTo = read(relation.in_reply_to.as_deref()?)?;
    let is_reply = !relation.is_falling_back && is_event_id(&replied.event_id);
    is_reply.then_some(replied.event_id)
}

/// Returns the sender and the text of a quoted event.
pub(in crate::receivers::matrix) fn quoted(event: &RawValue) -> Option<(String, String)> {
    let event: Event = read(event)?;
    if event.kind != "m.room.message" || event.state_key.is_some() {
        return None;
    }
    let content: Content = read(&event.content)?;
    let relation = content.relates_to.as_ref();
    let text = if relation.is_some_and(|it| it.in_reply_to.is_some()) {
        without_quote(&content.body)
    } else {
        &content.body
    };
    Some((event.sender, text.trim().to_owned()))
}

pub(super) fn reaction(content: Annotated) -> Option<What> {
    let relation = content.relates_to;
    let is_reaction = relation.rel_type.as_deref() == Some("m.annotation");
    let (target, key) = relation.event_id.zip(relation.key)?;
    (is_reaction && is_event_id(&target)).then_some(What::Reaction { target, key })
}

pub(super) fn what(content: &Content, me: &str) -> Option<What> {
    let relation = content.relates_to.as_ref();
    // An edit is an event of its own, and its text begins with an asterisk.
    if relation.is_some_and(Relation::is_edit) {
        let new: Content = read(content.new.as_deref()?)?;
        let edited = what(
            &Content {
                new: None,
                relates_to: None,
                ..new
            },
            me,
        );
        // If only the caption of a file changes, the file is not read again.
        return edited.filter(|edited| matches!(edited, What::Text { .. }));
    }
    match content.msgtype.as_str() {
        "m.text" | "m.emote" => {}
        // Notices are written by programs. Answering them could cause an endless loop.
        "m.notice" => return None,
        "m.image" | "m.file" | "m.audio" => return Some(file(content, me)),
        _ => return Some(What::Other),
    }
    let is_reply = relation.is_some_and(|it| it.in_reply_to.is_some());
    let text = if is_reply {
        without_quote(&content.body)
    } else {
        &content.body
    };
    let names_bot = match &content.mentions {
        Some(mentions) => mentions.user_ids.iter().any(|user| user == me),
        None => has_word(text, me),
    };
    let text = text.trim();
    if text.is_empty() {
        return Some(What::Other);
    }
    Some(What::Text {
        text: text.to_owned(),
        names_bot,
    })
}

/// Returns a picture, file or recording
/// (<https://spec.matrix.org/latest/client-server-api/#mfile>).
fn file(content: &Content, me: &str) -> What {
    let mut mentioned = content.mentions.iter().flat_map(|it| &it.user_ids);
    let names_bot = mentioned.any(|user| user == me);
    if content.file.is_some() {
        return What::EncryptedFile { names_bot };
    }
    let media = content
        .url
        .as_deref()
        .and_then(|url| url.strip_prefix("mxc://"));
    let parts = media.and_then(|media| media.split_once('/'));
    let is_id = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    let Some((server, id)) = parts.filter(|(server, id)| is_server(server) && is_id(id)) else {
        return What::Other;
    };
    let name = content.filename.as_deref().unwrap_or(&content.body);
    let caption = Some(content.body.trim()).filter(|body| {
        let has_own_name = content.filename.is_some();
        has_own_name && *body != name && !body.is_empty()
    });
    What::File {
        file: ReceivedFile {
            id: format!("{server}/{id}"),
            name: file_name(name),
            is_voice: content.voice.is_some(),
        },
        caption: caption.map(str::to_owned),
        names_bot,
    }
}

/// Removes the quoted text of a reply, which another person wrote. Programs added this text until version 1.13 of the
/// specification.
fn without_quote(body: &str) -> &str {
    let mut rest = body;
    while rest.starts_with("> ") || rest.starts_with(">\n") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
}

/// Returns whether the text contains the whole user ID. A dot or a colon may follow the ID, but not a longer server
/// name or a port.
fn has_word(text: &str, me: &str) -> bool {
    text.match_indices(me).any(|(at, _)| {
        let mut after = text.get(at + me.len()..).unwrap_or_default().chars();
        match after.next() {
            Some('.') => !after.next().is_some_and(char::is_alphanumeric),
            Some(':') => !after.next().is_some_and(char::is_numeric),
            Some(c) => !c.is_alphanumeric() && !matches!(c, '-' | '_'),
            None => true,
        }
    })
}
