//! A fake of Telegram's Bot API (<https://core.telegram.org/bots/api>) that refuses invalid requests as Telegram does.
//! It keeps all updates, so a server with the wrong offset gets them again.

mod messages;
mod pictures;

pub use self::messages::Shown;
use super::has_only;
use axum::extract::{Multipart, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "123456:ABC-DEF_ghi";

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Texts with buttons lose their digits.
    Garbled,
    /// `sendMessage` with buttons is answered with a status and its description.
    Refused(u16, &'static str),
    /// `answerCallbackQuery` is not answered.
    Stuck,
}

#[derive(Default)]
struct Bot {
    updates: Vec<Value>,
    /// Updates that arrive when the bot sends a request without a wait time.
    later: Vec<Value>,
    /// Voice messages are refused.
    is_mute: bool,
    sent: Vec<Value>,
    /// The voice messages that the bot sent, with their fields.
    voices: Vec<(Value, Vec<u8>)>,
    pictures: Vec<pictures::Sent>,
    refusals: pictures::Refusals,
    /// The messages as they are currently shown. A message's ID is its number, from 1.
    shown: Vec<Shown>,
    /// The presses of buttons by their IDs, and the results that were shown to the people.
    presses: Vec<(String, Option<String>)>,
    /// The files by their paths.
    files: Vec<(String, Vec<u8>)>,
    /// The offset of the last `getUpdates`.
    offset: i64,
    has_typed: bool,
    /// Why `getUpdates` is refused.
    conflict: Option<&'static str>,
    /// How long `getUpdates` asks to wait, in seconds.
    retry_after: Option<u64>,
    /// How often it did.
    limited: usize,
    fault: Option<Fault>,
    /// How many messages with buttons were refused.
    refused: usize,
    /// Requests that wait for updates.
    open: usize,
}

#[derive(Clone)]
struct Shared {
    bot: Arc<Mutex<Bot>>,
    changed: Arc<watch::Sender<()>>,
}

pub struct Telegram {
    shared: Shared,
    url: String,
}

impl Telegram {
    pub async fn start() -> Self {
        let shared = Shared {
            bot: Arc::default(),
            changed: Arc::new(watch::Sender::new(())),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/{bot}/{method}", post(call))
            .route("/{bot}/sendVoice", post(send_voice))
            .route("/{bot}/sendPhoto", post(pictures::send_photo))
            .route("/{bot}/sendDocument", post(pictures::send_document))
            .route("/file/{bot}/{folder}/{file}", get(download))
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, url }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes Telegram refuse `getUpdates`.
    pub fn set_webhook(&self) {
        self.shared.bot.lock().unwrap().conflict = Some(
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        );
    }

    /// Makes another program request updates.
    pub fn set_rival(&self) {
        self.shared.bot.lock().unwrap().conflict = Some(
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        );
    }

    /// Makes Telegram request a delay of this many seconds.
    pub fn limit(&self, retry_after: u64) {
        self.shared.bot.lock().unwrap().retry_after = Some(retry_after);
    }

    /// Returns how many requests for updates were delayed.
    pub fn limited(&self) -> usize {
        self.shared.bot.lock().unwrap().limited
    }

    /// Makes texts with buttons lose their digits.
    pub fn garble(&self) {
        self.shared.bot.lock().unwrap().fault = Some(Fault::Garbled);
    }

    /// Makes Telegram refuse messages with buttons. With `None`, they are accepted again.
    pub fn refuse_buttons(&self, refusal: Option<(u16, &'static str)>) {
        let fault = refusal.map(|(status, why)| Fault::Refused(status, why));
        self.shared.bot.lock().unwrap().fault = fault;
    }

    /// Waits until a message with buttons was refused.
    pub async fn refused_buttons(&self) {
        self.until(|bot| (bot.refused > 0).then_some(())).await;
    }

    /// Leaves `answerCallbackQuery` unanswered.
    pub fn hold_notes(&self) {
        self.shared.bot.lock().unwrap().fault = Some(Fault::Stuck);
    }

    /// Makes a person write a message, in the private chat unless `more` names another chat. Returns the update's ID,
    /// which is also that of the message.
    pub fn write(&self, person: i64, more: Value) -> i64 {
        self.update("message", person, more)
    }

    /// Makes a person change the text of a message. Returns the update's ID.
    pub fn edit(&self, person: i64, message: i64, text: &str) -> i64 {
        let more = json!({ "message_id": message, "edit_date": 2, "text": text });
        self.update("edited_message", person, more)
    }

    fn update(&self, kind: &str, person: i64, more: Value) -> i64 {
        let mut bot = self.shared.bot.lock().unwrap();
        let id = 100 + i64::try_from(bot.updates.len()).unwrap();
        let mut message = json!({
            "message_id": id, "date": 1,
            "from": { "id": person, "is_bot": false, "first_name": "Person", "last_name": person.to_string() },
            "chat": { "id": person, "type": "private" },
        });
        let fields: &mut Map<_, _> = message.as_object_mut().unwrap();
        let Value::Object(more) = more else {
            panic!("the fields of a message");
        };
        fields.extend(more);
        bot.updates.push(json!({ "update_id": id, kind: message }));
        drop(bot);
        self.shared.changed.send_replace(());
        id
    }

    /// Makes a person send photos together. All but the first photo arrive when the bot requests
    /// the rest.
    pub fn write_album(&self, person: i64, parts: &[Value]) {
        let mut bot = self.shared.bot.lock().unwrap();
        let first = 100 + i64::try_from(bot.updates.len()).unwrap();
        for (id, part) in (first..).zip(parts) {
            let mut message = json!({
                "message_id": id, "date": 1, "media_group_id": first.to_string(),
                "from": { "id": person, "is_bot": false, "first_name": "Person", "last_name": person.to_string() },
                "chat": { "id": person, "type": "private" },
            });
            let fields = message.as_object_mut().unwrap();
            fields.extend(part.as_object().unwrap().clone());
            let update = json!({ "update_id": id, "message": message });
            if id == first {
                bot.updates.push(update);
            } else {
                bot.later.push(update);
            }
        }
        drop(bot);
        self.shared.changed.send_replace(());
    }

    /// Makes Telegram refuse voice messages.
    pub fn mute(&self) {
        self.shared.bot.lock().unwrap().is_mute = true;
    }

    /// Makes a person press a button of the bot's message with this number. Returns the update's ID.
    pub fn press(&self, person: i64, number: usize, label: &str) -> i64 {
        let shown = self.shown(number);
        self.press_data(person, (shown.chat, number), &shown.data(label))
    }

    /// Makes a person's program report a press in a chat.
    pub fn press_data(&self, person: i64, (chat, number): (i64, usize), data: &str) -> i64 {
        let mut bot = self.shared.bot.lock().unwrap();
        let id = 100 + i64::try_from(bot.updates.len()).unwrap();
        let kind = if chat > 0 { "private" } else { "supergroup" };
        let query = json!({
            "id": id.to_string(), "chat_instance": "1", "data": data,
            "from": { "id": person, "is_bot": false, "first_name": "Person" },
            "message": { "message_id": number, "date": 1, "chat": { "id": chat, "type": kind } },
        });
        bot.presses.push((id.to_string(), None));
        bot.updates
            .push(json!({ "update_id": id, "callback_query": query }));
        drop(bot);
        self.shared.changed.send_replace(());
        id
    }

    /// Returns the bot's message with this number as it is shown now.
    pub fn shown(&self, number: usize) -> Shown {
        self.shared.bot.lock().unwrap().shown[number - 1].clone()
    }

    /// Waits until the bot's message with this number has exactly these buttons.
    pub async fn offered(&self, number: usize, labels: &[&str]) -> Shown {
        let offered = |bot: &Bot| {
            let shown = bot.shown.get(number - 1)?;
            (shown.labels() == labels).then(|| shown.clone())
        };
        self.until(offered).await
    }

    /// Waits until the bot's message with this number has no buttons.
    pub async fn closed_question(&self, number: usize) -> Shown {
        let closed = |bot: &Bot| {
            let shown = bot.shown.get(number - 1)?;
            shown.keyboard.is_empty().then(|| shown.clone())
        };
        self.until(closed).await
    }

    /// Waits for the result of a press that was shown to the person.
    pub async fn press_answer(&self, press: i64) -> String {
        let press_answer = |bot: &Bot| {
            let mut presses = bot.presses.iter();
            let (_, note) = presses.find(|(id, _)| *id == press.to_string())?;
            note.clone()
        };
        self.until(press_answer).await
    }

    /// Returns how many presses were acknowledged.
    pub fn acknowledged(&self) -> usize {
        let bot = self.shared.bot.lock().unwrap();
        bot.presses
            .iter()
            .filter(|(_, note)| note.is_some())
            .count()
    }

    /// Makes a person upload a file. Returns its ID.
    pub fn upload(&self, data: impl Into<Vec<u8>>) -> String {
        let mut bot = self.shared.bot.lock().unwrap();
        let path = format!("documents/file_{}.bin", bot.files.len());
        let id = format!("AgAD-{}", bot.files.len());
        bot.files.push((path, data.into()));
        id
    }

    /// Returns the messages that the bot sent.
    pub fn sent(&self) -> Vec<Value> {
        self.shared.bot.lock().unwrap().sent.clone()
    }

    pub fn has_typed(&self) -> bool {
        self.shared.bot.lock().unwrap().has_typed
    }

    async fn until<T>(&self, found: impl Fn(&Bot) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        loop {
            if let Some(found) = found(&self.shared.bot.lock().unwrap()) {
                return found;
            }
            let waited = tokio::time::timeout(Duration::from_secs(30), changed.changed());
            waited.await.expect("within 30 seconds").unwrap();
        }
    }

    /// Waits for the bot's message with this number, from 1.
    pub async fn wait_for(&self, number: usize) -> Value {
        self.until(|bot| bot.sent.get(number - 1).cloned()).await
    }

    /// Waits for the bot's voice message with this number, from 1. Returns its fields and the recording.
    pub async fn wait_for_voice(&self, number: usize) -> (Value, Vec<u8>) {
        self.until(|bot| bot.voices.get(number - 1).cloned()).await
    }

    /// Returns how many voice messages the bot sent.
    pub fn voices(&self) -> usize {
        self.shared.bot.lock().unwrap().voices.len()
    }

    /// Waits until the bot has processed an update.
    pub async fn confirmed(&self, update: i64) {
        self.until(|bot| (bot.offset > update).then_some(())).await;
    }

    /// Waits until the bot no longer asks for updates.
    pub async fn closed(&self) {
        self.until(|bot| (bot.open == 0).then_some(())).await;
    }
}

fn refuse(status: u16, description: &str) -> Response {
    let mut body = json!({ "ok": false, "error_code": status, "description": description });
    if status == 429 {
        body["parameters"] = json!({ "retry_after": 1 });
    }
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

fn result(result: &Value) -> Response {
    Json(json!({ "ok": true, "result": result })).into_response()
}

async fn call(
    State(shared): State<Shared>,
    Path((bot, method)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Response {
    if bot != format!("bot{TOKEN}") {
        return refuse(401, "Unauthorized");
    }
    match method.as_str() {
        "getMe" => result(&json!({ "id": 9, "is_bot": true, "username": "gate_bot" })),
        "getUpdates" => get_updates(&shared, &body).await,
        "sendChatAction" => {
            assert!(has_only(&body, &["chat_id", "action", "message_thread_id"]));
            assert_eq!(body["action"], "typing");
            shared.bot.lock().unwrap().has_typed = true;
            result(&json!(true))
        }
        "getFile" => get_file(&shared, &body),
        "answerCallbackQuery" if shared.bot.lock().unwrap().fault == Some(Fault::Stuck) => {
            std::future::pending().await
        }
        "sendMessage" | "editMessageText" | "editMessageReplyMarkup" | "answerCallbackQuery" => {
            let answer = {
                let mut bot = shared.bot.lock().unwrap();
                match method.as_str() {
                    "sendMessage" => bot.send(body),
                    "answerCallbackQuery" => bot.acknowledge(&body),
                    edit => bot.edit(edit, &body),
                }
            };
            shared.changed.send_replace(());
            answer
        }
        _ => refuse(404, "Not Found"),
    }
}

async fn send_voice(
    State(shared): State<Shared>,
    Path(bot): Path<String>,
    mut form: Multipart,
) -> Response {
    if bot != format!("bot{TOKEN}") {
        return refuse(401, "Unauthorized");
    }
    let (mut fields, mut audio) = (Map::new(), Vec::new());
    while let Some(field) = form.next_field().await.unwrap() {
        let name = field.name().unwrap().to_owned();
        if name == "voice" {
            assert_eq!(field.content_type(), Some("audio/ogg"));
            audio = field.bytes().await.unwrap().to_vec();
        } else {
            fields.insert(name, Value::from(field.text().await.unwrap()));
        }
    }
    let fields = Value::Object(fields);
    let is_mute = shared.bot.lock().unwrap().is_mute;
    let has_known = has_only(&fields, &["chat_id", "message_thread_id"]);
    if is_mute || !has_known || !audio.starts_with(b"OggS") {
        return refuse(400, "Bad Request: wrong parameters");
    }
    shared.bot.lock().unwrap().voices.push((fields, audio));
    shared.changed.send_replace(());
    result(&json!({ "message_id": 1 }))
}

fn get_file(shared: &Shared, body: &Value) -> Response {
    assert!(has_only(body, &["file_id"]), "{body}");
    let bot = shared.bot.lock().unwrap();
    let number = body["file_id"].as_str().unwrap().strip_prefix("AgAD-");
    let file = number.and_then(|number| bot.files.get(number.parse::<usize>().ok()?));
    let Some((path, data)) = file else {
        return refuse(400, "Bad Request: invalid file_id");
    };
    if data.len() > 20_000_000 {
        return refuse(400, "Bad Request: file is too big");
    }
    result(
        &json!({ "file_id": body["file_id"], "file_unique_id": "u", "file_size": data.len(), "file_path": path }),
    )
}

async fn download(
    State(shared): State<Shared>,
    Path((bot, folder, file)): Path<(String, String, String)>,
) -> Response {
    let path = format!("{folder}/{file}");
    let files = &shared.bot.lock().unwrap().files;
    match files.iter().find(|(known, _)| *known == path) {
        Some((_, data)) if bot == format!("bot{TOKEN}") => data.clone().into_response(),
        _ => refuse(404, "Not Found"),
    }
}

/// Counts a waiting request until it is answered or its connection is closed.
struct Waiting(Shared);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.bot.lock().unwrap().open -= 1;
        self.0.changed.send_replace(());
    }
}

async fn get_updates(shared: &Shared, body: &Value) -> Response {
    let known = ["offset", "timeout", "limit", "allowed_updates"];
    assert!(has_only(body, &known), "{body}");
    let waits = body["timeout"] == 30;
    assert!(waits || body["timeout"] == 0, "{body}");
    assert_eq!(
        body["allowed_updates"],
        json!(["message", "edited_message", "callback_query"])
    );
    let offset = body["offset"].as_i64().unwrap_or_default();
    let mut changed = shared.changed.subscribe();
    {
        let mut bot = shared.bot.lock().unwrap();
        if let Some(conflict) = bot.conflict {
            return refuse(409, conflict);
        }
        if let Some(seconds) = bot.retry_after {
            bot.limited += 1;
            let body = json!({
                "ok": false, "error_code": 429,
                "description": format!("Too Many Requests: retry after {seconds}"),
                "parameters": { "retry_after": seconds },
            });
            return (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
        }
        if !waits {
            let later = std::mem::take(&mut bot.later);
            bot.updates.extend(later);
        }
        bot.offset = offset;
        bot.open += 1;
    }
    let _waiting = Waiting(shared.clone());
    shared.changed.send_replace(());
    loop {
        let ready: Vec<Value> = {
            let bot = shared.bot.lock().unwrap();
            let wanted = bot.updates.iter();
            wanted
                .filter(|update| update["update_id"].as_i64().unwrap() >= offset)
                .cloned()
                .collect()
        };
        if !ready.is_empty() || !waits {
            return result(&Value::Array(ready));
        }
        let waited = tokio::time::timeout(Duration::from_secs(30), changed.changed());
        if waited.await.is_err() {
            return result(&json!([]));
        }
    }
}
