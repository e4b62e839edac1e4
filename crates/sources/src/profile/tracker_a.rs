//! The profile of Linear. Events and headers: linear.app/developers/webhooks.

use super::{
    BodyEvent, Condition, Detail, EntityRule, EventSource, EventType, KeySource, Profile, Replay,
    event,
};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::ReplayGuard;
use crate::sample::{SampleKind, trackers as samples};
use crate::summary::{Field, Section, Summary};

pub(super) static PROFILE: Profile = Profile {
    id: "tracker_a",
    alias: Some("linear"),
    name: "Issue tracker (Linear)",
    default_auth_mode: AuthMode::TrackerAWebhookSignature,
    body: BodyKind::Json,
    event: EventSource {
        own_header: false,
        headers: &["tracker-a-event", "linear-event"],
        body: &[BodyEvent {
            prefix: "",
            path: "type",
        }],
        names: None,
        detail_header: None,
        detail: &[Detail {
            of: &[],
            path: "action",
        }],
    },
    delivery_key: &[
        KeySource::Header("tracker-a-delivery"),
        KeySource::Header("linear-delivery"),
    ],
    // `Linear-Signature` is the HMAC of the raw body; the UUID in `Linear-Delivery` is not signed:
    // <https://linear.app/developers/webhooks#securing-webhooks>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "The signature covers the body and not Linear-Delivery: with `key`, a captured delivery can be \
            sent again under a new id while its time stamp is accepted.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: &[],
    headers: &[
        "tracker-a-event",
        "linear-event",
        "tracker-a-delivery",
        "linear-delivery",
    ],
    guide: "\
1. In the tracker open Settings, API, and under Webhooks choose New webhook (a workspace admin can).
2. URL: {url}
3. Choose the team, or all public teams, and the data change events to send, for example Issues and \
Comments.
4. Create it, copy its signing secret, and store that secret in this webhook: here the vendor makes the \
secret, so the one made by us is replaced.",
    handshake: None,
    summary: Summary {
        sentences: &[SENTENCES],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: SampleKind::Json(samples::tracker_a),
};

/// A comment on an issue or project has the key of that issue or project.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[Condition::Event("Issue")],
        key: "tracker_a:issue:{data.id}",
    },
    EntityRule {
        when: &[],
        key: "tracker_a:issue:{data.issueId}",
    },
    EntityRule {
        when: &[],
        key: "tracker_a:issue:{data.issue.id}",
    },
    EntityRule {
        when: &[],
        key: "tracker_a:issue:{issueData.id}",
    },
    EntityRule {
        when: &[Condition::Event("Project")],
        key: "tracker_a:project:{data.id}",
    },
    EntityRule {
        when: &[],
        key: "tracker_a:project:{data.projectId}",
    },
];

const SENTENCES: &[(&str, &str)] = &[
    (
        "",
        "{actor.name|data.user.name|'Someone'}: {action|'change'} of {type|'something'} {data.identifier|data.issue.identifier|data.name|data.title|data.number|''}",
    ),
    (
        "Issue.create",
        "{actor.name|'Someone'} made issue {data.identifier}.",
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
        "{actor.name|'Someone'} made the project {data.name}.",
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
        "{actor.name|data.user.name|'Someone'} told how the project {data.project.name} goes.",
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

const EVENTS: &[EventType] = &[
    event("Issue.create", "An issue was made"),
    event("Issue.update", "An issue was changed"),
    event("Issue.remove", "An issue was deleted"),
    event("Comment.create", "Someone commented"),
    event("Comment.update", "A comment was changed"),
    event("Comment.remove", "A comment was deleted"),
    event("IssueLabel.create", "A label was made"),
    event("IssueLabel.update", "A label was changed"),
    event("IssueLabel.remove", "A label was deleted"),
    event("Attachment.create", "Something was attached to an issue"),
    event("Reaction.create", "Someone reacted with an emoji"),
    event("Project.create", "A project was made"),
    event("Project.update", "A project was changed"),
    event("Project.remove", "A project was deleted"),
    event("ProjectUpdate.create", "A project's progress was told"),
    event("Cycle.create", "A cycle was made"),
    event("Cycle.update", "A cycle was changed"),
    event("Document.create", "A document was made"),
    event("Document.update", "A document was changed"),
    event("Initiative.create", "An initiative was made"),
    event("Initiative.update", "An initiative was changed"),
    event("IssueSLA.set", "An issue got a deadline for its answer"),
    event("IssueSLA.highRisk", "An issue's deadline is near"),
    event("IssueSLA.breached", "An issue's deadline has passed"),
];
