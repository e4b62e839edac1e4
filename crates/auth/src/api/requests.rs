//! Requests, in the order of the API contract's table.

use gatehouse_domain::{ChallengeId, Cidr, Scope, Timestamp, input};
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
    /// The first password. Required. It is parsed as optional, because a request without the setup code must be
    /// refused before the rest of the body is validated.
    #[schemars(with = "String")]
    pub password: Option<SecretString>,
    /// The setup code. Required for remote callers.
    #[serde(default, alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// `POST /api/auth/login`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    #[schemars(with = "String")]
    pub password: SecretString,
}

/// `POST /api/auth/confirm`: the password, or a passkey's response.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRequest {
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub password: Option<SecretString>,
    /// The challenge that `passkey/auth/begin` returned.
    #[serde(default)]
    pub challenge_id: Option<ChallengeId>,
    /// The authenticator's response to the challenge.
    #[serde(default)]
    pub credential: Option<serde_json::Value>,
}

/// `POST /api/auth/password/change`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChangeRequest {
    /// The current password. Required if one is set.
    #[serde(default, alias = "old_password")]
    #[schemars(with = "Option<String>")]
    pub current_password: Option<SecretString>,
    #[schemars(with = "String")]
    pub new_password: SecretString,
    /// The setup code. Required for remote callers if this request completes setup.
    #[serde(default, alias = "code")]
    #[schemars(with = "Option<String>")]
    pub setup_code: Option<SecretString>,
}

/// `POST /api/auth/api-keys`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateApiKeyRequest {
    /// A name for the key.
    #[serde(alias = "name")]
    pub label: String,
    /// What the key may do; at least one scope.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// When the key expires. By default, the key expires with the key that creates it, or never.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The networks that may use the key. By default, the networks of the key that creates it, otherwise any.
    #[serde(default)]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods and paths that the key may call, such as `tts.*`, `webhooks.deliveries` or `/v1/audio/*`. By
    /// default, the limits of the key that creates it, otherwise all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

/// `DELETE /api/auth/sessions` and `/api/auth/sessions/{id}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSessionRequest {
    /// Whether to keep the API keys and devices that the session created. By default, they end with the session.
    #[serde(default, deserialize_with = "input::or_default")]
    pub keep_children: bool,
}

/// `DELETE /api/auth/api-keys/{id}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeApiKeyRequest {
    /// Whether to keep the credentials that the key created. This requires a session. By default, they end with the
    /// key.
    #[serde(default, deserialize_with = "input::or_default")]
    pub keep_children: bool,
}

/// `pairing.create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairDeviceRequest {
    /// A name for the device.
    #[serde(alias = "name")]
    pub label: String,
    /// What the device may do; at most what its creator may do. By default, read and write.
    #[serde(default)]
    pub scopes: Option<Vec<Scope>>,
    /// When the device's access expires. By default, with the credential that pairs it, or never.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The networks from which the device may connect. By default, the networks of the credential that pairs it,
    /// otherwise any.
    #[serde(default)]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods that the device may call, such as `chat.*`. By default, the methods of the credential that pairs it,
    /// otherwise all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

/// A vault request that requires the password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultPassword {
    #[schemars(with = "String")]
    pub password: SecretString,
}

/// A vault request with an optional password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultOptionalPassword {
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

/// `params.auth` of a socket's `connect`. Send one of the credentials.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectAuth {
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub password: Option<SecretString>,
    /// The token of a paired device.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub device_token: Option<SecretString>,
}
