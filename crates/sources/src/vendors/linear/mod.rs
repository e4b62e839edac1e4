//! The profile of Linear. Events and headers: linear.app/developers/webhooks.

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, Detail, EntityRule, EventSource, EventType, KeySource, Profile, Replay,
    ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "tracker_a",
    alias: Some("linear"),
    name: "Issue tracker (Linear)",
    about: "Issues, comments, projects",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
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
        note: "The signature covers the body and not Linear-Delivery: with `key`, a captured delivery can be sent \
            again under a new ID until its timestamp is too old.",
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
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
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

const EVENTS: &[EventType] = &[
    event("Issue.create", "An issue was created"),
    event("Issue.update", "An issue was changed"),
    event("Issue.remove", "An issue was deleted"),
    event("Comment.create", "Someone commented"),
    event("Comment.update", "A comment was changed"),
    event("Comment.remove", "A comment was deleted"),
    event("IssueLabel.create", "A label was created"),
    event("IssueLabel.update", "A label was changed"),
    event("IssueLabel.remove", "A label was deleted"),
    event("Attachment.create", "Something was attached to an issue"),
    event("Reaction.create", "Someone reacted with an emoji"),
    event("Project.create", "A project was created"),
    event("Project.update", "A project was changed"),
    event("Project.remove", "A project was deleted"),
    event("ProjectUpdate.create", "A project update was posted"),
    event("Cycle.create", "A cycle was created"),
    event("Cycle.update", "A cycle was changed"),
    event("Document.create", "A document was created"),
    event("Document.update", "A document was changed"),
    event("Initiative.create", "An initiative was created"),
    event("Initiative.update", "An initiative was changed"),
    event("IssueSLA.set", "An issue got a deadline for its answer"),
    event("IssueSLA.highRisk", "An issue's deadline is near"),
    event("IssueSLA.breached", "An issue's deadline has passed"),
];
