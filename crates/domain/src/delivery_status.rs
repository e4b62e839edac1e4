//! The status of a webhook delivery, with the names in the database, the API and the metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

macro_rules! statuses {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// The status of a webhook delivery.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum DeliveryStatus {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl DeliveryStatus {
            /// Every status, in the order of the specification's table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name in the API and in the database.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

statuses! {
    /// Stored, not yet queued.
    Received = "received";
    /// The webhook's filter excludes its event type.
    Filtered = "filtered";
    /// A delivery with the same idempotency key already exists.
    Deduplicated = "deduplicated";
    /// The delivery failed verification or broke a rule.
    Rejected = "rejected";
    /// Waiting for a worker.
    Queued = "queued";
    /// A worker is processing it.
    Processing = "processing";
    /// Processing succeeded.
    Completed = "completed";
    /// Processing failed.
    Failed = "failed";
}

impl DeliveryStatus {
    /// Returns whether work on the delivery remains.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Received | Self::Queued | Self::Processing)
    }
}

/// The text is not a delivery status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a delivery status")]
pub struct UnknownStatus;

impl FromStr for DeliveryStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        let mut all = Self::ALL.iter().copied();
        all.find(|status| status.as_str() == text)
            .ok_or(UnknownStatus)
    }
}

impl fmt::Display for DeliveryStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_everywhere() {
        assert_eq!(DeliveryStatus::ALL.len(), 8);
        for status in DeliveryStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
            let json = serde_json::to_string(status).unwrap();
            assert_eq!(json, format!("\"{status}\""));
        }
        assert_eq!("done".parse::<DeliveryStatus>(), Err(UnknownStatus));
    }

    #[test]
    fn three_statuses_are_open() {
        let open = DeliveryStatus::ALL.iter().filter(|status| status.is_open());
        assert_eq!(open.count(), 3);
    }
}
