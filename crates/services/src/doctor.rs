//! Checks for common problems, each with a suggested fix. Used by `system.doctor` and the command line.
//! Messages contain no paths and no secrets.

mod checks;
mod integrations;
mod network;
mod provider_keys;
#[cfg(feature = "voice")]
mod voice;

use crate::Services;
use gatehouse_auth::RequestContext;
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
    pub(crate) fn fine(id: &'static str, message: impl Into<String>) -> Self {
        Self {
            id,
            ok: true,
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn bad(
        id: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            id,
            ok: false,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Runs every check. Checks of the caller's network path run only with a visit.
pub async fn checks(services: &Services, context: Option<&RequestContext>) -> Vec<Check> {
    let resolved = services.config.resolved();
    let (settings, process) = (&resolved.settings, services.config.layers().process());
    let status = services.secrets.status();
    let facts = services.auth.facts();
    let mut all = vec![
        checks::database(services).await,
        checks::data_directory(services.config.layers().data_dir()).await,
        checks::config(&resolved.warnings, &resolved.shadowed),
        checks::vault(status),
        checks::plaintext(services, status).await,
        checks::setup(facts.setup_complete),
        checks::auth_disabled(facts.auth_disabled, settings.auth.disabled_scope),
        checks::before_setup(services).await,
        network::external_url(settings, context),
        network::tls(settings, process),
        network::proxy(settings, process, context),
        checks::clock(services).await,
    ];
    let is_shared = services.store.engine().is_shared();
    all.extend(checks::shared_unseal(is_shared, status, &settings.vault));
    all.extend(crate::certificates::check(services, settings).await);
    all.extend(network::metrics_token(settings));
    all.extend(crate::telemetry::check(services));
    all.extend(crate::backup::check(services).await);
    all.extend(provider_keys::provider_keys(services).await);
    all.extend(integrations::open_webhooks(services).await);
    all.extend(integrations::held_deliveries(services).await);
    all.extend(integrations::approval_channels(services, settings).await);
    all.extend(integrations::mcp(&services.tools.mcp().status()));
    all.extend(integrations::mcp_variables(services, settings).await);
    #[cfg(feature = "voice")]
    all.push(voice::voice(services).await);
    all.extend(context.map(|context| network::locality(context.locality)));
    all
}
