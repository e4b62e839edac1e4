//! Checks for common problems, each with a suggested fix. Used by `system.doctor` and the command line.
//! Messages contain no paths and no secrets.

pub(crate) mod check;
mod installation;
mod integrations;
mod network;
mod operation;
mod provider_keys;
#[cfg(feature = "voice")]
mod voice;

pub use check::{Check, IDS, Subject};

use crate::Services;
use futures_util::future::BoxFuture;
use gatehouse_auth::RequestContext;

/// The hint of a check whose data could not be read.
const SEE_LOG: &str = "The log has the details.";

/// Runs the operational checks. A failure of one of them is urgent.
pub(crate) fn operation_checks(services: &Services) -> BoxFuture<'_, Vec<Check>> {
    Box::pin(async move {
        let resolved = services.config.resolved();
        // Read once for all checks, because a file system may not answer.
        let backups = services.list_for_check().await;
        let backups = backups.as_deref();
        let mut all = vec![
            installation::database(services).await,
            operation::disk(services, backups).await,
            installation::clock(services).await,
        ];
        all.extend(operation::channels(services).await);
        all.extend(operation::queue(services).await);
        all.extend(operation::senders(services).await);
        all.extend(integrations::schedules(services).await);
        all.extend(integrations::damaged_webhooks(services).await);
        all.extend(crate::certificates::check(services, &resolved.settings).await);
        all.extend(crate::profile_files::check(services).await);
        all.extend(crate::backup::check(services, backups).await);
        all.extend(crate::backup::check_drill(services, backups).await);
        all.extend(crate::audit_export::check(services));
        for check in &mut all {
            check.urgent = !check.ok;
        }
        all
    })
}

/// Runs every check. With a visit, also runs the checks of the caller's network path.
pub fn checks<'a>(
    services: &'a Services,
    context: Option<&'a RequestContext>,
) -> BoxFuture<'a, Vec<Check>> {
    Box::pin(async move {
        let resolved = services.config.resolved();
        let (settings, process) = (&resolved.settings, services.config.layers().process());
        let status = services.secrets.status();
        let facts = services.auth.facts();
        let mut all = operation_checks(services).await;
        all.extend([
            installation::data_directory(services.config.layers().data_dir()).await,
            installation::config(&resolved.warnings, &resolved.shadowed),
            installation::vault(status),
            installation::plaintext(services, status).await,
            installation::setup(facts.setup_complete),
            installation::auth_disabled(facts.auth_disabled, settings.auth.disabled_scope),
            installation::before_setup(services).await,
            network::external_url(&resolved, context.and_then(|it| it.host.as_ref())),
            network::tls(settings, process, network::is_in_container().await),
            network::proxy(settings, process, context),
        ]);
        let is_shared = services.store.engine().is_shared();
        all.extend(installation::shared_unseal(
            is_shared,
            status,
            &settings.vault,
        ));
        all.extend(network::metrics_token(settings));
        all.extend(crate::telemetry::check(services));
        all.extend(provider_keys::provider_keys(services).await);
        all.extend(integrations::open_webhooks(services).await);
        all.extend(integrations::held_deliveries(services).await);
        all.extend(integrations::received_messages(services).await);
        all.extend(integrations::approval_channels(services, settings).await);
        all.extend(integrations::mcp(&services.tools.mcp().status()));
        all.extend(integrations::mcp_variables(services, settings).await);
        #[cfg(feature = "voice")]
        all.push(voice::voice(services).await);
        all.extend(context.map(|context| network::locality(context.locality)));
        all
    })
}

/// Runs the checks that apply to a restored copy of the database. These need neither the secrets of the copy nor a
/// network, and do not depend on this machine or on the time since the backup. Stored settings are not checked.
/// Their validity depends on the settings file and the environment, which do not apply to a copy.
pub fn checks_of_copy(services: &Services) -> BoxFuture<'_, Vec<Check>> {
    Box::pin(async move {
        let resolved = services.config.resolved();
        let settings = &resolved.settings;
        let status = services.secrets.status();
        let facts = services.auth.facts();
        let mut all = vec![
            installation::database(services).await,
            installation::vault_of_copy(status),
            installation::plaintext(services, status).await,
            installation::setup(facts.setup_complete),
            installation::auth_disabled(facts.auth_disabled, settings.auth.disabled_scope),
            installation::before_setup(services).await,
        ];
        all.extend(integrations::open_webhooks(services).await);
        all.extend(integrations::approval_channels(services, settings).await);
        all
    })
}
