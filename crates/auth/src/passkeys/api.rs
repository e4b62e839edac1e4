//! Request and response bodies of the passkey endpoints.

use gatehouse_domain::{ChallengeId, PasskeyId, Timestamp};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Starts a registration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterBeginRequest {
    /// The setup code. Required for remote callers while setup is incomplete.
    #[serde(alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// Completes a registration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterFinishRequest {
    /// The ID returned when the registration started.
    pub challenge_id: ChallengeId,
    /// A name for the passkey.
    #[serde(alias = "label")]
    pub name: String,
    /// `PublicKeyCredential.toJSON()`.
    pub credential: Value,
    /// The setup code. Required for remote callers while setup is incomplete.
    #[serde(alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// Completes a login.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginFinishRequest {
    /// The ID returned when the login started.
    pub challenge_id: ChallengeId,
    /// `PublicKeyCredential.toJSON()`.
    pub credential: Value,
}

/// A started ceremony.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CeremonyBegun {
    /// Return it with the credential, once and within five minutes.
    pub challenge_id: ChallengeId,
    /// For `navigator.credentials`: `{publicKey: …}`.
    pub options: Value,
}

/// A registered passkey.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyMade {
    pub id: PasskeyId,
    /// Settings restored to their previous values, because a remote caller changed them while auth
    /// was disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_reverted: Vec<String>,
}

/// Renames a passkey.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    #[serde(alias = "label")]
    pub name: String,
}

/// One passkey.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyItem {
    pub id: PasskeyId,
    /// A name chosen by the owner.
    pub name: String,
    /// The host for which the passkey works.
    pub rp_id: String,
    /// When the passkey was registered.
    pub created_at: Timestamp,
    /// When the passkey was last used to log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// The API key or device that registered the passkey, as in the audit log. The passkey ends with
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// Every passkey.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyList {
    /// Oldest first.
    pub passkeys: Vec<PasskeyItem>,
}
