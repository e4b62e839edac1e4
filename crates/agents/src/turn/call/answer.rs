//! The answer to a tool call, for the model.

use crate::approvals::question::Verdict;
use crate::attached_file::NewAttachment;
use crate::origin::MessageOrigin;
use crate::send::ActionStatus;
use crate::tool::MAX_OUTPUT_BYTES;
use std::time::Duration;

/// The length of the tool output in events.
pub(super) const SUMMARY_CHARACTERS: usize = 200;

/// The result of a call.
pub(super) struct Answer {
    pub(super) status: ActionStatus,
    pub(super) text: String,
    /// Who wrote the answer.
    pub(super) origin: MessageOrigin,
    /// Whether the answer may contain private data.
    pub(super) is_private: bool,
    /// Files that the tool returned in addition to the text.
    pub(super) files: Vec<NewAttachment>,
}

impl Answer {
    fn of_gateway(status: ActionStatus, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
            origin: MessageOrigin::Configured,
            is_private: false,
            files: Vec::new(),
        }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self::of_gateway(ActionStatus::Error, text)
    }

    pub(super) fn denied(text: impl Into<String>) -> Self {
        Self::of_gateway(ActionStatus::Denied, text)
    }

    /// Returns the answer to a call that was not approved, or `None` if it was approved.
    pub(super) fn unapproved(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Allowed => None,
            Verdict::Denied => Some(Self::denied("The operator did not approve this call.")),
            Verdict::Expired(wait) => {
                let wait = in_words(wait);
                let text = format!("Nobody answered within {wait}, so the call was not made.");
                Some(Self::of_gateway(ActionStatus::Expired, text))
            }
        }
    }

    /// Adds files, which count as untrusted. They are private if the output of the tool is private.
    pub(super) fn with(self, files: Vec<NewAttachment>) -> Self {
        if files.is_empty() {
            return self;
        }
        Self {
            files,
            origin: MessageOrigin::Stranger,
            ..self
        }
    }
}

pub(super) fn too_often() -> Answer {
    Answer::error(
        "Not called: the same call returned the same output three times. Try something else, or \
         answer with what you have.",
    )
}

/// Formats a wait in whole minutes, or else in seconds.
pub(super) fn in_words(wait: Duration) -> String {
    let seconds = wait.as_secs();
    let (count, unit) = match (seconds / 60, seconds % 60) {
        (minutes @ 1.., 0) => (minutes, "minute"),
        _ => (seconds, "second"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// Cuts a tool's output at a character boundary within the limit.
pub(super) fn capped(mut text: String) -> String {
    const NOTE: &str = "\n[… truncated: the output is too long]";
    if text.len() > MAX_OUTPUT_BYTES {
        let end = text.floor_char_boundary(MAX_OUTPUT_BYTES - NOTE.len());
        text.truncate(end);
        text.push_str(NOTE);
    }
    text
}
