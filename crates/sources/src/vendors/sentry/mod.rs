//! The profile of Sentry. Events and headers: docs.sentry.io, "Integration Platform: Webhooks".

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    Detail, EntityRule, EventSource, EventType, KeySource, Profile, Replay, ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "errors",
    alias: Some("sentry"),
    name: "Errors (Sentry)",
    about: "New errors, alerts, comments",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
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
        note: "The signature covers the body and not Request-ID: with `key`, a captured delivery can be sent again \
            under a new ID.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &["errors-hook-resource", "sentry-hook-resource", "request-id"],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
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
