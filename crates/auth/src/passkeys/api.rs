//! Bodies and answers of the passkey endpoints.

use gatehouse_domain::{ChallengeId, PasskeyId, Timestamp};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Begins a registration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterBeginRequest {
    /// Needed from remote callers while setup is incomplete.
    #[serde(alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// Ends a registration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterFinishRequest {
    /// From the beginning.
    pub challenge_id: ChallengeId,
    /// What the owner calls the passkey.
    #[serde(alias = "label")]
    pub name: String,
    /// `PublicKeyCredential.toJSON()`.
    pub credential: Value,
    /// Needed from remote callers while setup is incomplete.
    #[serde(alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// Ends a login.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginFinishRequest {
    /// From the beginning.
    pub challenge_id: ChallengeId,
    /// `PublicKeyCredential.toJSON()`.
    pub credential: Value,
}

/// A ceremony has begun.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CeremonyBegun {
    /// To be sent back with the credential, once, within five minutes.
    pub challenge_id: ChallengeId,
    /// For `navigator.credentials`: `{publicKey: …}`.
    pub options: Value,
}

/// A passkey was registered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyMade {
    /// Its id.
    pub id: PasskeyId,
    /// Settings that a remote caller had changed while auth was disabled: they are as they were before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_reverted: Vec<String>,
}

/// Renames a passkey.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    /// The new name.
    #[serde(alias = "label")]
    pub name: String,
}

/// One passkey.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyItem {
    /// Its id.
    pub id: PasskeyId,
    /// What the owner calls it.
    pub name: String,
    /// The host on which it works.
    pub rp_id: String,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last logged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// Every passkey.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PasskeyList {
    /// The oldest first.
    pub passkeys: Vec<PasskeyItem>,
}
