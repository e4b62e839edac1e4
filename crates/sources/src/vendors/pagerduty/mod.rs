//! The profile of `PagerDuty`, webhooks version 3. Events and bodies: developer.pagerduty.com, "Webhooks
//! Overview".

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay,
    ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "incident",
    alias: Some("pagerduty"),
    name: "Incidents (PagerDuty)",
    about: "Incidents and on-call changes",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &[],
        body: &[BodyEvent {
            prefix: "",
            path: "event.event_type",
        }],
        names: None,
        detail_header: None,
        detail: &[],
    },
    // The header `X-Webhook-Id` identifies the subscription, not the delivery.
    delivery_key: &[KeySource::Body("event.id")],
    // The signature covers the body, which contains the id:
    // <https://developer.pagerduty.com/docs/verifying-webhook-signatures>
    replay: Replay {
        id_is_signed: true,
        guard: ReplayGuard::Key,
        note: "The signature covers the ID, which is in the body.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    // Sent by "Send test event": developer.pagerduty.com, "Webhooks overview".
    test_events: &["pagey.ping"],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

/// A note or a responder has the key of its incident.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[],
        key: "incident:{event.data.incident.id}",
    },
    EntityRule {
        when: &[Condition::Event("incident")],
        key: "incident:{event.data.id}",
    },
];

const EVENTS: &[EventType] = &[
    event("incident.triggered", "An incident began"),
    event("incident.acknowledged", "Someone is on an incident"),
    event("incident.unacknowledged", "An acknowledgement ran out"),
    event("incident.resolved", "An incident is over"),
    event("incident.reopened", "An incident was reopened"),
    event(
        "incident.escalated",
        "An incident was escalated to the next level",
    ),
    event(
        "incident.delegated",
        "An incident moved to another escalation policy",
    ),
    event("incident.reassigned", "An incident was reassigned"),
    event(
        "incident.priority_updated",
        "An incident's priority changed",
    ),
    event("incident.annotated", "Someone added a note to an incident"),
    event("incident.responder.added", "A responder was requested"),
    event("incident.responder.replied", "A responder answered"),
    event(
        "incident.status_update_published",
        "A status update was published",
    ),
    event(
        "incident.conference_bridge.updated",
        "An incident's conference changed",
    ),
    event(
        "incident.custom_field_values.updated",
        "An incident's own fields changed",
    ),
    event(
        "incident.incident_type.changed",
        "An incident's type changed",
    ),
    event(
        "incident.service_updated",
        "An incident moved to another service",
    ),
    event("incident.workflow.started", "An incident's workflow began"),
    event(
        "incident.workflow.completed",
        "An incident's workflow ended",
    ),
    event("service.created", "A service was created"),
    event("service.updated", "A service was changed"),
    event("service.deleted", "A service was deleted"),
    event("pagey.ping", "The webhook was tested"),
];
