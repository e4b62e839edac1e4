//! Summaries of Sentry events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[
        "data.issue.title",
        "data.event.title",
        "data.error.title",
        "data.metric_alert.title",
        "data.description_title",
    ],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

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
