//! Summaries of `PagerDuty` events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[
        "event.data.title",
        "event.data.incident.summary",
        "event.data.summary",
    ],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

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
        "Incident #{event.data.number} was reopened.",
    ),
    (
        "incident.escalated",
        "Incident #{event.data.number} was escalated to the next level.",
    ),
    (
        "incident.delegated",
        "Incident #{event.data.number} moved to another escalation policy.",
    ),
    (
        "incident.reassigned",
        "Incident #{event.data.number} was reassigned.",
    ),
    (
        "incident.priority_updated",
        "The priority of incident #{event.data.number} changed.",
    ),
    (
        "incident.annotated",
        "{event.agent.summary|'Someone'} added a note to the incident {event.data.incident.summary}.",
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
        "The service {event.data.name|event.data.summary} was created.",
    ),
    (
        "service.updated",
        "The service {event.data.name|event.data.summary} was changed.",
    ),
    (
        "service.deleted",
        "The service {event.data.name|event.data.summary} was deleted.",
    ),
    ("pagey.ping", "The incident service tests the webhook."),
    ("", "The incident service reports: {event.event_type}."),
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
