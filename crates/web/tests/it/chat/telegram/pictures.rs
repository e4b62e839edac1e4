//! Pictures of the bot: photos (<https://core.telegram.org/bots/api#sendphoto>) and documents
//! (<https://core.telegram.org/bots/api#senddocument>).

use super::{Shared, TOKEN, Telegram, has_only, refuse, result};
use axum::extract::{Multipart, Path, State};
use axum::response::Response;
use serde_json::{Map, Value, json};

/// A picture that the bot sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// `photo` or `document`.
    pub kind: &'static str,
    pub chat: String,
    pub name: String,
    pub data: Vec<u8>,
}

/// Refusals of the next pictures.
#[derive(Default)]
pub(super) struct Refusals {
    /// Telegram cannot convert photos.
    no_photos: bool,
    /// Every picture is refused.
    none: bool,
    /// The number of next requests that are answered with a request to wait.
    busy: usize,
    /// How many requests were refused.
    pub(super) count: usize,
}

pub(super) async fn send_photo(
    state: State<Shared>,
    bot: Path<String>,
    form: Multipart,
) -> Response {
    send("photo", state, bot, form).await
}

pub(super) async fn send_document(
    state: State<Shared>,
    bot: Path<String>,
    form: Multipart,
) -> Response {
    send("document", state, bot, form).await
}

async fn send(
    kind: &'static str,
    State(shared): State<Shared>,
    Path(bot): Path<String>,
    mut form: Multipart,
) -> Response {
    if bot != format!("bot{TOKEN}") {
        return refuse(401, "Unauthorized");
    }
    let (mut fields, mut file) = (Map::new(), None);
    while let Some(field) = form.next_field().await.unwrap() {
        let name = field.name().unwrap().to_owned();
        if name == kind {
            let name = field.file_name().unwrap().to_owned();
            let media_type = field.content_type().unwrap().to_owned();
            assert!(media_type.starts_with("image/"), "{media_type}");
            file = Some((name, field.bytes().await.unwrap().to_vec()));
        } else {
            fields.insert(name, Value::from(field.text().await.unwrap()));
        }
    }
    let fields = Value::Object(fields);
    let mut bot = shared.bot.lock().unwrap();
    let refusal = match &file {
        None => Some((400, "Bad Request: there is no file in the request")),
        Some(_) if !has_only(&fields, &["chat_id", "message_thread_id"]) => {
            Some((400, "Bad Request: wrong parameters"))
        }
        Some(_) if bot.refusals.busy > 0 => {
            bot.refusals.busy -= 1;
            Some((429, "Too Many Requests: retry after 1"))
        }
        Some(_) if bot.refusals.none => {
            Some((400, "Bad Request: not enough rights to send photos"))
        }
        Some(_) if kind == "photo" && bot.refusals.no_photos => {
            Some((400, "Bad Request: IMAGE_PROCESS_FAILED"))
        }
        Some((_, data)) if kind == "photo" && data.len() > 10_000_000 => {
            Some((413, "Request Entity Too Large"))
        }
        Some(_) => None,
    };
    let response = match (refusal, file) {
        (None, Some((name, data))) => {
            let chat = fields["chat_id"].as_str().unwrap().to_owned();
            bot.pictures.push(Sent {
                kind,
                chat,
                name,
                data,
            });
            result(&json!({ "message_id": 1 }))
        }
        (refusal, _) => {
            bot.refusals.count += 1;
            let (status, why) = refusal.unwrap();
            refuse(status, why)
        }
    };
    drop(bot);
    shared.changed.send_replace(());
    response
}

impl Telegram {
    /// Makes the conversion of photos fail.
    pub fn break_photos(&self) {
        self.shared.bot.lock().unwrap().refusals.no_photos = true;
    }

    /// Refuses every picture.
    pub fn refuse_pictures(&self) {
        self.shared.bot.lock().unwrap().refusals.none = true;
    }

    /// Refuses the next pictures with a request to wait one second.
    pub fn delay_pictures(&self, count: usize) {
        self.shared.bot.lock().unwrap().refusals.busy = count;
    }

    /// Waits for the bot's picture with this number, from 1.
    pub async fn wait_for_picture(&self, number: usize) -> Sent {
        self.until(|bot| bot.pictures.get(number - 1).cloned())
            .await
    }

    /// Returns how many pictures the bot sent, and how many were refused.
    pub fn pictures(&self) -> (usize, usize) {
        let bot = self.shared.bot.lock().unwrap();
        (bot.pictures.len(), bot.refusals.count)
    }
}
