//! Decides which tool calls need the owner's approval because untrusted text may have caused them. Pure: the input is
//! the name, target and effect of a call, and the taint and privacy of the turn.

use crate::origin::MessageOrigin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a tool call on anything outside of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The call only returns a result.
    None,
    /// The call sends a message to someone.
    Send,
    /// The call changes or deletes something.
    Change,
    /// The call sends private data to a destination from its input.
    Reveal,
    /// The call costs money.
    Spend,
}

/// Why a tool call waits for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskReason {
    /// `tools.require_approval` lists the tool.
    Required,
    /// The turn has read untrusted text, and the call has an effect.
    Tainted,
}

/// The kinds of data that a session has read, in this turn and earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HasRead {
    /// Untrusted text that no person has cleared.
    pub(crate) strangers: bool,
    /// Private data: files that people attached, or output of a tool.
    pub(crate) private: bool,
}

impl HasRead {
    /// Adds the kinds of data of one more message.
    pub(crate) fn read(&mut self, origin: MessageOrigin, is_private: bool) {
        self.strangers |= origin == MessageOrigin::Stranger;
        self.private |= is_private;
    }
}

/// A call that a model requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requested<'a> {
    pub(crate) tool: &'a str,
    pub(crate) target: Option<&'a str>,
    pub(crate) effect: Effect,
}

/// Decisions that the owner made beforehand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnerDecisions<'a> {
    /// `tools.require_approval` lists the tool.
    pub(crate) is_required: bool,
    /// `tools.taint` is on.
    pub(crate) is_guarded: bool,
    /// The agent's or the webhook's `allow` contains the tool's exact name.
    pub(crate) is_named: bool,
    /// The entries of `tools.trust`.
    pub(crate) trust: &'a [String],
}

/// Returns why this call needs approval, or `None` if it needs none.
pub(crate) fn reason_to_ask(
    call: Requested<'_>,
    read: HasRead,
    decisions: OwnerDecisions<'_>,
) -> Option<AskReason> {
    if decisions.is_required {
        return Some(AskReason::Required);
    }
    let is_harmless = call.effect == Effect::None || !read.strangers || !decisions.is_guarded;
    let is_allowed =
        decisions.is_named || decisions.trust.iter().any(|entry| is_trusted(entry, call));
    (!is_harmless && !is_allowed).then_some(AskReason::Tainted)
}

/// Returns whether an entry of `tools.trust` allows this call. `tool:target` allows one target, `tool:*` all, and
/// `tool` a call without a target.
fn is_trusted(entry: &str, call: Requested<'_>) -> bool {
    match entry.split_once(':') {
        None => entry == call.tool && call.target.is_none(),
        Some((tool, target)) => tool == call.tool && (target == "*" || Some(target) == call.target),
    }
}

#[cfg(test)]
#[path = "taint_tests.rs"]
mod tests;
