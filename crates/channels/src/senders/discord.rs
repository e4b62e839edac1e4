//! `discord`: a webhook (<https://discord.com/developers/docs/resources/webhook#execute-webhook>) or a bot
//! (<https://discord.com/developers/docs/resources/message#create-message>). Messages notify no one.

use super::{About, Extra, OTHER_CHANNEL, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec, INBOUND};
use crate::fields::{receiving_agent, receiving_switch, speaking_switch};
use crate::markup::Markup;
use crate::receivers::{Receiver, discord::DiscordReceiver};
use crate::split::Limit;
use crate::vendor::{address, join_default};
use crate::vendor_apis::discord::{AGENT, BASE_URL};
use futures_util::future::BoxFuture;
use reqwest::header::USER_AGENT;
use serde::Serialize;

#[derive(Debug)]
pub(crate) struct Discord;

static ABOUT: About = About {
    kind: "discord",
    label: "Discord",
    description: "Posts to a Discord channel, through a webhook URL or a bot.",
    noun: "Discord",
    fields: &[
        FieldSpec::new(
            "webhook_url",
            "Webhook URL",
            FieldKind::Url,
            "From the channel’s settings, Integrations. Either this or a bot token.",
        )
        .secret(),
        FieldSpec::new(
            "bot_token",
            "Bot token",
            FieldKind::Text,
            "From the developer portal, without the word Bot.",
        )
        .secret(),
        FieldSpec::new(
            "channel_id",
            "Channel ID",
            FieldKind::Text,
            "The channel’s numeric ID. Needed with a bot token.",
        ),
        FieldSpec::new(
            "base_url",
            "Server",
            FieldKind::Url,
            "Only if you use a server other than Discord’s.",
        ),
        receiving_switch(),
        receiving_agent(),
        speaking_switch(),
    ],
    extra: &[
        Extra {
            name: "channel_id",
            help: OTHER_CHANNEL,
        },
        Extra {
            name: "thread_id",
            help: "A thread of the webhook’s channel.",
        },
    ],
    takes_json: false,
    built_in: false,
    calls_any_address: false,
};

#[derive(Serialize)]
struct CreateMessage<'a> {
    content: &'a str,
    allowed_mentions: AllowedMentions,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<MessageReference>,
    #[serde(flatten)]
    once: Option<Once>,
}

/// The allowed mentions: an empty list, so the message notifies no one.
#[derive(Serialize)]
struct AllowedMentions {
    parse: [&'static str; 0],
}

/// The message that this one replies to
/// (<https://discord.com/developers/docs/resources/message#message-reference-structure>).
#[derive(Serialize)]
struct MessageReference {
    message_id: String,
    /// Must be false, otherwise Discord refuses an answer to a deleted message.
    fail_if_not_exists: bool,
}

/// Makes Discord drop a message if its nonce was used within the last few minutes.
#[derive(Serialize)]
struct Once {
    nonce: String,
    enforce_nonce: bool,
}

impl Sender for Discord {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn markup(&self) -> Markup {
        Markup::Discord
    }

    /// The limit is 2,000 characters. This counts UTF-16 code units, of which there are at least as many as characters.
    fn limit(&self) -> Limit {
        Limit::Utf16(2000)
    }

    fn check(&self, has: &dyn Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
        if has(INBOUND) && !has("bot_token") {
            return Err(("bot_token", "a bot token is required to receive messages"));
        }
        if has("bot_token") || has("webhook_url") {
            return Ok(());
        }
        Err((
            "webhook_url",
            "either a webhook URL or a bot token is required",
        ))
    }

    fn receiver(&self) -> Option<&'static dyn Receiver> {
        Some(&DiscordReceiver)
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let mut body = CreateMessage {
                content: part.text,
                allowed_mentions: AllowedMentions { parse: [] },
                message_reference: None,
                once: None,
            };
            let request = if let Some(token) = part.secret("bot_token") {
                body.once = Some(Once {
                    nonce: nonce(&part),
                    enforce_nonce: true,
                });
                body.message_reference = replied(&part);
                let base = part.field("base_url").unwrap_or(BASE_URL);
                let channel = part.need("channel_id")?;
                let path = ["channels", &channel, "messages"];
                let url = join_default(base, &["api", "v10"], &path)?;
                let request = part.client().post(url);
                request.header("authorization", format!("Bot {token}"))
            } else {
                let mut url = address(part.need_secret("webhook_url")?)?;
                // Without this parameter, Discord responds before it has validated the message.
                url.query_pairs_mut().append_pair("wait", "true");
                if let Some(thread) = part.message.extra("thread_id") {
                    url.query_pairs_mut().append_pair("thread_id", &thread);
                }
                part.client().post(url)
            };
            let request = request.header(USER_AGENT, AGENT).json(&body);
            let answer = part.call(request).await?;
            answer.check(ABOUT.noun, answer.response_json().seconds("/retry_after"))
        })
    }
}

fn replied(part: &Part<'_>) -> Option<MessageReference> {
    let id = part.reply_to()?;
    // For an edit, the ID contains the time of the edit after the message's own ID.
    let message_id = id.split(':').next().unwrap_or_default().to_owned();
    Some(MessageReference {
        message_id,
        fail_if_not_exists: false,
    })
}

/// Returns a nonce of at most 25 characters.
fn nonce(part: &Part<'_>) -> String {
    let id = part.id.get(..20).unwrap_or(part.id);
    format!("{id}{}", part.number % 100_000)
}
