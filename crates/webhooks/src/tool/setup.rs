//! Setup instructions for the sender. If the webhook uses its profile's auth mode, they are the profile's
//! guide; otherwise they are general instructions for the auth mode. Pure. Contains no secret; `<secret>`
//! is a placeholder.

use crate::record::{DEFAULT_HEADER, Webhook};
use gatehouse_sources::AuthMode;
use gatehouse_sources::profile;

/// Placeholder for the secret, which a model must never see.
pub(super) const SECRET: &str = "<secret>";

/// The setup steps, followed by a test command if the mode accepts an unsigned request.
pub(super) fn steps(webhook: &Webhook) -> String {
    let profile = profile::find(&webhook.source_profile).unwrap_or_else(profile::generic);
    let url = webhook.url.as_str();
    let header = webhook.auth.header.as_deref().unwrap_or(DEFAULT_HEADER);
    let usual_header = header.eq_ignore_ascii_case(DEFAULT_HEADER);
    if webhook.auth_mode == profile.default_auth_mode && usual_header {
        return profile
            .guide
            .replace("{url}", url)
            .replace("{secret}", SECRET);
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

/// The curl header option for a plain request; `None` for modes that require a signature.
fn plain(mode: AuthMode, header: &str) -> Option<String> {
    match mode {
        AuthMode::None => Some(String::new()),
        AuthMode::StaticHeader => Some(format!(" -H '{header}: {SECRET}'")),
        AuthMode::Bearer => Some(format!(" -H 'Authorization: Bearer {SECRET}'")),
        AuthMode::CodehostBToken => Some(format!(" -H 'X-Codehost-B-Token: {SECRET}'")),
        AuthMode::CodehostAHmacSha256
        | AuthMode::PaymentsWebhookSignature
        | AuthMode::TrackerAWebhookSignature
        | AuthMode::IncidentV2Signature
        | AuthMode::ErrorsWebhookSignature
        | AuthMode::StandardWebhooks
        | AuthMode::SlackSignature
        | AuthMode::ShopifyHmacSha256
        | AuthMode::TwilioSignature => None,
    }
}

/// How a sender authenticates its deliveries.
fn proof(mode: AuthMode, header: &str) -> String {
    let signed = |how: &str| format!("{how} The key is the secret, {SECRET}.");
    match mode {
        AuthMode::None => {
            "Nothing proves a delivery in the mode none: whoever knows the address can \
            send one. It is for testing only."
                .to_owned()
        }
        AuthMode::StaticHeader => format!("Each request carries the header {header}: {SECRET}"),
        AuthMode::Bearer => {
            format!("Each request carries the header Authorization: Bearer {SECRET}")
        }
        AuthMode::CodehostBToken => {
            format!("Each request carries the header X-Codehost-B-Token: {SECRET}")
        }
        AuthMode::CodehostAHmacSha256 => signed(
            "The header X-Hub-Signature-256 carries sha256= and the HMAC-SHA256 of the body, in hex.",
        ),
        AuthMode::PaymentsWebhookSignature => signed(
            "The header Payments-Signature carries t=<time>,v1=<signature>: the time in Unix seconds, \
             and the HMAC-SHA256 of time, a dot and the body, in hex.",
        ),
        AuthMode::TrackerAWebhookSignature => signed(
            "The header Tracker-A-Signature carries the HMAC-SHA256 of the body, in hex; where the body \
             has webhookTimestamp (Unix milliseconds), it must be recent.",
        ),
        AuthMode::IncidentV2Signature => signed(
            "The header X-Incident-Signature carries v1= and the HMAC-SHA256 of the body, in hex; \
             several stand with commas between them.",
        ),
        AuthMode::ErrorsWebhookSignature => {
            signed("The header Errors-Hook-Signature carries the HMAC-SHA256 of the body, in hex.")
        }
        AuthMode::StandardWebhooks => format!(
            "The headers Webhook-Id and Webhook-Timestamp (Unix seconds) carry id and time; \
             Webhook-Signature carries v1, (with the comma) and the HMAC-SHA256 of id, a dot, time, a \
             dot and the body, in Base64. The key is what the secret, {SECRET}, says in Base64 behind \
             whsec_."
        ),
        AuthMode::SlackSignature => signed(
            "The header X-Slack-Request-Timestamp carries the time in Unix seconds, and \
             X-Slack-Signature carries v0= and the HMAC-SHA256 of v0:<time>:<body>, in hex.",
        ),
        AuthMode::ShopifyHmacSha256 => signed(
            "The header X-Shopify-Hmac-Sha256 carries the HMAC-SHA256 of the body, in Base64.",
        ),
        AuthMode::TwilioSignature => signed(
            "The header X-Twilio-Signature carries the HMAC-SHA1 of the address and the form's fields \
             by name, in Base64; server.external_url must be the address as the sender calls it.",
        ),
    }
}

#[cfg(test)]
mod tests;
