//! `connect`: who speaks, and what this server can do. The first message of a client that the
//! upgrade did not recognise; any other client may ask too and hears who it is already.

use crate::connection::heartbeat::EVERY_MS;
use crate::events::EVENTS;
use crate::gon::{IdentityReport, PRODUCT};
use crate::method::{Call, Method, method};
use crate::methods::METHODS;
use crate::rooms::Rooms;
use crate::vault_status::VaultStatus;
use gatehouse_auth::AuthIdentity;
use gatehouse_auth::api::ConnectAuth;
use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::future::{Ready, ready};

/// `connect`.
pub const CONNECT: Method = method!(
    "connect",
    "Says who the client is, and tells what this server can do.",
    None,
    connect(ConnectParams) -> ConnectResult,
    errors: [NotAuthenticated, SetupRequired, InvalidCredentials, Forbidden]
);

/// Params of `connect`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectParams {
    /// Which program this is. Unknown members are ignored.
    #[expect(
        dead_code,
        reason = "checked for its shape, and shown in the documents"
    )]
    client: Option<ClientInfo>,
    /// Its credential; absent when the upgrade carried one.
    auth: Option<ConnectAuth>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "checked for its shape, and shown in the documents"
)]
struct ClientInfo {
    /// Its name.
    id: Option<String>,
    /// Its version.
    version: Option<String>,
}

impl std::fmt::Debug for ConnectParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectParams").finish_non_exhaustive()
    }
}

impl ConnectParams {
    /// The credential, when there is any.
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
    /// The version of this protocol.
    pub protocol: u32,
    /// Who answers.
    pub server: ServerInfo,
    /// Who the client is.
    pub identity: IdentityReport,
    /// Every method that the client's credential is for; `rpc.discover` tells their scopes.
    pub methods: Vec<&'static str>,
    /// Every event there is.
    pub events: Vec<&'static str>,
    /// What this connection bears.
    pub limits: Limits,
    /// Whether stored secrets can be read.
    pub vault_status: VaultStatus,
    /// Whether this build speaks and listens.
    pub voice_enabled: bool,
}

/// Who answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerInfo {
    /// `Gatehouse`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// What a connection bears.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limits {
    /// The longest message.
    pub max_message_bytes: usize,
    /// How often the server pings.
    pub heartbeat_seconds: u64,
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn connect(call: Call, _: ConnectParams) -> Ready<Result<ConnectResult, Problem>> {
    ready(Ok(hello(&call.rooms, &call.identity)))
}

/// The answer to a client that has been recognised.
pub(crate) fn hello(rooms: &Rooms, identity: &AuthIdentity) -> ConnectResult {
    ConnectResult {
        protocol: 1,
        server: ServerInfo {
            name: PRODUCT,
            version: rooms.build.version,
        },
        identity: identity.into(),
        methods: METHODS
            .iter()
            .filter(|method| method.is_open_to(identity))
            .map(|method| method.name)
            .collect(),
        events: EVENTS.iter().map(|event| event.name).collect(),
        limits: Limits {
            max_message_bytes: rooms.config.max_message_bytes(),
            heartbeat_seconds: EVERY_MS / 1000,
        },
        vault_status: rooms.secrets.status().into(),
        voice_enabled: rooms.build.voice,
    }
}
