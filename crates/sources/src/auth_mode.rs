//! The verification modes and their names. The `verify` module implements the checks.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! auth_modes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal $(, alias $alias:literal)?;)+) => {
        /// How a webhook's deliveries are verified. Serialized under its own name; also deserializes from
        /// the vendor's name.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum AuthMode {
            $($(#[doc = $doc])+ #[serde(rename = $name $(, alias = $alias)?)] $variant,)+
        }

        impl AuthMode {
            /// Every mode, in documentation order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in storage and in API responses.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The vendor's name for this mode, accepted on input.
            pub const fn alias(self) -> Option<&'static str> {
                match self {
                    $($(Self::$variant => Some($alias),)?)+
                    _ => None,
                }
            }
        }
    };
}

auth_modes! {
    /// No verification; for testing only.
    None = "none";
    /// The secret is sent in a header that the owner chooses.
    StaticHeader = "static_header";
    /// The secret is sent as `Authorization: Bearer <secret>`.
    Bearer = "bearer";
    /// `X-Hub-Signature-256`: HMAC-SHA256 of the body.
    CodehostAHmacSha256 = "codehost_a_hmac_sha256", alias "github_hmac_sha256";
    /// The secret is sent in `X-Codehost-B-Token`.
    CodehostBToken = "codehost_b_token", alias "gitlab_token";
    /// `Payments-Signature`: HMAC-SHA256 of the timestamp and body.
    PaymentsWebhookSignature = "payments_webhook_signature", alias "stripe_webhook_signature";
    /// `Tracker-A-Signature`: HMAC-SHA256 of the body, which contains the timestamp.
    TrackerAWebhookSignature = "tracker_a_webhook_signature", alias "linear_webhook_signature";
    /// `X-Incident-Signature`: a list of HMAC-SHA256 signatures of the body.
    IncidentV2Signature = "incident_v2_signature", alias "pagerduty_v2_signature";
    /// `Errors-Hook-Signature`: HMAC-SHA256 of the body.
    ErrorsWebhookSignature = "errors_webhook_signature", alias "sentry_webhook_signature";
    /// Standard Webhooks: HMAC-SHA256 of the id, timestamp and body.
    StandardWebhooks = "standard_webhooks";
    /// `X-Slack-Signature`: HMAC-SHA256 of the version, timestamp and body.
    SlackSignature = "slack_signature";
    /// `X-Shopify-Hmac-Sha256`: Base64-encoded HMAC-SHA256 of the body.
    ShopifyHmacSha256 = "shopify_hmac_sha256";
    /// `X-Twilio-Signature`: Base64-encoded HMAC-SHA1 of the URL and the form fields.
    TwilioSignature = "twilio_signature";
}

impl AuthMode {
    /// Whether this mode requires a secret.
    pub const fn needs_secret(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether the webhook configures which header contains the secret.
    pub const fn takes_header(self) -> bool {
        matches!(self, Self::StaticHeader)
    }
}

impl fmt::Display for AuthMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for an unknown auth mode name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an auth mode")]
pub struct UnknownAuthMode;

impl FromStr for AuthMode {
    type Err = UnknownAuthMode;

    fn from_str(name: &str) -> Result<Self, UnknownAuthMode> {
        Self::ALL
            .iter()
            .find(|mode| mode.as_str() == name || mode.alias() == Some(name))
            .copied()
            .ok_or(UnknownAuthMode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_read_and_the_name_is_written() {
        for mode in AuthMode::ALL {
            for name in [Some(mode.as_str()), mode.alias()].into_iter().flatten() {
                let json = format!("\"{name}\"");
                assert_eq!(name.parse(), Ok(*mode));
                assert_eq!(serde_json::from_str::<AuthMode>(&json).unwrap(), *mode);
            }
            let written = serde_json::to_string(mode).unwrap();
            assert_eq!(written, format!("\"{mode}\""));
        }
        assert_eq!(AuthMode::ALL.len(), 13);
    }

    #[test]
    fn the_vendors_names_are_those_of_the_contract() {
        let aliases: Vec<_> = AuthMode::ALL
            .iter()
            .filter_map(|mode| Some((mode.alias()?, mode.as_str())))
            .collect();
        assert_eq!(
            aliases,
            [
                ("github_hmac_sha256", "codehost_a_hmac_sha256"),
                ("gitlab_token", "codehost_b_token"),
                ("stripe_webhook_signature", "payments_webhook_signature"),
                ("linear_webhook_signature", "tracker_a_webhook_signature"),
                ("pagerduty_v2_signature", "incident_v2_signature"),
                ("sentry_webhook_signature", "errors_webhook_signature"),
            ]
        );
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "None", "github", "codehost_a", "static-header", " none"] {
            assert_eq!(name.parse::<AuthMode>(), Err(UnknownAuthMode));
        }
    }
}
