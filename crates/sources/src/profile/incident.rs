//! The profile of `PagerDuty`, webhooks version 3. Events and bodies: developer.pagerduty.com, "Webhooks
//! Overview".

use super::{
    BodyEvent, Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay, event,
};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, alerts as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "incident",
    alias: Some("pagerduty"),
    name: "Incidents (PagerDuty)",
    default_auth_mode: AuthMode::IncidentV2Signature,
    body: BodyKind::Json,
    event: EventSource {
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
        note: "The signature covers the id, which is in the body.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[],
    guide: "\
1. In the incident service open Integrations, Generic Webhooks (v3), New Webhook.
2. Webhook URL: {url}
3. Scope: the account, a team or a service. Tick the events to send, for example incident.triggered, \
incident.acknowledged and incident.resolved.
4. Add it. The signing secret is shown once: store it in this webhook; here the vendor makes the secret, \
so the one made by us is replaced.
5. Choose Send Test Event, and look at this webhook's deliveries.",
    handshake: None,
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Json(samples::incident),
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

const SENTENCES: &[(&str, &str)] = &[
    (
        "incident",
        "Incident #{event.data.number|event.data.incident.summary} was changed ({event.event_type}).",
    ),
    ("incident.triggered", "Incident #{event.data.number} began."),
    (
        "incident.acknowledged",
        "{event.agent.summary|'Someone'} is on incident #{event.data.number}.",
    ),
    (
        "incident.unacknowledged",
        "The acknowledgement of incident #{event.data.number} ran out.",
    ),
    (
        "incident.resolved",
        "Incident #{event.data.number} is over.",
    ),
    (
        "incident.reopened",
        "Incident #{event.data.number} was opened again.",
    ),
    (
        "incident.escalated",
        "Incident #{event.data.number} went to the next level.",
    ),
    (
        "incident.delegated",
        "Incident #{event.data.number} went to another escalation policy.",
    ),
    (
        "incident.reassigned",
        "Incident #{event.data.number} went to someone else.",
    ),
    (
        "incident.priority_updated",
        "The priority of incident #{event.data.number} changed.",
    ),
    (
        "incident.annotated",
        "{event.agent.summary|'Someone'} noted something on the incident {event.data.incident.summary}.",
    ),
    (
        "incident.responder.added",
        "{event.data.user.summary|event.data.escalation_policy.summary|'Someone'} was asked to help with the incident {event.data.incident.summary}.",
    ),
    (
        "incident.responder.replied",
        "{event.data.user.summary|'Someone'} answered for the incident {event.data.incident.summary}: {event.data.state|'(nothing)'}.",
    ),
    (
        "incident.status_update_published",
        "A status update of the incident {event.data.incident.summary|event.data.incident.id|event.data.title|'(unknown)'} was published.",
    ),
    (
        "service.created",
        "The service {event.data.name|event.data.summary} was made.",
    ),
    (
        "service.updated",
        "The service {event.data.name|event.data.summary} was changed.",
    ),
    (
        "service.deleted",
        "The service {event.data.name|event.data.summary} was deleted.",
    ),
    ("pagey.ping", "The incident service tries the webhook out."),
    ("", "The incident service tells: {event.event_type}."),
];

const FIELDS: &[Field] = &[
    Field::text(
        "Incident",
        "#{event.data.number|event.data.incident.number}",
    ),
    Field::line(
        "Title",
        &[
            "event.data.title",
            "event.data.incident.summary",
            "event.data.summary",
        ],
    ),
    Field::line("Status", &["event.data.status"]),
    Field::line("Urgency", &["event.data.urgency"]),
    Field::line("Priority", &["event.data.priority.summary"]),
    Field::line(
        "Service",
        &["event.data.service.summary", "event.data.name"],
    ),
    Field::list("Assigned to", "event.data.assignees", "summary"),
    Field::line(
        "Escalation policy",
        &["event.data.escalation_policy.summary"],
    ),
    Field::list("Teams", "event.data.teams", "summary"),
    Field::text(
        "Responder",
        "{!event.data.state}{event.data.user.summary|event.data.escalation_policy.summary}",
    ),
    Field::line("Responder's answer", &["event.data.state"]),
    Field::line("Resolve reason", &["event.data.resolve_reason.type"]),
    Field::line(
        "Conference",
        &["event.data.conference_bridge.conference_url"],
    ),
    Field::line("By", &["event.agent.summary", "event.client.name"]),
    Field::line("At", &["event.occurred_at"]),
    Field::line(
        "URL",
        &["event.data.html_url", "event.data.incident.html_url"],
    ),
    Field::block("Note", &["event.data.content"]),
    Field::block("Message", &["event.data.message"]),
];

const EVENTS: &[EventType] = &[
    event("incident.triggered", "An incident began"),
    event("incident.acknowledged", "Someone is on an incident"),
    event("incident.unacknowledged", "An acknowledgement ran out"),
    event("incident.resolved", "An incident is over"),
    event("incident.reopened", "An incident was opened again"),
    event("incident.escalated", "An incident went to the next level"),
    event(
        "incident.delegated",
        "An incident went to another escalation policy",
    ),
    event("incident.reassigned", "An incident went to someone else"),
    event(
        "incident.priority_updated",
        "An incident's priority changed",
    ),
    event(
        "incident.annotated",
        "Someone noted something on an incident",
    ),
    event("incident.responder.added", "A responder was asked"),
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
    event("service.created", "A service was made"),
    event("service.updated", "A service was changed"),
    event("service.deleted", "A service was deleted"),
    event("pagey.ping", "The webhook was tried out"),
];
