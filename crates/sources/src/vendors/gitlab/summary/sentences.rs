//! One-sentence summaries of GitLab events.

/// Builds a sentence that starts with the actor.
macro_rules! who {
    ($event:literal, $did:literal) => {
        (
            $event,
            concat!(
                "{user.name|user_name|user.username|user_username|'Someone'} ",
                $did,
                "."
            ),
        )
    };
}

pub(super) const SENTENCES: &[(&str, &str)] = &[
    who!(
        "",
        "{action|'did something'} ({object_kind|event_name|'no name'})"
    ),
    who!(
        "merge_request",
        "changed merge request !{object_attributes.iid} ({object_attributes.action|'no action'})"
    ),
    who!(
        "merge_request.open",
        "opened merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.update",
        "{!object_attributes.oldrev}pushed new commits to merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.update",
        "updated merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.merge",
        "merged merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.close",
        "closed merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.reopen",
        "reopened merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.approval",
        "approved merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.approved",
        "gave merge request !{object_attributes.iid} its last approval"
    ),
    who!(
        "merge_request.unapproval",
        "withdrew an approval of merge request !{object_attributes.iid}"
    ),
    who!(
        "merge_request.unapproved",
        "withdrew a required approval of merge request !{object_attributes.iid}"
    ),
    who!(
        "issue",
        "changed issue #{object_attributes.iid} ({object_attributes.action|'no action'})"
    ),
    who!("issue.open", "opened issue #{object_attributes.iid}"),
    who!("issue.update", "updated issue #{object_attributes.iid}"),
    who!("issue.close", "closed issue #{object_attributes.iid}"),
    who!("issue.reopen", "reopened issue #{object_attributes.iid}"),
    who!("note", "commented on merge request !{merge_request.iid}"),
    who!("note", "commented on issue #{issue.iid}"),
    who!("note", "commented on commit {^commit.id}"),
    who!("note", "commented on the snippet {snippet.title}"),
    who!("note", "commented"),
    who!("push", "pushed to {~ref}"),
    who!("tag_push", "pushed the tag {~ref}"),
    (
        "pipeline",
        "The pipeline #{object_attributes.id} of {object_attributes.ref} is {object_attributes.detailed_status|object_attributes.status}.",
    ),
    ("job", "The job {build_name} is {build_status}."),
    (
        "deployment",
        "The deployment to {environment} is now: {status}.",
    ),
    ("release", "The release {name|tag} was changed."),
    ("release.create", "The release {name|tag} was published."),
    ("release.update", "The release {name|tag} was changed."),
    ("release.delete", "The release {name|tag} was deleted."),
    who!(
        "wiki_page",
        "changed the wiki page {object_attributes.title}"
    ),
    who!("emoji", "reacted with {object_attributes.name}"),
    who!(
        "feature_flag",
        "switched the feature flag {object_attributes.name}"
    ),
    (
        "milestone",
        "The milestone {object_attributes.title} was changed ({action|'no action'}).",
    ),
    (
        "member",
        "The members of the group {group_name} changed ({event_name|'no name'}).",
    ),
    (
        "subgroup",
        "The subgroup {full_path|name} was changed ({event_name|'no name'}).",
    ),
    (
        "project",
        "The project {path_with_namespace|name} was changed ({event_name|'no name'}).",
    ),
    (
        "access_token",
        "The access token {object_attributes.name} expires on {object_attributes.expires_at}.",
    ),
    (
        "vulnerability",
        "A vulnerability was found or changed: {object_attributes.title}.",
    ),
    ("system", "The code host reports: {event_name|object_kind}."),
];
