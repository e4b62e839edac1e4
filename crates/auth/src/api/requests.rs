//! Requests, in the order of the contract's table.

use gatehouse_domain::{ChallengeId, Cidr, Scope, Timestamp};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

/// `{}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyRequest {}

/// `POST /api/auth/setup`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetupRequest {
    /// The first password. Required; read as optional, so that a missing setup code is refused
    /// before anything is said about the rest of the body.
    #[schemars(with = "String")]
    pub password: Option<SecretString>,
    /// The setup code; a remote caller must send it.
    #[serde(default, alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// `POST /api/auth/login`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The password.
    #[schemars(with = "String")]
    pub password: SecretString,
}

/// `POST /api/auth/confirm`: the password, or a passkey's answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRequest {
    /// The password.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub password: Option<SecretString>,
    /// The ceremony that `passkey/auth/begin` started.
    #[serde(default)]
    pub challenge_id: Option<ChallengeId>,
    /// The authenticator's answer to it.
    #[serde(default)]
    pub credential: Option<serde_json::Value>,
}

/// `POST /api/auth/password/change`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChangeRequest {
    /// The password so far; required where one is set.
    #[serde(default, alias = "old_password")]
    #[schemars(with = "Option<String>")]
    pub current_password: Option<SecretString>,
    /// The password from now on.
    #[schemars(with = "String")]
    pub new_password: SecretString,
    /// The setup code; a remote caller must send it where this completes setup.
    #[serde(default, alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// `POST /api/auth/api-keys`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateApiKeyRequest {
    /// What its owner calls it.
    #[serde(alias = "name")]
    pub label: String,
    /// What it may do; at least one.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// When it ends; when left out, with the key that makes it, or never.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Where it may be used from; when left out, where the key that makes it may be, or anywhere.
    #[serde(default)]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods and paths that it may call, such as `tts.*`, `webhooks.deliveries` or
    /// `/v1/audio/*`; when left out, those of the key that makes it, or all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

/// `DELETE /api/auth/sessions` and `/api/auth/sessions/{id}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSessionRequest {
    /// Whether the API keys and devices that the session made stay; when left out, they end with it.
    #[serde(default)]
    pub keep_children: bool,
}

/// `pairing.create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairDeviceRequest {
    /// What its owner calls it.
    #[serde(alias = "name")]
    pub label: String,
    /// What it may do: not more than its creator; reading and writing when left out.
    #[serde(default)]
    pub scopes: Option<Vec<Scope>>,
    /// When it ends; when left out, with the credential that pairs it, or never.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Where it may connect from; when left out, where the credential that pairs it may be used, or
    /// anywhere.
    #[serde(default)]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods that it may call, such as `chat.*`; when left out, those of the credential that
    /// pairs it, or all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

/// A request that the vault's password must come with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultPassword {
    /// The password.
    #[schemars(with = "String")]
    pub password: SecretString,
}

/// A request that the vault's password may come with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultOptionalPassword {
    /// The password.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub password: Option<SecretString>,
}

/// `POST /api/auth/vault/recovery`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultRecovery {
    /// The recovery key, with or without hyphens, in any case.
    #[schemars(with = "String")]
    pub recovery_key: SecretString,
}

/// `params.auth` of a socket's `connect`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectAuth {
    /// An API key.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Or the password.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub password: Option<SecretString>,
    /// Or a paired device's token.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub device_token: Option<SecretString>,
}
