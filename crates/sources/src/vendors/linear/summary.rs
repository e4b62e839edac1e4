//! Summaries of Linear events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &["data.title", "data.issue.title"],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

const SENTENCES: &[(&str, &str)] = &[
    (
        "",
        "{actor.name|data.user.name|'Someone'}: {action|'change'} of {type|'something'} {data.identifier|data.issue.identifier|data.name|data.title|data.number|''}",
    ),
    (
        "Issue.create",
        "{actor.name|'Someone'} created issue {data.identifier}.",
    ),
    (
        "Issue.update",
        "{actor.name|'Someone'} changed issue {data.identifier}.",
    ),
    (
        "Issue.remove",
        "{actor.name|'Someone'} deleted issue {data.identifier}.",
    ),
    (
        "Comment.create",
        "{actor.name|data.user.name|'Someone'} commented on issue {data.issue.identifier|data.issue.title}.",
    ),
    (
        "Comment.create",
        "{actor.name|data.user.name|'Someone'} commented.",
    ),
    (
        "Comment.update",
        "{actor.name|data.user.name|'Someone'} changed a comment.",
    ),
    (
        "Comment.remove",
        "{actor.name|data.user.name|'Someone'} deleted a comment.",
    ),
    (
        "Reaction.create",
        "{actor.name|data.user.name|'Someone'} reacted with {data.emoji}.",
    ),
    (
        "Project.create",
        "{actor.name|'Someone'} created the project {data.name}.",
    ),
    (
        "Project.update",
        "{actor.name|'Someone'} changed the project {data.name}.",
    ),
    (
        "Project.remove",
        "{actor.name|'Someone'} deleted the project {data.name}.",
    ),
    (
        "ProjectUpdate.create",
        "{actor.name|data.user.name|'Someone'} posted an update on the project {data.project.name}.",
    ),
    (
        "IssueSLA.set",
        "Issue {issueData.identifier} got a deadline.",
    ),
    (
        "IssueSLA.highRisk",
        "The deadline of issue {issueData.identifier} is near.",
    ),
    (
        "IssueSLA.breached",
        "The deadline of issue {issueData.identifier} has passed.",
    ),
];

const FIELDS: &[Field] = &[
    Field::line(
        "Issue",
        &[
            "data.identifier",
            "data.issue.identifier",
            "issueData.identifier",
        ],
    ),
    Field::line(
        "Title",
        &[
            "data.title",
            "data.name",
            "data.issue.title",
            "issueData.title",
            "data.project.name",
        ],
    ),
    Field::line("State", &["data.state.name", "issueData.state.name"]),
    Field::line("Priority", &["data.priorityLabel"]),
    Field::line("Assignee", &["data.assignee.name"]),
    Field::line("Team", &["data.team.name", "data.team.key"]),
    Field::line("Project", &["data.project.name"]),
    Field::list("Labels", "data.labels", "name"),
    Field::line("Due", &["data.dueDate"]),
    Field::line("Health", &["data.health"]),
    Field::line("By", &["actor.name", "data.user.name", "data.creator.name"]),
    Field::line("Emoji", &["data.emoji"]),
    Field::line("URL", &["url", "data.url"]),
    Field::keys("Changed", "updatedFrom"),
    Field::block("Text", &["data.body"]),
    Field::block("Description", &["data.description"]),
];
