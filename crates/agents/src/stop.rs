//! Why an answer ended.

use gatehouse_models::StopReason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The answer is complete.
    #[default]
    End,
    /// The model reached its token limit. The answer is incomplete.
    Length,
    /// The model refused to answer.
    Refused,
    /// A content filter of the provider removed the answer or its end.
    Filtered,
    /// The turn used all its steps (`max_turns`); this is a last answer without tools.
    ToolLimit,
    /// A caller stopped the turn.
    Aborted,
    /// The turn failed; `error` contains the reason.
    Error,
    /// Gatehouse stopped before the answer was complete.
    Interrupted,
}

impl Stop {
    /// Returns the stored and serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::ToolLimit => "tool_limit",
            Self::Aborted => "aborted",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the reason with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }

    /// Returns whether the model or its provider withheld the answer. Calls in such an answer are
    /// not made.
    pub(crate) const fn is_withheld(self) -> bool {
        matches!(self, Self::Refused | Self::Filtered)
    }
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::End | StopReason::ToolUse => Self::End,
            StopReason::Length => Self::Length,
            StopReason::Refused => Self::Refused,
            StopReason::Filtered => Self::Filtered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_name_is_the_name_on_the_wire() {
        for stop in [
            Stop::End,
            Stop::Length,
            Stop::Refused,
            Stop::Filtered,
            Stop::ToolLimit,
            Stop::Aborted,
            Stop::Error,
            Stop::Interrupted,
        ] {
            assert_eq!(serde_json::to_value(stop).unwrap(), stop.as_str());
            assert_eq!(Stop::of(stop.as_str()), Some(stop));
        }
        assert_eq!(Stop::of("later"), None);
    }
}
