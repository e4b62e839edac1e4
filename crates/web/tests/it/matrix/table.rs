//! What each route and each method asks for, written from the specification and the contract, not from
//! the code. A route or method without a row here fails.

/// What a route asks for, in the words of the specification's endpoint table and the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// "none", or the handler validates what the body holds.
    Nothing,
    /// Any identity.
    Identity,
    /// A confirmed administrator; from elsewhere and while setup is open, the setup code.
    AdminOrSetup,
    /// Nothing but, from elsewhere and while setup is open, the setup code.
    SetupCode,
    /// An administrator, and besides, from elsewhere and while setup is open, the setup code.
    AdminAndSetupCode,
    /// An identity that holds this scope.
    Scope(&'static str),
    /// The same, and a confirmation within 15 minutes.
    Confirmed(&'static str),
}

const READ: Needs = Needs::Scope("operator.read");
const WRITE: Needs = Needs::Scope("operator.write");
const ADMIN: Needs = Needs::Scope("operator.admin");
const APPROVALS: Needs = Needs::Scope("operator.approvals");
const PAIRING: Needs = Needs::Scope("operator.pairing");
const ADMIN_CONFIRMED: Needs = Needs::Confirmed("operator.admin");

/// Method, path in the table, path asked for, what it needs.
pub const ROUTE_TABLE: &[(&str, &str, &str, Needs)] = &[
    ("GET", "/health", "/health", Needs::Nothing),
    ("GET", "/metrics", "/metrics", READ),
    ("GET", "/", "/", Needs::Identity),
    ("GET", "/onboarding", "/onboarding", Needs::Identity),
    ("GET", "/assets/{*path}", "/assets/app.js", Needs::Nothing),
    ("GET", "/icons/{*path}", "/icons/icon.svg", Needs::Nothing),
    ("GET", "/favicon.ico", "/favicon.ico", Needs::Nothing),
    ("GET", "/manifest.json", "/manifest.json", Needs::Nothing),
    ("GET", "/sw.js", "/sw.js", Needs::Nothing),
    ("GET", "/auth/callback", "/auth/callback", Needs::Nothing),
    ("GET", "/share/{id}", "/share/unknown", Needs::Nothing),
    ("GET", "/api/gon", "/api/gon", READ),
    ("GET", "/api/bootstrap", "/api/bootstrap", READ),
    ("GET", "/api/sessions", "/api/sessions", READ),
    ("GET", "/api/sessions/{id}", "/api/sessions/ses_none", READ),
    (
        "GET",
        "/api/sessions/{id}/messages",
        "/api/sessions/ses_none/messages",
        READ,
    ),
    (
        "POST",
        "/api/sessions/{id}/audio",
        "/api/sessions/ses_none/audio",
        WRITE,
    ),
    (
        "GET",
        "/api/sessions/{id}/audio/{audio_id}",
        "/api/sessions/ses_none/audio/aud_none",
        READ,
    ),
    ("POST", "/api/tts/stream", "/api/tts/stream", WRITE),
    ("POST", "/v1/audio/speech", "/v1/audio/speech", WRITE),
    (
        "POST",
        "/v1/audio/transcriptions",
        "/v1/audio/transcriptions",
        WRITE,
    ),
    ("GET", "/v1/models", "/v1/models", READ),
    ("GET", "/v1/models/{id}", "/v1/models/none", READ),
    ("GET", "/api/openapi.json", "/api/openapi.json", READ),
    ("GET", "/api/openrpc.json", "/api/openrpc.json", READ),
    ("POST", "/api/rpc", "/api/rpc", Needs::Identity),
    (
        "POST",
        "/api/webhooks/ingest/{public_id}",
        "/api/webhooks/ingest/wh_none",
        Needs::Nothing,
    ),
    ("GET", "/ws", "/ws", Needs::Nothing),
    ("GET", "/ws/chat", "/ws/chat", Needs::Identity),
    (
        "GET",
        "/api/auth/status",
        "/api/auth/status",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/setup",
        "/api/auth/setup",
        Needs::SetupCode,
    ),
    ("POST", "/api/auth/login", "/api/auth/login", Needs::Nothing),
    (
        "POST",
        "/api/auth/logout",
        "/api/auth/logout",
        Needs::Identity,
    ),
    ("POST", "/api/auth/confirm", "/api/auth/confirm", ADMIN),
    (
        "POST",
        "/api/auth/password/change",
        "/api/auth/password/change",
        Needs::AdminAndSetupCode,
    ),
    ("GET", "/api/auth/sessions", "/api/auth/sessions", READ),
    (
        "DELETE",
        "/api/auth/sessions/{id}",
        "/api/auth/sessions/as_none",
        ADMIN,
    ),
    ("DELETE", "/api/auth/sessions", "/api/auth/sessions", ADMIN),
    ("GET", "/api/auth/api-keys", "/api/auth/api-keys", READ),
    ("POST", "/api/auth/api-keys", "/api/auth/api-keys", ADMIN),
    (
        "DELETE",
        "/api/auth/api-keys/{id}",
        "/api/auth/api-keys/key_none",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/passkey/register/begin",
        "/api/auth/passkey/register/begin",
        Needs::AdminOrSetup,
    ),
    (
        "POST",
        "/api/auth/passkey/register/finish",
        "/api/auth/passkey/register/finish",
        Needs::AdminOrSetup,
    ),
    (
        "POST",
        "/api/auth/passkey/auth/begin",
        "/api/auth/passkey/auth/begin",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/passkey/auth/finish",
        "/api/auth/passkey/auth/finish",
        Needs::Nothing,
    ),
    ("GET", "/api/auth/passkeys", "/api/auth/passkeys", READ),
    (
        "PATCH",
        "/api/auth/passkeys/{id}",
        "/api/auth/passkeys/pk_none",
        ADMIN,
    ),
    (
        "DELETE",
        "/api/auth/passkeys/{id}",
        "/api/auth/passkeys/pk_none",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/reset",
        "/api/auth/reset",
        ADMIN_CONFIRMED,
    ),
    (
        "GET",
        "/api/auth/vault/status",
        "/api/auth/vault/status",
        Needs::Nothing,
    ),
    (
        "POST",
        "/api/auth/vault/initialize",
        "/api/auth/vault/initialize",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/unlock",
        "/api/auth/vault/unlock",
        WRITE,
    ),
    (
        "POST",
        "/api/auth/vault/recovery",
        "/api/auth/vault/recovery",
        WRITE,
    ),
    (
        "POST",
        "/api/auth/vault/disable",
        "/api/auth/vault/disable",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/vault/enable",
        "/api/auth/vault/enable",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/seal",
        "/api/auth/vault/seal",
        ADMIN,
    ),
    (
        "POST",
        "/api/auth/vault/rotate",
        "/api/auth/vault/rotate",
        ADMIN_CONFIRMED,
    ),
    (
        "POST",
        "/api/auth/vault/recovery-key",
        "/api/auth/vault/recovery-key",
        ADMIN_CONFIRMED,
    ),
];

/// Paths that no table has: the gate stands before them all the same.
pub const UNKNOWN: &[(&str, &str)] = &[
    ("GET", "/api/nothing"),
    ("POST", "/api/nothing"),
    ("GET", "/v1/nothing"),
    ("GET", "/nothing"),
    ("GET", "/ws/nothing"),
];

/// Method, what it needs.
pub const METHOD_TABLE: &[(&str, Needs)] = &[
    ("rpc.discover", Needs::Identity),
    ("system.status", Needs::Identity),
    ("system.doctor", READ),
    ("config.get", READ),
    ("config.set", WRITE),
    ("audit.list", ADMIN),
    ("env.list", READ),
    ("env.set", WRITE),
    ("env.delete", WRITE),
    ("ssh_keys.list", READ),
    ("ssh_keys.generate", WRITE),
    ("ssh_keys.import", WRITE),
    ("ssh_keys.delete", WRITE),
    ("providers.list", READ),
    ("providers.set_key", WRITE),
    ("providers.remove_key", WRITE),
    ("providers.test", WRITE),
    ("models.list", READ),
    ("channels.list", READ),
    ("channels.types", READ),
    ("channels.create", WRITE),
    ("channels.update", WRITE),
    ("channels.delete", WRITE),
    ("channels.test", WRITE),
    ("inbox.list", READ),
    ("inbox.mark_read", WRITE),
    ("agents.list", READ),
    ("agents.get", READ),
    ("agents.create", WRITE),
    ("agents.update", WRITE),
    ("agents.delete", WRITE),
    ("sessions.list", READ),
    ("sessions.get", READ),
    ("sessions.rename", WRITE),
    ("sessions.delete", WRITE),
    ("sessions.share", WRITE),
    ("sessions.unshare", WRITE),
    ("chat.send", WRITE),
    ("chat.send_sync", WRITE),
    ("chat.abort", WRITE),
    ("chat.history", READ),
    ("approval.list", APPROVALS),
    ("approval.resolve", APPROVALS),
    ("webhooks.list", READ),
    ("webhooks.get", READ),
    ("webhooks.create", WRITE),
    ("webhooks.update", WRITE),
    ("webhooks.delete", WRITE),
    ("webhooks.rotate_secret", WRITE),
    ("webhooks.test", WRITE),
    ("webhooks.profiles", READ),
    ("webhooks.stats", READ),
    ("webhooks.deliveries", READ),
    ("webhooks.delivery.get", READ),
    ("webhooks.delivery.payload", READ),
    ("webhooks.delivery.replay", WRITE),
    ("pairing.create", PAIRING),
    ("pairing.list", PAIRING),
    ("pairing.revoke", PAIRING),
];
