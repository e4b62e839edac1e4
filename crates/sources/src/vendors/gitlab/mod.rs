//! The profile of GitLab. Events and headers: docs.gitlab.com, "Webhook events" and "Webhooks".

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    Condition, Detail, EntityRule, EventSource, EventType, KeySource, Names, Profile, Replay,
    ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "codehost_b",
    alias: Some("gitlab"),
    name: "Code host B (GitLab)",
    about: "Pushes, merge requests, issues, pipelines",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &["x-codehost-b-event", "x-gitlab-event"],
        body: &[],
        names: Some(Names {
            known: NAMES,
            ending: " hook",
        }),
        detail_header: None,
        detail: &[
            Detail {
                of: &["merge_request", "issue"],
                path: "object_attributes.action",
            },
            Detail {
                of: &["system"],
                path: "event_name",
            },
            Detail {
                of: &["system"],
                path: "object_kind",
            },
            Detail {
                of: &[],
                path: "action",
            },
        ],
    },
    // `X-Gitlab-Event-UUID` is not usable as a key: deliveries of hooks that trigger each other share it.
    delivery_key: &[KeySource::Header("idempotency-key"), KeySource::BodyHash],
    // `X-Gitlab-Token` contains the secret itself:
    // <https://docs.gitlab.com/user/project/integrations/webhooks/>
    replay: Replay {
        id_is_signed: false,
        guard: ReplayGuard::Key,
        note: "The sender sends the secret itself, so anyone who captures a delivery can create others, and no replay \
            guard detects those.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: MORE_EVENTS,
    headers: &["x-codehost-b-event", "x-gitlab-event", "idempotency-key"],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

const NAMES: &[(&str, &str)] = &[
    ("Push Hook", "push"),
    ("Tag Push Hook", "tag_push"),
    ("Issue Hook", "issue"),
    ("Confidential Issue Hook", "issue"),
    ("Note Hook", "note"),
    ("Confidential Note Hook", "note"),
    ("Merge Request Hook", "merge_request"),
    ("Wiki Page Hook", "wiki_page"),
    ("Pipeline Hook", "pipeline"),
    ("Job Hook", "job"),
    ("Build Hook", "job"),
    ("Deployment Hook", "deployment"),
    ("Release Hook", "release"),
    ("Milestone Hook", "milestone"),
    ("Emoji Hook", "emoji"),
    ("Feature Flag Hook", "feature_flag"),
    ("Member Hook", "member"),
    ("Subgroup Hook", "subgroup"),
    ("Project Hook", "project"),
    ("Resource Access Token Hook", "access_token"),
    ("Resource Deploy Token Hook", "deploy_token"),
    ("Vulnerability Hook", "vulnerability"),
    ("System Hook", "system"),
];

/// A note on a merge request or issue has the key of that merge request or issue.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[Condition::Event("merge_request")],
        key: "codehost_b:{project.path_with_namespace}:mr:{object_attributes.iid}",
    },
    EntityRule {
        when: &[Condition::Event("issue")],
        key: "codehost_b:{project.path_with_namespace}:issue:{object_attributes.iid}",
    },
    EntityRule {
        when: &[Condition::Event("note")],
        key: "codehost_b:{project.path_with_namespace}:mr:{merge_request.iid}",
    },
    EntityRule {
        when: &[Condition::Event("note")],
        key: "codehost_b:{project.path_with_namespace}:issue:{issue.iid}",
    },
    EntityRule {
        when: &[Condition::Event("emoji")],
        key: "codehost_b:{project.path_with_namespace}:mr:{merge_request.iid}",
    },
    EntityRule {
        when: &[Condition::Event("emoji")],
        key: "codehost_b:{project.path_with_namespace}:issue:{issue.iid}",
    },
];

const EVENTS: &[EventType] = &[
    event("merge_request.open", "A merge request was opened"),
    event(
        "merge_request.update",
        "A merge request was changed or got commits",
    ),
    event("merge_request.merge", "A merge request was merged"),
    event("push", "Commits were pushed to a branch"),
    event(
        "note",
        "Someone commented on a merge request, issue, commit or snippet",
    ),
    event("issue.open", "An issue was opened"),
    event("pipeline", "A pipeline's status changed"),
];

const MORE_EVENTS: &[EventType] = &[
    event("merge_request.approval", "Someone approved a merge request"),
    event(
        "merge_request.approved",
        "A merge request has all its approvals",
    ),
    event("merge_request.unapproval", "Someone withdrew an approval"),
    event(
        "merge_request.unapproved",
        "A merge request lost an approval that it needs",
    ),
    event(
        "merge_request.close",
        "A merge request was closed without merging",
    ),
    event("merge_request.reopen", "A merge request was reopened"),
    event("issue.update", "An issue was changed"),
    event("issue.close", "An issue was closed"),
    event("issue.reopen", "An issue was reopened"),
    event("tag_push", "A tag was created or deleted"),
    event("job", "A job's status changed"),
    event("deployment", "A deployment began, succeeded or failed"),
    event("release.create", "A release was published"),
    event("release.update", "A release was changed"),
    event("release.delete", "A release was deleted"),
    event("wiki_page", "A wiki page was changed"),
    event("milestone.create", "A milestone was created"),
    event("milestone.close", "A milestone was closed"),
    event("milestone.reopen", "A milestone was reopened"),
    event("emoji", "Someone reacted with an emoji"),
    event("feature_flag", "A feature flag was switched"),
    event(
        "member",
        "Someone joined, left or got another role in a group",
    ),
    event("subgroup", "A subgroup was created or removed"),
    event("project", "A project was created or removed in a group"),
    event("access_token", "An access token expires soon"),
    event("vulnerability", "A vulnerability was found or changed"),
];
