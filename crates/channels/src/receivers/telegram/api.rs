//! Calls of the Bot API, and checks of its responses.

use super::{Bot, CONFLICT, LIMITS, NOUN, UPDATES, Updates};
use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::receivers::Source;
use crate::vendor::{Answer, call_within, join};
use crate::vendor_apis::telegram::{BASE_URL, NOT_THE_API};
use gatehouse_outbound::AddressSource;
use serde_json::{Value, json};

pub(super) fn id_of(update: &Value) -> Result<i64, Failure> {
    let id = update.get("update_id").and_then(Value::as_i64);
    id.ok_or_else(not_the_api)
}

/// Requests the updates from an ID on. Waits up to this many seconds for one.
pub(super) async fn updates(
    source: Source<'_>,
    next: Option<i64>,
    seconds: u64,
) -> Result<Vec<Value>, ReceiveError> {
    let mut body = json!({
        "timeout": seconds,
        "limit": UPDATES,
        "allowed_updates": ["message", "edited_message", "callback_query"],
    });
    if let (Some(next), Some(fields)) = (next, body.as_object_mut()) {
        fields.insert("offset".to_owned(), Value::from(next));
    }
    let answer = call(source, "getUpdates", &body).await?;
    check(&answer)?;
    let updates: Updates = answer.parse().ok_or_else(not_the_api)?;
    Ok(updates.result)
}

pub(super) fn not_the_api() -> Failure {
    Failure::later(NOT_THE_API)
}

pub(super) async fn call(
    source: Source<'_>,
    method: &str,
    body: &Value,
) -> Result<Answer, Failure> {
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&bot, method])?;
    let outbound = &source.inner.outbound;
    let request = outbound.client(AddressSource::Owner).post(url).json(body);
    call_within(outbound, &*source.inner.clock, NOUN, request, LIMITS).await
}

/// Requests the bot's ID and name (`getMe`). Messages in groups mention the bot by this name.
pub(super) async fn own_bot(source: Source<'_>) -> Result<Bot, ReceiveError> {
    let answer = call(source, "getMe", &json!({})).await?;
    check(&answer)?;
    let me = answer.response_json();
    let id = me.number("/result/id").ok_or_else(not_the_api)?;
    Ok(Bot {
        id,
        username: me.text("/result/username").to_owned(),
    })
}

fn check(answer: &Answer) -> Result<(), ReceiveError> {
    let body = answer.response_json();
    match answer.status.as_u16() {
        // Telegram answers 404 to a malformed token.
        401 | 404 => Err(ReceiveError::Stopped {
            why: "Telegram refused the bot token. Enter the current one.".to_owned(),
        }),
        409 => {
            let why = if body.text("/description").contains("webhook") {
                "The bot has a webhook, so Telegram sends its messages there. Delete it with `deleteWebhook`."
            } else {
                "Another program receives the messages of this bot. Stop it, or create another bot."
            };
            Err(ReceiveError::Later {
                after: Some(CONFLICT),
                why: why.to_owned(),
            })
        }
        _ => Ok(answer.check(NOUN, body.seconds("/parameters/retry_after"))?),
    }
}
