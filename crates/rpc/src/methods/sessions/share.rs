//! Shares of a session by a link.

use super::{NameParams, name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::Serialize;

pub const SHARE: Method = method!(
    "sessions.share",
    "Lets everyone with the link read the messages so far. Sharing again keeps the link and adds \
     the messages since then.",
    Some(Scope::Write),
    share(NameParams) -> Shared,
    errors: [NotFound],
    audit: Audit::Transaction("session.shared")
);

pub const UNSHARE: Method = method!(
    "sessions.unshare",
    "Revokes the link permanently.",
    Some(Scope::Write),
    unshare(NameParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("session.unshared")
);

/// Result of `sessions.share`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shared {
    /// The ID of the share. Anyone who knows it can read the session.
    pub share_id: String,
    /// The link; only a path when `server.external_url` is not set.
    pub url: String,
}

async fn share(call: Call, params: NameParams) -> Result<Shared, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    let share = agents
        .share_session(&call.actor(), &name)
        .await
        .map_err(to_problem)?;
    let resolved = call.services.config.resolved();
    let external = resolved.settings.server.external_url.as_ref();
    let base = external.map_or("", |url| url.as_str().trim_end_matches('/'));
    Ok(Shared {
        url: format!("{base}/share/{}", share.id),
        share_id: share.id,
    })
}

async fn unshare(call: Call, params: NameParams) -> Result<Done, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    agents
        .unshare_session(&call.actor(), &name)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
