//! The profile of Sentry. Events and headers: docs.sentry.io, "Integration Platform: Webhooks".

use super::{Detail, EntityRule, EventSource, EventType, KeySource, Profile, Replay, event};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, alerts as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "errors",
    alias: Some("sentry"),
    name: "Errors (Sentry)",
    default_auth_mode: AuthMode::ErrorsWebhookSignature,
    body: BodyKind::Json,
    event: EventSource {
        own_header: false,
        headers: &["errors-hook-resource", "sentry-hook-resource"],
        body: &[],
        names: None,
        detail_header: None,
        detail: &[Detail {
            of: &[],
            path: "action",
        }],
    },
    // Documented as the "unique identifier for tracking and debugging specific events".
    delivery_key: &[KeySource::Header("request-id")],
    // `Sentry-Hook-Signature` is the HMAC of the body; the header `Request-ID` is not signed:
    // <https://docs.sentry.io/organization/integrations/integration-platform/webhooks/>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the body and not Request-ID: with `key`, a captured delivery can be sent \
            again under a new id.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &["errors-hook-resource", "sentry-hook-resource", "request-id"],
    guide: "\
1. In the error tracker open Settings, Developer Settings (or Custom Integrations), Create New \
Integration, Internal Integration.
2. Webhook URL: {url}
3. Turn Alert Rule Action on, so that alerts can be sent here. Under Permissions choose Issue & Event: \
Read, then under Webhooks tick issue, error or comment.
4. Save it, copy the Client Secret, and store it in this webhook: here the vendor makes the secret, so the \
one made by us is replaced.
5. In an alert rule, add the action Send a notification via this integration.",
    handshake: None,
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Json(samples::errors),
};

/// Every event about an issue has the key of that issue.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[],
        key: "errors:issue:{data.issue.id}",
    },
    EntityRule {
        when: &[],
        key: "errors:issue:{data.event.issue_id}",
    },
    EntityRule {
        when: &[],
        key: "errors:issue:{data.error.issue_id}",
    },
    EntityRule {
        when: &[],
        key: "errors:issue:{data.issue_id}",
    },
    EntityRule {
        when: &[],
        key: "errors:metric_alert:{data.metric_alert.id}",
    },
];

const SENTENCES: &[(&str, &str)] = &[
    (
        "issue",
        "The issue {data.issue.shortId|data.issue.id} was {action|'changed'}.",
    ),
    (
        "issue.created",
        "A new kind of error was seen: {data.issue.shortId|data.issue.id}.",
    ),
    (
        "issue.unresolved",
        "The issue {data.issue.shortId|data.issue.id} is open again.",
    ),
    (
        "event_alert.triggered",
        "The alert rule {data.triggered_rule} applied.",
    ),
    ("event_alert", "An alert rule applied."),
    (
        "metric_alert",
        "{data.description_title|data.metric_alert.title}.",
    ),
    ("error.created", "An error was seen."),
    (
        "comment.created",
        "{actor.name|'Someone'} commented on an issue.",
    ),
    (
        "comment.updated",
        "{actor.name|'Someone'} changed a comment on an issue.",
    ),
    (
        "comment.deleted",
        "{actor.name|'Someone'} deleted a comment on an issue.",
    ),
    ("installation", "The integration was {action|'changed'}."),
    ("installation.created", "The integration was installed."),
    ("installation.deleted", "The integration was removed."),
];

const FIELDS: &[Field] = &[
    Field::line("Issue", &["data.issue.shortId"]),
    Field::line(
        "Title",
        &[
            "data.issue.title",
            "data.event.title",
            "data.error.title",
            "data.metric_alert.title",
            "data.description_title",
        ],
    ),
    Field::line(
        "Project",
        &[
            "data.issue.project.slug",
            "data.project_slug",
            "data.event.project_slug",
            "data.event.project_name",
        ],
    ),
    Field::list("Projects", "data.metric_alert.projects", ""),
    Field::line(
        "Level",
        &["data.issue.level", "data.event.level", "data.error.level"],
    ),
    Field::line("Status", &["data.issue.status"]),
    Field::line(
        "Where",
        &[
            "data.issue.culprit",
            "data.event.culprit",
            "data.error.culprit",
            "data.event.location",
        ],
    ),
    Field::line(
        "Platform",
        &[
            "data.issue.platform",
            "data.event.platform",
            "data.error.platform",
        ],
    ),
    Field::line(
        "Environment",
        &["data.event.environment", "data.error.environment"],
    ),
    Field::line("Release", &["data.event.release", "data.error.release"]),
    Field::line("Seen", &["data.issue.count"]),
    Field::line("Users", &["data.issue.userCount"]),
    Field::line("First seen", &["data.issue.firstSeen"]),
    Field::line("Last seen", &["data.issue.lastSeen"]),
    Field::line(
        "Assigned to",
        &["data.issue.assignedTo.name", "data.issue.assignedTo.email"],
    ),
    Field::line(
        "Rule",
        &["data.triggered_rule", "data.metric_alert.alert_rule.name"],
    ),
    Field::line(
        "Request",
        &["data.event.request.url", "data.error.request.url"],
    ),
    Field::line("By", &["actor.name"]),
    Field::line(
        "URL",
        &[
            "data.issue.web_url",
            "data.issue.permalink",
            "data.event.web_url",
            "data.error.web_url",
            "data.web_url",
        ],
    ),
    Field::block(
        "Message",
        &[
            "data.issue.metadata.value",
            "data.event.metadata.value",
            "data.error.metadata.value",
            "data.event.message",
            "data.description_text",
        ],
    ),
    Field::block("Comment", &["data.comment"]),
];

const EVENTS: &[EventType] = &[
    event("issue.created", "A new kind of error was seen"),
    event("issue.resolved", "An issue was resolved"),
    event("issue.assigned", "An issue was assigned"),
    event("issue.archived", "An issue was archived"),
    event("issue.unresolved", "An issue is open again"),
    event("event_alert.triggered", "An issue alert's rule applied"),
    event("metric_alert.critical", "A metric alert became critical"),
    event("metric_alert.warning", "A metric alert became a warning"),
    event("metric_alert.resolved", "A metric alert is over"),
    event("error.created", "An error was seen"),
    event("comment.created", "Someone commented on an issue"),
    event("comment.updated", "A comment was changed"),
    event("comment.deleted", "A comment was deleted"),
    event("installation.created", "The integration was installed"),
    event("installation.deleted", "The integration was removed"),
];
