//! Typed IDs with a prefix, so that a session ID cannot be mistaken for a key ID in code or in a log. The text
//! after the prefix is a `UUIDv7`, so IDs sort by creation time.

use crate::{Clock, Random};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

fn new_uuid(clock: &dyn Clock, random: &dyn Random) -> uuid::Uuid {
    let millis = u64::try_from(clock.now().as_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random.bytes()).into_uuid()
}

/// Builds the text without the formatting machinery, because every request generates an ID.
fn named(prefix: &str, id: uuid::Uuid) -> String {
    let mut digits = [0; uuid::fmt::Simple::LENGTH];
    let digits = id.simple().encode_lower(&mut digits);
    let mut text = String::with_capacity(prefix.len() + digits.len());
    text.push_str(prefix);
    text.push_str(digits);
    text
}

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident = $prefix:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Generates a new ID.
            pub fn generate(clock: &dyn Clock, random: &dyn Random) -> Self {
                Self(named($prefix, new_uuid(clock, random)))
            }

            /// Wraps text from a caller without validation. A lookup with an invalid ID finds nothing.
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Returns the ID including its prefix.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

ids! {
    /// A login session: the ID of its record, not the cookie's secret.
    AuthSessionId = "as_";
    /// An API key.
    ApiKeyId = "key_";
    /// A passkey.
    PasskeyId = "pk_";
    /// A `WebAuthn` ceremony that is waiting for its response.
    ChallengeId = "ch_";
    /// A chat session.
    SessionId = "ses_";
    /// A message in a chat session.
    MessageId = "msg_";
    /// One turn of an agent, from input to answer.
    TurnId = "turn_";
    /// A spoken recording in a chat session.
    AudioId = "aud_";
    /// A file in a chat session.
    AttachmentId = "att_";
    /// A tool call that is waiting for approval.
    ApprovalId = "apr_";
    /// A webhook. Senders use its public ID instead.
    WebhookId = "hook_";
    /// One delivery to a webhook.
    DeliveryId = "del_";
    /// A message in the inbox.
    InboxMessageId = "in_";
    /// A paired device.
    DeviceId = "dev_";
    /// A browser that gets notifications through a push service.
    PushSubscriptionId = "push_";
    /// A person who is paired with a channel, or who has asked to be paired.
    PairingId = "pair_";
    /// One request, in logs and in `x-request-id`.
    RequestId = "req_";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ManualClock, SeededRandom, Timestamp};

    #[test]
    fn ids_carry_their_prefix_and_sort_by_time() {
        let clock = ManualClock::at(Timestamp::from_millis(1));
        let random = SeededRandom::new(1);
        let first = ApiKeyId::generate(&clock, &random);
        clock.advance(std::time::Duration::from_millis(1));
        let second = ApiKeyId::generate(&clock, &random);
        assert!(first.as_str().starts_with("key_"));
        assert_eq!(first.as_str().len(), 4 + 32);
        assert!(first < second);
    }
}
