//! Setup instructions for the sender. If the webhook uses its profile's auth mode, the instructions are the
//! profile's guide. Otherwise they are general instructions for the auth mode. The text contains the placeholder
//! `<secret>` instead of a secret.

use crate::webhook::{DEFAULT_HEADER, Webhook};
use gatehouse_sources::AuthMode;
use gatehouse_sources::profile;
use gatehouse_sources::verify::shell;

/// Placeholder for the secret, which a model must never see.
pub(super) const SECRET: &str = "<secret>";

/// Placeholder for the verify token.
const VERIFY_TOKEN: &str = "<the webhook's verify token, in its settings>";

/// Returns the setup steps, followed by a test command if the mode accepts an unsigned request.
pub(super) fn steps(webhook: &Webhook) -> String {
    let profile = profile::find(&webhook.source_profile).unwrap_or_else(profile::generic);
    let url = webhook.url.as_deref().unwrap_or_default();
    let header = webhook.auth.header.as_deref().unwrap_or(DEFAULT_HEADER);
    let usual_header = header.eq_ignore_ascii_case(DEFAULT_HEADER);
    if webhook.auth_mode == profile.default_auth_mode && usual_header {
        return profile
            .guide
            .replace("{url}", url)
            .replace("{secret}", SECRET)
            .replace("{verify_token}", VERIFY_TOKEN);
    }
    let steps = format!(
        "1. In the sending service ({}), make it send its events by HTTP POST to {url}.\n2. {}",
        profile.name,
        proof(webhook.auth_mode, header)
    );
    let Some(carried) = plain(webhook.auth_mode, header) else {
        return steps;
    };
    format!(
        "{steps}\n\nTo try it: curl -X POST '{url}'{carried} -H 'Content-Type: application/json' \
         -d '{{\"hello\": \"world\"}}'"
    )
}

/// Describes how a sender authenticates its deliveries.
fn proof(mode: AuthMode, header: &str) -> String {
    let proof = mode.proof().replace("{header}", header);
    proof.replace("{secret}", SECRET)
}

/// Returns the curl option with the header for a plain request; `None` for modes that require a signature.
fn plain(mode: AuthMode, header: &str) -> Option<String> {
    let recipe = shell(mode);
    if !recipe.lines.is_empty() {
        return None;
    }
    let headers = recipe.headers.iter().map(|carried| {
        let carried = carried.replace("{header}", header);
        format!(" -H '{}'", carried.replace("$SECRET", SECRET))
    });
    Some(headers.collect())
}

#[cfg(test)]
mod tests;
