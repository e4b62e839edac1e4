//! The content of a notification, which equals the notification of the open page. The service worker
//! (`ui/public/sw.js`) reads the content and contains the texts.

use gatehouse_agents::{Approval, Done, Stop};
use gatehouse_channels::InboxMessage;
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{PushSubscriptionId, Scope, Timestamp};
use gatehouse_webhooks::DeliveryChange;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest text of a notification in characters, as in the page.
const MAX_CHARS: usize = 200;
/// How long a push service keeps a notification that has no expiry of its own, for a browser that is not connected.
const KEPT: Duration = Duration::from_hours(24);
/// Minimum time that a push service keeps the message that closes a notification.
const CLOSES_FOR: Duration = Duration::from_mins(1);

/// The browsers that probably show the notification of an approval.
pub(super) type ShownBy = Arc<Mutex<HashSet<PushSubscriptionId>>>;

/// A notification.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    /// The topic. At a push service, a newer notice replaces one with the same topic. At most 32 characters of
    /// base64url.
    pub(super) topic: String,
    /// When the notice is no longer useful, by the clock of this node.
    pub(super) until: Timestamp,
    pub(super) is_urgent: bool,
    /// The permissions that a device needs to receive it: a scope, and a method that returns the same data.
    pub(super) needs: (Scope, &'static str),
    /// The only credential that receives the notice; `None` if all receive it.
    pub(super) only: Option<String>,
    pub(super) text: Text,
    /// The browsers that probably show the notification of an approval. Sending a notice adds a browser; closing
    /// reads the set.
    shown_by: ShownBy,
}

/// The text for the service worker.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Text {
    kind: Kind,
    /// The tag. Of several notifications with the same tag, the browser shows only the last one.
    tag: String,
    /// The tool or the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The path of the page that a click opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// How many tool calls wait for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waiting: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Approval,
    /// Closes the notification of an approval.
    Closed,
    Failed,
    Inbox,
    Answer,
    /// The turn of a question failed.
    NoAnswer,
}

/// Returns the text, or its beginning with an ellipsis.
fn cut(text: &str) -> String {
    if text.chars().nth(MAX_CHARS).is_none() {
        return text.to_owned();
    }
    let kept = text.chars().take(MAX_CHARS - 1);
    kept.chain(['…']).collect()
}

/// Returns the topic of an approval or a session: its ID without the prefix.
fn topic_of(id: &str) -> String {
    let without = id.split_once('_').map(|(_, rest)| rest);
    without.unwrap_or(id).to_owned()
}

impl Notice {
    /// Returns the notice about a call that waits until this time.
    pub(super) fn asked(asked: &Approval, until: Timestamp, shown_by: ShownBy) -> Self {
        Self {
            topic: topic_of(asked.id.as_str()),
            until,
            is_urgent: true,
            needs: (Scope::Approvals, "approval.list"),
            only: None,
            text: Text {
                kind: Kind::Approval,
                tag: format!("approval {}", asked.id),
                name: Some(cut(&asked.shown.tool)),
                body: Some(cut(&asked.shown.arguments)),
                url: Some(format!("/chat/{}", asked.session)),
                waiting: None,
            },
            shown_by,
        }
    }

    /// Returns the notice that closes the notification of a call. The call would have waited until `expires_at`, by
    /// the clock of this node.
    pub(super) fn closed(
        id: &ApprovalId,
        expires_at: Timestamp,
        shown_by: ShownBy,
        now: Timestamp,
    ) -> Self {
        Self {
            topic: topic_of(id.as_str()),
            until: expires_at.max(now.after(CLOSES_FOR)),
            is_urgent: true,
            needs: (Scope::Approvals, "approval.list"),
            only: None,
            text: Text {
                kind: Kind::Closed,
                tag: format!("approval {id}"),
                name: None,
                body: None,
                url: None,
                waiting: None,
            },
            shown_by,
        }
    }

    pub(super) fn of_failure(delivery: &DeliveryChange, now: Timestamp) -> Self {
        let what = delivery.summary.as_deref();
        let parts = [
            what.or(delivery.event_type.as_deref()),
            delivery.error.as_deref(),
        ];
        let body: Vec<&str> = parts.into_iter().flatten().collect();
        Self {
            topic: "delivery".to_owned(),
            until: now.after(KEPT),
            is_urgent: false,
            needs: (Scope::Read, "webhooks.deliveries"),
            only: None,
            text: Text {
                kind: Kind::Failed,
                tag: "delivery".to_owned(),
                name: None,
                body: Some(cut(&body.join("\n"))),
                url: Some(format!("/deliveries/{}", delivery.id)),
                waiting: None,
            },
            shown_by: ShownBy::default(),
        }
    }

    pub(super) fn of_message(message: &InboxMessage, now: Timestamp) -> Self {
        Self {
            topic: "inbox".to_owned(),
            until: now.after(KEPT),
            is_urgent: false,
            needs: (Scope::Read, "inbox.list"),
            only: None,
            text: Text {
                kind: Kind::Inbox,
                tag: "inbox".to_owned(),
                name: Some(cut(&message.source)),
                body: Some(cut(&message.text)),
                url: Some("/inbox".to_owned()),
                waiting: None,
            },
            shown_by: ShownBy::default(),
        }
    }

    /// Returns the notice of an answer, for the client that sent the message. Returns `None` if the turn was
    /// stopped.
    pub(super) fn of_answer(done: &Done, now: Timestamp) -> Option<Self> {
        let answered = done.answered.as_ref()?;
        let is_browser = ["session ", "device "]
            .iter()
            .any(|kind| answered.caller.starts_with(kind));
        if !is_browser || done.stop == Stop::Aborted {
            return None;
        }
        let failure = done
            .error
            .as_ref()
            .map(|failure| failure.0.message.as_str());
        Some(Self {
            topic: topic_of(done.session.as_str()),
            until: now.after(KEPT),
            is_urgent: false,
            needs: (Scope::Read, "chat.history"),
            only: Some(answered.caller.clone()),
            text: Text {
                kind: if failure.is_some() {
                    Kind::NoAnswer
                } else {
                    Kind::Answer
                },
                tag: format!("answer {}", done.session),
                name: None,
                body: Some(cut(failure.unwrap_or(&answered.text))),
                url: Some(format!("/chat/{}", done.session)),
                waiting: None,
            },
            shown_by: ShownBy::default(),
        })
    }

    /// Returns whether the notice only closes a notification.
    pub(super) fn is_closing(&self) -> bool {
        self.text.kind == Kind::Closed
    }

    /// Returns whether to send the notice to this browser. A closing notice is sent only to browsers that show the
    /// notification. In other browsers, it shows nothing, which counts against the gateway.
    pub(super) fn concerns(&self, browser: &PushSubscriptionId) -> bool {
        let shown_by = self.shown_by.lock();
        !self.is_closing()
            || shown_by
                .unwrap_or_else(PoisonError::into_inner)
                .contains(browser)
    }

    pub(super) fn set_shown(&self, browser: &PushSubscriptionId, is_shown: bool) {
        if self.is_closing() {
            return;
        }
        let shown_by = self.shown_by.lock();
        let mut shown_by = shown_by.unwrap_or_else(PoisonError::into_inner);
        if is_shown {
            shown_by.insert(browser.clone());
        } else {
            shown_by.remove(browser);
        }
    }

    pub(super) fn is_about_approval(&self) -> bool {
        matches!(self.text.kind, Kind::Approval | Kind::Closed)
    }
}

#[cfg(test)]
mod tests;
