//! Checks for common problems, each with a suggested fix. Used by `system.doctor` and the command line.
//! Messages contain no paths and no secrets.

mod checks;
mod network;
#[cfg(feature = "voice")]
mod voice;
mod ways;

use crate::rooms::Rooms;
use gatehouse_auth::Visit;
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The id of the check.
    pub id: &'static str,
    /// Whether the check passed.
    pub ok: bool,
    pub message: String,
    /// The suggested fix, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Check {
    fn fine(id: &'static str, message: impl Into<String>) -> Self {
        Self {
            id,
            ok: true,
            message: message.into(),
            hint: None,
        }
    }

    fn bad(id: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            id,
            ok: false,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Runs every check. Checks of the caller's network path run only with a visit.
pub async fn checks(rooms: &Rooms, visit: Option<&Visit>) -> Vec<Check> {
    let resolved = rooms.config.resolved();
    let (settings, process) = (&resolved.settings, rooms.config.layers().process());
    let status = rooms.secrets.status();
    let facts = rooms.auth.facts();
    let mut all = vec![
        checks::database(rooms).await,
        checks::data_directory(rooms.config.layers().data_dir()).await,
        checks::config(&resolved.warnings, &resolved.shadowed),
        checks::vault(status),
        checks::plaintext(rooms, status).await,
        checks::setup(facts.setup_complete),
        checks::auth_disabled(facts.auth_disabled, settings.auth.disabled_scope),
        checks::before_setup(rooms).await,
        network::external_url(settings, visit),
        network::tls(settings, process),
        network::proxy(settings, process, visit),
        checks::clock(rooms).await,
    ];
    all.extend(ways::open_webhooks(rooms).await);
    all.extend(ways::mcp(&rooms.tools.mcp().status()));
    all.extend(ways::mcp_variables(rooms, settings).await);
    #[cfg(feature = "voice")]
    all.push(voice::voice(rooms).await);
    all.extend(visit.map(|visit| network::locality(visit.locality)));
    all
}
