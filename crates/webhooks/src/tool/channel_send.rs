//! The tool `channel_send`, which sends a text to a channel. It is for trusted turns. The turn of a delivery has it
//! only if the webhook's `toolPolicy` names it, and only for the webhook's `deliver_to`.

use super::tool_error;
use crate::handle::Webhooks;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError};
use gatehouse_channels::{Channels, Outgoing, SendError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum size of a text, in bytes.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The tool's name.
pub(crate) const CHANNEL_SEND: &str = "channel_send";

#[derive(Debug)]
pub(super) struct ChannelSendTool(pub(super) Webhooks);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    target: String,
    text: String,
}

impl Tool for ChannelSendTool {
    fn name(&self) -> &'static str {
        CHANNEL_SEND
    }

    fn description(&self) -> &'static str {
        "Sends a text to one of the owner's channels, such as a chat room, a phone or a mailbox. The \
         channels are configured by the owner; an unknown target is refused with the list of targets."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "target": {
                    "type": "string",
                    "description": "`type` or `type:account`, such as `inbox` or `slack:team`."
                },
                "text": { "type": "string", "description": "The text, at most 64 KiB." }
            },
            "required": ["target", "text"],
            "additionalProperties": false
        })
    }

    fn audience(&self) -> Audience {
        Audience::Trusted
    }

    fn reads_strangers(&self) -> bool {
        false
    }

    fn returns_private(&self, _: &Value) -> bool {
        false
    }

    fn effect(&self, _: &Value, _: bool) -> Effect {
        Effect::Send
    }

    fn target(&self, input: &Value) -> Option<String> {
        input.get("target")?.as_str().map(str::to_owned)
    }

    fn serves_named_targets(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let Input { target, text } =
                gatehouse_domain::input::from_value(input).map_err(tool_error)?;
            if text.trim().is_empty() || text.len() > MAX_TEXT_BYTES {
                return Err(ToolError::new("`text` must have 1 byte to 64 KiB."));
            }
            self.check_exists(&target).await?;
            self.send(context, &target, &text).await
        })
    }
}

impl ChannelSendTool {
    /// Refuses an unknown target with an error that lists the targets.
    async fn check_exists(&self, target: &str) -> Result<(), ToolError> {
        let channels = &self.0.0.channels;
        let Err(refused) = channels.check_target(target).await else {
            return Ok(());
        };
        let Ok(types) = channels.types().await else {
            return Err(tool_error(refused));
        };
        let targets: Vec<String> = types.into_iter().flat_map(|kind| kind.targets).collect();
        Err(ToolError::new(format!(
            "There is no such target. The targets are: {}.",
            targets.join(", ")
        )))
    }

    async fn send(
        &self,
        context: &ToolContext,
        target: &str,
        text: &str,
    ) -> Result<String, ToolError> {
        let inner = &self.0.0;
        let text = Channels::markup(target).escape_answer(text);
        let extra = BTreeMap::new();
        let message = Outgoing {
            target,
            text: &text,
            is_json: false,
            extra: &extra,
            source: &context.actor.name,
            at: inner.now(),
            delivery: None,
            pictures: &[],
            links: &[],
        };
        // The message is not retried, so each call is a new message, even if the text and the time are equal.
        let key = HEXLOWER.encode(&inner.random.bytes::<16>());
        match inner.channels.send_keyed(message, &key).await {
            Ok(()) => Ok(format!("Sent to `{target}`.")),
            Err(
                SendError::Retry { why, .. }
                | SendError::Unreachable { why }
                | SendError::Disabled { why }
                | SendError::GiveUp { why },
            ) => Err(ToolError::new(format!("It was not sent. {why}"))),
            Err(SendError::Sealed) => Err(ToolError::new(
                "It was not sent: the channel needs a secret, and the vault is sealed.",
            )),
        }
    }
}
