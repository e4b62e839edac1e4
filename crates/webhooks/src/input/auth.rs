//! The authentication of a webhook's sender, as the caller provides it.

use super::Patch;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The `auth` member of the input. Read-only members of a record are accepted and ignored, so a record can
/// be sent back unchanged.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthInput {
    /// Same as the top-level `header`.
    #[serde(default)]
    pub header: Patch<String>,
    /// Same as the top-level `secret`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub secret: Patch<SecretString>,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub configured: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub secret_hint: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub awaits_secret: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub previous_secret_expires_at: IgnoredAny,
}
