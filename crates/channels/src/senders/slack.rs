//! `slack`: `chat.postMessage` with a bot token
//! (<https://docs.slack.dev/reference/methods/chat.postMessage>) or an incoming webhook
//! (<https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>).

use super::{About, Extra, OTHER_CHANNEL, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec, INBOUND};
use crate::fields::{receiving_agent, receiving_switch, speaking_switch};
use crate::markup::Markup;
use crate::receivers::{Receiver, slack::SlackReceiver};
use crate::split::Limit;
use crate::vendor::{Answer, address, join_default};
use crate::vendor_apis::slack::BASE_URL;
use futures_util::future::BoxFuture;
use serde::Serialize;

/// Transient errors according to the method's documentation.
const PASSING: [&str; 8] = [
    "ratelimited",
    "rate_limited",
    "message_limit_exceeded",
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
];

#[derive(Debug)]
pub(crate) struct Slack;

static ABOUT: About = About {
    kind: "slack",
    label: "Slack",
    description: "Posts to a Slack channel, through a bot or an incoming webhook.",
    noun: "Slack",
    fields: &[
        FieldSpec::new(
            "bot_token",
            "Bot token",
            FieldKind::Text,
            "Begins with xoxb-; the app needs the scope chat:write. Either this or a webhook URL.",
        )
        .secret(),
        FieldSpec::new(
            "webhook_url",
            "Webhook URL",
            FieldKind::Url,
            "An incoming webhook; it posts to the channel it was created for.",
        )
        .secret(),
        FieldSpec::new(
            "channel",
            "Channel",
            FieldKind::Text,
            "The channel’s ID or name. Needed with a bot token.",
        ),
        FieldSpec::new(
            "base_url",
            "Server",
            FieldKind::Url,
            "Only if you use a server other than Slack’s.",
        ),
        receiving_switch(),
        receiving_agent(),
        speaking_switch(),
        FieldSpec::new(
            "app_token",
            "App-level token",
            FieldKind::Text,
            "Begins with xapp- and has the scope connections:write. Needed to receive messages.",
        )
        .secret(),
    ],
    extra: &[
        Extra {
            name: "channel",
            help: OTHER_CHANNEL,
        },
        Extra {
            name: "thread_ts",
            help: "Replies in the thread of this message.",
        },
    ],
    takes_json: false,
    built_in: false,
    calls_any_address: false,
};

/// Without `parse` and `link_names`, a bare @channel in the text notifies nobody.
#[derive(Serialize)]
struct PostMessage<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    text: &'a str,
    /// Whether Slack shows previews of links. For a preview, Slack's servers fetch the page. A URL in a waiting call,
    /// or in an answer that a payload manipulated, could thereby send data to an attacker before a person has read it.
    unfurl_links: bool,
    unfurl_media: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_ts: Option<String>,
}

impl Sender for Slack {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn markup(&self) -> Markup {
        Markup::Slack
    }

    /// Slack's documentation says "Limit the number of characters in the text field to 4,000". Slack truncates text
    /// beyond 40,000 characters.
    fn limit(&self) -> Limit {
        Limit::Utf16(4000)
    }

    fn check(&self, has: &dyn Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
        if has(INBOUND) {
            for token in ["bot_token", "app_token"] {
                if !has(token) {
                    return Err((token, "it is required to receive messages"));
                }
            }
        }
        if has("bot_token") || has("webhook_url") {
            return Ok(());
        }
        Err((
            "bot_token",
            "either a bot token or a webhook URL is required",
        ))
    }

    fn receiver(&self) -> Option<&'static dyn Receiver> {
        Some(&SlackReceiver)
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let mut body = PostMessage {
                channel: None,
                text: part.text,
                unfurl_links: false,
                unfurl_media: false,
                thread_ts: part.message.extra("thread_ts"),
            };
            let Some(token) = part.secret("bot_token") else {
                let url = address(part.need_secret("webhook_url")?)?;
                let answer = part.call(part.client().post(url).json(&body)).await?;
                return answer.check(ABOUT.noun, None);
            };
            body.channel = Some(part.need("channel")?);
            let base = part.field("base_url").unwrap_or(BASE_URL);
            let url = join_default(base, &["api"], &["chat.postMessage"])?;
            let request = part.client().post(url).bearer_auth(token).json(&body);
            verdict(&part.call(request).await?)
        })
    }
}

/// Checks the response. The Web API reports errors with status 200 and a short code.
pub(crate) fn verdict(answer: &Answer) -> Result<(), Failure> {
    answer.check(ABOUT.noun, None)?;
    let response_json = answer.response_json();
    if response_json.is_true("/ok") {
        return Ok(());
    }
    let code = response_json.text("/error");
    if PASSING.contains(&code) {
        return Err(answer.later(ABOUT.noun, None));
    }
    let plain = |c: u8| c.is_ascii_lowercase() || c == b'_';
    if !code.is_empty() && code.len() <= 64 && code.bytes().all(plain) {
        return Err(Failure::refused(format!(
            "Slack refused the message: {code}."
        )));
    }
    Err(Failure::refused(
        "The server at Slack's address is not its Web API.",
    ))
}
