//! The initial data for the page, shared by `GET /api/gon` and `GET /api/bootstrap`.

use crate::session_access::visible;
use crate::{Services, VaultStatus, to_problem};
use gatehouse_agents::{Agent, Session, SessionQuery};
use gatehouse_auth::{AuthIdentity, AuthMethod, Only};
use gatehouse_domain::{Problem, ScopeSet};
use schemars::JsonSchema;
use serde::Serialize;

/// Number of sessions in [`Bootstrap`].
const FIRST_SESSIONS: usize = 50;

/// The product's name, in the page and in `connect`.
pub const PRODUCT: &str = "Gatehouse";

/// The caller's identity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IdentityReport {
    /// How the caller was authenticated: `Loopback`, `Password` or `ApiKey`.
    pub method: AuthMethod,
    /// The caller's scopes.
    pub scopes: ScopeSet,
    /// The methods and paths that the credential may call; absent when it may call all.
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

/// Response of `GET /api/gon`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the facts that CONTRACT lists"
)]
pub struct Gon {
    /// `Gatehouse`.
    pub product: &'static str,
    /// The version of Gatehouse.
    pub version: &'static str,
    /// The state of the vault.
    pub vault_status: VaultStatus,
    /// Whether this build includes voice.
    pub voice_enabled: bool,
    /// Whether a passkey is registered.
    pub has_passkeys: bool,
    /// Whether setup is incomplete.
    pub setup_required: bool,
    /// Whether authentication is disabled.
    pub auth_disabled: bool,
    /// The caller's identity.
    pub identity: IdentityReport,
}

/// Response of `GET /api/bootstrap`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Bootstrap {
    /// The same data as `GET /api/gon`.
    pub gon: Gon,
    /// All agents.
    pub agents: Vec<Agent>,
    /// The first page of sessions.
    pub sessions: Vec<Session>,
    /// The ID of the persona used when a request names none.
    pub active_persona: Option<String>,
}

/// Returns the initial data for the page.
pub fn gon(services: &Services, identity: &AuthIdentity) -> Gon {
    let facts = services.auth.facts();
    Gon {
        product: PRODUCT,
        version: services.build.version,
        vault_status: services.secrets.status().into(),
        voice_enabled: services.build.voice,
        has_passkeys: facts.has_passkeys,
        setup_required: !facts.setup_complete,
        auth_disabled: facts.auth_disabled,
        identity: identity.into(),
    }
}

/// Returns the initial data with the agents and the first page of sessions.
pub async fn bootstrap(services: &Services, identity: &AuthIdentity) -> Result<Bootstrap, Problem> {
    let agents = services.agents.list_agents().await.map_err(to_problem)?;
    let query = SessionQuery {
        limit: FIRST_SESSIONS,
        ..SessionQuery::default()
    };
    let first = services.agents.list_sessions(&query).await;
    let sessions = first.map_err(to_problem)?.sessions.into_iter();
    Ok(Bootstrap {
        gon: gon(services, identity),
        agents,
        sessions: sessions.map(|session| visible(identity, session)).collect(),
        active_persona: active_persona(services).await?,
    })
}

#[cfg(feature = "voice")]
async fn active_persona(services: &Services) -> Result<Option<String>, Problem> {
    let active = services
        .voice
        .personas()
        .active()
        .await
        .map_err(to_problem)?;
    Ok(active.map(|persona| persona.id))
}

#[cfg(not(feature = "voice"))]
#[expect(
    clippy::unused_async,
    reason = "a build with voice queries the database"
)]
async fn active_persona(_: &Services) -> Result<Option<String>, Problem> {
    Ok(None)
}
