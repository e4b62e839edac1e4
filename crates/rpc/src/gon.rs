//! What the page needs to begin: the same over `GET /api/gon` and `GET /api/bootstrap`.

use crate::method::told;
use crate::methods::sessions;
use crate::rooms::Rooms;
use crate::vault_status::VaultStatus;
use gatehouse_agents::{Agent, Session};
use gatehouse_auth::{AuthIdentity, AuthMethod, Only};
use gatehouse_domain::{Problem, ScopeSet};
use schemars::JsonSchema;
use serde::Serialize;

/// The product's name, in the page and in `connect`.
pub const PRODUCT: &str = "Gatehouse";

/// Who the caller is, as it is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IdentityReport {
    /// How it was recognised: `Loopback`, `Password` or `ApiKey`.
    pub method: AuthMethod,
    /// What it may do.
    pub scopes: ScopeSet,
    /// The methods and paths that its credential may call; absent when all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
}

impl From<&AuthIdentity> for IdentityReport {
    fn from(identity: &AuthIdentity) -> Self {
        Self {
            method: identity.method,
            scopes: identity.scopes,
            only: identity.only().map(Only::to_texts),
        }
    }
}

/// Answer of `GET /api/gon`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the facts, as CONTRACT lists them"
)]
pub struct Gon {
    /// `Gatehouse`.
    pub product: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Whether stored secrets can be read.
    pub vault_status: VaultStatus,
    /// Whether this build speaks and listens.
    pub voice_enabled: bool,
    /// Whether a passkey is registered.
    pub has_passkeys: bool,
    /// Whether setup is still to be done.
    pub setup_required: bool,
    /// Whether everybody is let in.
    pub auth_disabled: bool,
    /// Who asks.
    pub identity: IdentityReport,
}

/// Answer of `GET /api/bootstrap`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Bootstrap {
    /// The same as `GET /api/gon`.
    pub gon: Gon,
    /// The agents.
    pub agents: Vec<Agent>,
    /// The first page of sessions.
    pub sessions: Vec<Session>,
    /// The id of the persona that speaks when nobody names another.
    pub active_persona: Option<String>,
}

/// What the page needs to begin.
pub fn gon(rooms: &Rooms, identity: &AuthIdentity) -> Gon {
    let facts = rooms.auth.facts();
    Gon {
        product: PRODUCT,
        version: rooms.build.version,
        vault_status: rooms.secrets.status().into(),
        voice_enabled: rooms.build.voice,
        has_passkeys: facts.has_passkeys,
        setup_required: !facts.setup_complete,
        auth_disabled: facts.auth_disabled,
        identity: identity.into(),
    }
}

/// The same with the first page of everything.
pub async fn bootstrap(rooms: &Rooms, identity: &AuthIdentity) -> Result<Bootstrap, Problem> {
    let agents = rooms.agents.list_agents().await.map_err(told)?;
    let first = sessions::page(rooms, &sessions::ListParams::default()).await?;
    Ok(Bootstrap {
        gon: gon(rooms, identity),
        agents,
        sessions: first.sessions,
        active_persona: active_persona(rooms).await?,
    })
}

#[cfg(feature = "voice")]
async fn active_persona(rooms: &Rooms) -> Result<Option<String>, Problem> {
    let active = rooms.voice.personas().active().await.map_err(told)?;
    Ok(active.map(|persona| persona.id))
}

#[cfg(not(feature = "voice"))]
#[expect(clippy::unused_async, reason = "with voice the database is asked")]
async fn active_persona(_: &Rooms) -> Result<Option<String>, Problem> {
    Ok(None)
}
