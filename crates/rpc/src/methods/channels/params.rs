//! Parameters of the methods for channels.

use gatehouse_domain::input;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// Params of `channels.create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    /// The type of channel, such as `telegram`.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The display name.
    pub(super) label: String,
    /// The fields that `channels.types` lists for the type.
    pub(super) fields: Map<String, Value>,
    /// The ID; derived from the type by default.
    pub(super) id: Option<String>,
    /// Whether the channel may send messages; true by default.
    pub(super) enabled: Option<bool>,
}

/// Params of `channels.update`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateParams {
    /// The channel's ID.
    pub(super) id: String,
    /// The display name.
    pub(super) label: Option<String>,
    /// The fields to change. A masked secret stays unchanged.
    pub(super) fields: Option<Map<String, Value>>,
    /// Whether the channel may send messages.
    pub(super) enabled: Option<bool>,
}

/// Params of `channels.delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// The channel's ID.
    pub(super) id: String,
    /// Delete the channel even if deliveries wait for it or webhooks name it. Those deliveries fail.
    #[serde(default, deserialize_with = "input::or_default")]
    pub(super) force: bool,
}

/// Params of `channels.test`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestParams {
    /// The channel's ID.
    pub(super) id: String,
    /// The message to send; a standard sentence by default.
    pub(super) text: Option<String>,
}

/// Params of `channels.send`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendParams {
    /// The type of a channel, or `type:id` of one channel: `inbox`, `slack:team`.
    pub(super) target: String,
    /// The text, at most 64 KiB.
    pub(super) text: String,
}

/// Omits the fields, which may contain secrets.
impl fmt::Debug for CreateParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreateParams")
            .field("kind", &self.kind)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Omits the fields, which may contain secrets.
impl fmt::Debug for UpdateParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateParams")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
