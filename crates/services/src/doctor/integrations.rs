//! Checks of MCP servers, of webhooks without authentication or with damaged settings, of schedules, and of channels that receive messages or
//! approvals.

use super::{Check, SEE_LOG, Subject};
use crate::Services;
use gatehouse_config::{McpServer, McpVariable, Settings};
use gatehouse_tools::{McpReview, McpState, McpStatus};
use gatehouse_webhooks::OpenWebhooks;

/// Checks that each channel of `approvals.notify` exists. Returns `None` when there are none.
pub(super) async fn approval_channels(services: &Services, settings: &Settings) -> Option<Check> {
    let targets = &settings.approvals.notify;
    for target in targets {
        if services.channels.check_target(target).await.is_err() {
            let message = format!("approvals.notify names {target}, and there is no such channel.");
            let hint = "Enter an existing channel as `type` or `type:account`. `channels.list` shows them.";
            return Some(Check::bad("approval_channels", message, hint));
        }
    }
    let count = targets.len();
    (count > 0).then(|| {
        let message = format!("{count} channel(s) are notified of calls that wait for approval.");
        Check::fine("approval_channels", message)
    })
}

/// Reports channels that receive no messages, or not all of them. Returns `None` if no channel receives messages.
pub(super) async fn received_messages(services: &Services) -> Option<Check> {
    // The check of the database reports an error.
    let accounts = services.channels.list().await.ok()?;
    let receiving = services.channels.inbound_accounts().await.ok()?;
    if receiving.is_empty() {
        return None;
    }
    let failing: Vec<(String, String)> = accounts
        .into_iter()
        .filter(|account| account.enabled)
        .filter_map(|account| Some((account.id, account.inbound_error?)))
        .collect();
    Some(received_finding(&failing))
}

/// Returns the check for failing channels, given with their errors.
fn received_finding(failing: &[(String, String)]) -> Check {
    let id = "received_messages";
    if failing.is_empty() {
        return Check::fine(id, "Every channel that receives messages works.");
    }
    let sentence = |(id, why): &(String, String)| format!("The channel {id}: {why}");
    let sentences: Vec<String> = failing.iter().map(sentence).collect();
    let hint = "Check the channel on the Channels page. If another program uses the same bot, stop that program \
                or create another bot.";
    let subjects = failing.iter().map(|failed| Subject {
        id: failed.0.clone(),
        name: failed.0.clone(),
        message: sentence(failed),
    });
    Check::bad(id, sentences.join(" "), hint).about(subjects.collect())
}

/// Reports schedules that cannot run. Returns `None` if there are no schedules.
pub(super) async fn schedules(services: &Services) -> Option<Check> {
    if !services.webhooks.has_schedules() {
        return None;
    }
    // The check of the database reports an error.
    let without = services.webhooks.without_zone().await.ok()?;
    Some(schedules_finding(&without))
}

/// Returns the check for `without`, the IDs and names of the schedules whose time zone is missing.
fn schedules_finding(without: &[(String, String)]) -> Check {
    let id = "schedules";
    if without.is_empty() {
        return Check::fine(id, "Every schedule can run.");
    }
    let names: Vec<&str> = without.iter().map(|(_, name)| name.as_str()).collect();
    let message = format!(
        "Schedules that cannot run because this machine does not have their time zone: {}.",
        names.join(", ")
    );
    let hint = "Install the package tzdata. Missed runs are then started as one. Or choose UTC as the time zone of the \
                schedule.";
    let subject = |(id, name): &(String, String)| Subject {
        id: id.clone(),
        name: name.clone(),
        message: format!(
            "The schedule {name} cannot run because this machine does not have its time zone."
        ),
    };
    let subjects = without.iter().map(subject).collect();
    Check::bad(id, message, hint).about(subjects)
}

/// Reports webhooks whose stored settings cannot be read. Returns `None` if the database cannot be read, which another
/// check reports.
pub(super) async fn damaged_webhooks(services: &Services) -> Option<Check> {
    let damaged = services.webhooks.damaged().await.ok()?;
    Some(damaged_finding(&damaged))
}

/// Returns the check for the IDs and names of damaged webhooks. The message contains the IDs, because the list of
/// webhooks omits these webhooks.
fn damaged_finding(damaged: &[(String, String)]) -> Check {
    let id = "damaged_webhooks";
    if damaged.is_empty() {
        return Check::fine(id, "The settings of every webhook can be read.");
    }
    let named = damaged
        .iter()
        .map(|(webhook, name)| format!("{name} ({webhook})"));
    let named: Vec<String> = named.collect();
    let message = format!(
        "Webhooks that refuse deliveries because their stored settings cannot be read: {}.",
        named.join(", ")
    );
    let hint = "Restore a backup, or delete the webhook with `gatehouse webhooks delete` and create it again.";
    let subject = |(webhook, name): &(String, String)| Subject {
        id: webhook.clone(),
        name: name.clone(),
        message: format!(
            "The webhook {name} refuses deliveries because its stored settings cannot be read."
        ),
    };
    let subjects = damaged.iter().map(subject).collect();
    Check::bad(id, message, hint).about(subjects)
}

/// Reports deliveries that wait for release after the restore of a backup. Returns `None` if there are none.
pub(super) async fn held_deliveries(services: &Services) -> Option<Check> {
    // The check of the database reports an error.
    let count = services.webhooks.count_deliveries_to_release().await.ok()?;
    (count > 0).then(|| {
        let message = format!("{count} deliveries of a restored backup are held.");
        let hint = "Release them on the Deliveries page or with `gatehouse webhooks release`, or cancel them one by \
                    one.";
        Check::bad("held_deliveries", message, hint)
    })
}

/// Checks all MCP servers together. Returns `None` when there are none.
pub(super) fn mcp(servers: &[McpStatus]) -> Option<Check> {
    if servers.is_empty() {
        return None;
    }
    let broken = servers
        .iter()
        .find(|server| matches!(server.state, McpState::Failed | McpState::NotBuilt));
    let pending = servers
        .iter()
        .flat_map(|server| &server.listed)
        .filter(|tool| tool.review != McpReview::Approved)
        .count();
    let waiting = servers
        .iter()
        .filter(|server| server.state == McpState::WaitingForVault)
        .count();
    let check = match broken {
        Some(server) => {
            let problem = server.problem.as_deref().unwrap_or("it cannot be used");
            let message = format!("The MCP server {} does not work: {problem}.", server.name);
            let hint = "Check its settings under [mcp.servers], and check that its program runs \
                        on its own.";
            Check::bad("mcp", message, hint)
        }
        None if waiting > 0 => Check::bad(
            "mcp",
            format!("{waiting} MCP server(s) wait for variables in the sealed vault."),
            "Unlock the vault.",
        ),
        None if pending > 0 => Check::bad(
            "mcp",
            format!(
                "{pending} tool(s) of MCP servers differ from what was approved and are not offered."
            ),
            "Review the difference with mcp.list, and approve it with mcp.approve.",
        ),
        None => {
            let tools: usize = servers.iter().map(|server| server.tools).sum();
            let count = servers.len();
            Check::fine("mcp", format!("{count} MCP server(s), {tools} tool(s)."))
        }
    };
    Some(check)
}

/// Lists programs that receive no variables from the vault although the vault contains some. Earlier versions
/// passed every variable to every program.
pub(super) async fn mcp_variables(services: &Services, settings: &Settings) -> Option<Check> {
    let names = programs_without_variables(settings);
    if names.is_empty() {
        return None;
    }
    let has_variables = match services.secrets.list_env_variables().await {
        Ok(all) => !all.is_empty(),
        Err(error) => {
            tracing::error!(%error, "the environment variables cannot be listed");
            return None;
        }
    };
    has_variables.then(|| {
        let message = format!(
            "MCP servers that receive no environment variables from the vault: {}. List the ones \
             they need in `env` of [mcp.servers.<name>], as {{ vault = \"KEY\" }}.",
            names.join(", ")
        );
        Check::fine("mcp_variables", message)
    })
}

fn programs_without_variables(settings: &Settings) -> Vec<&str> {
    let of_vault = |variable: &McpVariable| matches!(variable, McpVariable::Vault(_));
    let servers = settings.mcp.servers.iter();
    let lacking = servers.filter(|(_, server)| match server {
        McpServer::Command { env, .. } => !env.values().any(of_vault),
        McpServer::Url { .. } => false,
    });
    lacking.map(|(name, _)| name.as_str()).collect()
}

/// Maximum number of webhooks without verification that are named.
const NAMED_WEBHOOKS: i64 = 20;

/// Counts the enabled webhooks that accept requests without verification, and names some. Returns `None` if there
/// are no webhooks.
pub(super) async fn open_webhooks(services: &Services) -> Option<Check> {
    match services.webhooks.open_webhooks(NAMED_WEBHOOKS).await {
        Ok(found) => (found.all > 0).then(|| open_finding(&found)),
        Err(error) => {
            let message = format!("The webhooks cannot be read: {error}.");
            Some(Check::bad("webhooks", message, SEE_LOG))
        }
    }
}

fn open_finding(found: &OpenWebhooks) -> Check {
    let id = "webhooks";
    if found.open == 0 {
        return Check::fine(id, "Every webhook verifies its deliveries.");
    }
    let named = i64::try_from(found.names.len()).unwrap_or(i64::MAX);
    let more = match found.open.saturating_sub(named) {
        ..=0 => String::new(),
        more => format!(" and {more} more"),
    };
    Check::bad(
        id,
        format!(
            "Webhooks without verification: {}{more}.",
            found.names.join(", ")
        ),
        "Anyone who knows the URL can send to them. Choose a verification in their settings, or turn them off.",
    )
}

#[cfg(test)]
mod tests;
