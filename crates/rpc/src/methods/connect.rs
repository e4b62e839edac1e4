//! `connect`: authenticates the client and reports the features of this server. It must be the first message of a
//! client that the upgrade did not authenticate. Any other client may also call it and gets its existing identity.

use crate::connection::heartbeat::EVERY_MS;
use crate::events::EVENTS;
use crate::method_entry::{Call, Method, method};
use gatehouse_auth::AuthIdentity;
use gatehouse_auth::api::ConnectAuth;
use gatehouse_domain::Problem;
use gatehouse_services::bootstrap::{IdentityReport, PRODUCT};
use gatehouse_services::{Services, VaultStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::future::{Ready, ready};

pub const CONNECT: Method = method!(
    "connect",
    "Authenticates the client and returns what this server supports.",
    None,
    connect(ConnectParams) -> ConnectResult,
    errors: [NotAuthenticated, SetupRequired, InvalidCredentials, Forbidden]
);

/// Params of `connect`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectParams {
    /// The client program. Unknown members are ignored.
    #[expect(
        dead_code,
        reason = "checked for its shape, and shown in the documents"
    )]
    client: Option<ClientInfo>,
    /// The credential; absent when the upgrade carried one.
    auth: Option<ConnectAuth>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "checked for its shape, and shown in the documents"
)]
struct ClientInfo {
    /// The program's name.
    id: Option<String>,
    /// The program's version.
    version: Option<String>,
}

impl std::fmt::Debug for ConnectParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectParams").finish_non_exhaustive()
    }
}

impl ConnectParams {
    /// Returns the credential, if any.
    pub(crate) fn into_auth(self) -> Option<ConnectAuth> {
        let given = |auth: &ConnectAuth| {
            auth.api_key.is_some() || auth.password.is_some() || auth.device_token.is_some()
        };
        self.auth.filter(given)
    }
}

/// Result of `connect`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectResult {
    /// The protocol version.
    pub protocol: u32,
    pub server: ServerInfo,
    /// The client's identity.
    pub identity: IdentityReport,
    /// Every method that the client's credential may call; `rpc.discover` lists their scopes.
    pub methods: Vec<&'static str>,
    /// Every event that the server sends.
    pub events: Vec<&'static str>,
    /// The limits of this connection.
    pub limits: Limits,
    /// The state of the vault.
    pub vault_status: VaultStatus,
    /// Whether this build includes voice.
    pub voice_enabled: bool,
}

/// The server's name and version.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerInfo {
    /// `Gatehouse`.
    pub name: &'static str,
    /// The version of Gatehouse.
    pub version: &'static str,
}

/// The limits of a connection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limits {
    /// The maximum message size in bytes.
    pub max_message_bytes: usize,
    /// The interval between pings in seconds.
    pub heartbeat_seconds: u64,
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn connect(call: Call, _: ConnectParams) -> Ready<Result<ConnectResult, Problem>> {
    ready(Ok(hello(&call.services, call.methods, &call.identity)))
}

/// Builds the response for an authenticated client.
pub(crate) fn hello(
    services: &Services,
    methods: &[Method],
    identity: &AuthIdentity,
) -> ConnectResult {
    ConnectResult {
        protocol: 1,
        server: ServerInfo {
            name: PRODUCT,
            version: services.build.version,
        },
        identity: identity.into(),
        methods: methods
            .iter()
            .filter(|method| method.is_open_to(identity))
            .map(|method| method.name)
            .collect(),
        events: EVENTS.iter().map(|event| event.name).collect(),
        limits: Limits {
            max_message_bytes: services.config.max_message_bytes(),
            heartbeat_seconds: EVERY_MS / 1000,
        },
        vault_status: services.secrets.status().into(),
        voice_enabled: services.build.voice,
    }
}
