//! The second code host's events, told. Fields: docs.gitlab.com, "Webhook events".

use super::field::{Field, Section, Summary, short_id, short_ref};
use super::report::{Report, at, first, number};
use crate::payload::Node;

pub(crate) const SUMMARY: Summary = Summary {
    sentences: SENTENCES,
    sections: SECTIONS,
};

/// Who did something stands first.
macro_rules! who {
    ($event:literal, $did:literal) => {
        ($event, concat!("{user.name|user_name|user.username|user_username|'Someone'} ", $did, "."))
    };
}

const SENTENCES: &[(&str, &str)] = &[
    who!("", "{action|'did something'} ({object_kind|event_name|'no name'})"),
    who!("merge_request", "changed merge request !{object_attributes.iid} ({object_attributes.action|'no action'})"),
    who!("merge_request.open", "opened merge request !{object_attributes.iid}"),
    who!("merge_request.update", "{!object_attributes.oldrev}pushed new commits to merge request !{object_attributes.iid}"),
    who!("merge_request.update", "updated merge request !{object_attributes.iid}"),
    who!("merge_request.merge", "merged merge request !{object_attributes.iid}"),
    who!("merge_request.close", "closed merge request !{object_attributes.iid}"),
    who!("merge_request.reopen", "opened merge request !{object_attributes.iid} again"),
    who!("merge_request.approval", "approved merge request !{object_attributes.iid}"),
    who!("merge_request.approved", "gave merge request !{object_attributes.iid} its last approval"),
    who!("merge_request.unapproval", "took an approval of merge request !{object_attributes.iid} back"),
    who!("merge_request.unapproved", "took an approval that merge request !{object_attributes.iid} needs back"),
    who!("issue", "changed issue #{object_attributes.iid} ({object_attributes.action|'no action'})"),
    who!("issue.open", "opened issue #{object_attributes.iid}"),
    who!("issue.update", "updated issue #{object_attributes.iid}"),
    who!("issue.close", "closed issue #{object_attributes.iid}"),
    who!("issue.reopen", "opened issue #{object_attributes.iid} again"),
    who!("note", "commented on merge request !{merge_request.iid}"),
    who!("note", "commented on issue #{issue.iid}"),
    who!("note", "commented on commit {^commit.id}"),
    who!("note", "commented on the snippet {snippet.title}"),
    who!("note", "commented"),
    who!("push", "pushed to {~ref}"),
    who!("tag_push", "pushed the tag {~ref}"),
    ("pipeline", "The pipeline #{object_attributes.id} of {object_attributes.ref} is {object_attributes.detailed_status|object_attributes.status}."),
    ("job", "The job {build_name} is {build_status}."),
    ("deployment", "The deployment to {environment} is {status}."),
    ("release", "The release {name|tag} was changed."),
    ("release.create", "The release {name|tag} was published."),
    ("release.update", "The release {name|tag} was changed."),
    ("release.delete", "The release {name|tag} was deleted."),
    who!("wiki_page", "changed the wiki page {object_attributes.title}"),
    who!("emoji", "reacted with {object_attributes.name}"),
    who!("feature_flag", "switched the feature flag {object_attributes.name}"),
    ("milestone", "The milestone {object_attributes.title} was changed ({action|'no action'})."),
    ("member", "The members of the group {group_name} changed ({event_name|'no name'})."),
    ("subgroup", "The subgroup {full_path|name} was changed ({event_name|'no name'})."),
    ("project", "The project {path_with_namespace|name} was changed ({event_name|'no name'})."),
    ("access_token", "The access token {object_attributes.name} expires on {object_attributes.expires_at}."),
    ("vulnerability", "A vulnerability was found or changed: {object_attributes.title}."),
    ("system", "The code host tells: {event_name|object_kind}."),
];

const PROJECT: Field = Field::line("Project", &["project.path_with_namespace", "project_name"]);
const CHANGED: Field = Field::keys("Changed", "changes");

const SECTIONS: &[Section] = &[
    Section {
        of: &["merge_request"],
        fields: &[
            PROJECT,
            Field::text("Merge request", "!{object_attributes.iid} {object_attributes.title|'(no title)'}"),
            Field::line("User", &["user.username", "user.name"]),
            Field::text("Branch", "{object_attributes.source_branch} → {object_attributes.target_branch}"),
            Field::line("URL", &["object_attributes.url"]),
            Field::line("State", &["object_attributes.state"]),
            Field::line("Draft", &["object_attributes.draft", "object_attributes.work_in_progress"]),
            Field::line(
                "Mergeable",
                &["object_attributes.detailed_merge_status", "object_attributes.merge_status"],
            ),
            Field::text("Last commit", "{^object_attributes.last_commit.id} {object_attributes.last_commit.title|%object_attributes.last_commit.message|''}"),
            CHANGED,
            Field::list("Labels", "labels", "title"),
            Field::list("Assignees", "assignees", "username"),
            Field::list("Reviewers", "reviewers", "username"),
            Field::block("Description", &["object_attributes.description"]),
        ],
    },
    Section {
        of: &["issue"],
        fields: &[
            PROJECT,
            Field::text("Issue", "#{object_attributes.iid} {object_attributes.title|'(no title)'}"),
            Field::line("Kind", &["object_attributes.type"]),
            Field::line("User", &["user.username", "user.name"]),
            Field::line("URL", &["object_attributes.url"]),
            Field::line("State", &["object_attributes.state"]),
            Field::line("Severity", &["object_attributes.severity"]),
            Field::text("Confidential", "{!object_attributes.confidential}yes"),
            Field::line("Due", &["object_attributes.due_date"]),
            CHANGED,
            Field::list("Labels", "labels", "title"),
            Field::list("Assignees", "assignees", "username"),
            Field::block("Description", &["object_attributes.description"]),
        ],
    },
    Section {
        of: &["note"],
        fields: &[
            PROJECT,
            Field::text("Merge request", "!{merge_request.iid} {merge_request.title|'(no title)'}"),
            Field::text("Branch", "{merge_request.source_branch} → {merge_request.target_branch}"),
            Field::text("Issue", "#{issue.iid} {issue.title|'(no title)'}"),
            Field::text("Commit", "{^commit.id} {commit.title|%commit.message|''}"),
            Field::line("Snippet", &["snippet.title"]),
            Field::line("User", &["user.username", "user.name"]),
            Field::text("Lines", "{object_attributes.position.new_path}:{object_attributes.position.new_line}"),
            Field::line("URL", &["object_attributes.url"]),
            Field::block("Comment", &["object_attributes.note", "object_attributes.description"]),
        ],
    },
    Section {
        of: &["push", "tag_push"],
        fields: &[
            PROJECT,
            Field::text("Ref", "{~ref}"),
            Field::line("Pushed by", &["user_username", "user_name"]),
            Field::text("Head", "{^checkout_sha|^after}"),
            Field::line("URL", &["project.web_url"]),
            Field::line("Tag's message", &["message"]),
            Field::own(commits),
        ],
    },
    Section {
        of: &["pipeline"],
        fields: &[
            PROJECT,
            Field::line("Pipeline", &["object_attributes.id"]),
            Field::line("Status", &["object_attributes.detailed_status", "object_attributes.status"]),
            Field::line("Branch", &["object_attributes.ref"]),
            Field::text("Commit", "{^object_attributes.sha} {commit.title|%commit.message|''}"),
            Field::text("Merge request", "!{merge_request.iid} {merge_request.title|''}"),
            Field::line("Begun by", &["object_attributes.source"]),
            Field::line("User", &["user.username", "user.name"]),
            Field::line("Seconds", &["object_attributes.duration"]),
            Field::line("URL", &["object_attributes.url"]),
            Field::own(failed_jobs),
            Field::list("Stages", "object_attributes.stages", ""),
        ],
    },
    Section {
        of: &["job"],
        fields: &[
            PROJECT,
            Field::line("Job", &["build_name"]),
            Field::line("Stage", &["build_stage"]),
            Field::line("Status", &["build_status"]),
            Field::line("Failure", &["build_failure_reason"]),
            Field::line("Branch", &["ref"]),
            Field::text("Commit", "{^sha} {%commit.message|''}"),
            Field::line("Pipeline", &["pipeline_id"]),
            Field::line("User", &["user.username", "user.name"]),
            Field::line("Seconds", &["build_duration"]),
            Field::line("URL", &["repository.homepage", "project.web_url"]),
        ],
    },
    Section {
        of: &["deployment"],
        fields: &[
            PROJECT,
            Field::line("Environment", &["environment"]),
            Field::line("Status", &["status"]),
            Field::line("Ref", &["ref"]),
            Field::text("Commit", "{short_sha} {commit_title|''}"),
            Field::line("User", &["user.username", "user.name"]),
            Field::line("URL", &["deployable_url", "environment_external_url", "commit_url"]),
        ],
    },
    Section {
        of: &["release"],
        fields: &[
            PROJECT,
            Field::line("Release", &["name"]),
            Field::line("Tag", &["tag"]),
            Field::text("Commit", "{^commit.id} {commit.title|%commit.message|''}"),
            Field::line("URL", &["url"]),
            Field::list("Files", "assets.links", "name"),
            Field::block("Notes", &["description"]),
        ],
    },
    Section {
        of: &["wiki_page", "emoji", "feature_flag", "milestone", "vulnerability", "access_token"],
        fields: &[
            PROJECT,
            Field::line("Title", &["object_attributes.title", "object_attributes.name"]),
            Field::line("Action", &["object_attributes.action", "action", "event_type"]),
            Field::line("State", &["object_attributes.state"]),
            Field::line("Severity", &["object_attributes.severity"]),
            Field::line("Active", &["object_attributes.active"]),
            Field::line("Expires", &["object_attributes.expires_at"]),
            Field::text("Merge request", "!{merge_request.iid} {merge_request.title|''}"),
            Field::text("Issue", "#{issue.iid} {issue.title|''}"),
            Field::line("User", &["user.username", "user.name"]),
            Field::line(
                "URL",
                &["object_attributes.url", "object_attributes.awarded_on_url", "project.web_url"],
            ),
            Field::line("Message", &["object_attributes.message"]),
            Field::block("Text", &["object_attributes.content", "object_attributes.description"]),
        ],
    },
];

/// The commits of a push: id, first line of the message, author. The sender lists 20 at most.
fn commits(report: &mut Report, root: Node<'_>) {
    if let Some(name) = at(root, "ref").filter(|_| {
        at(root, "after").is_some_and(|after| after.chars().all(|digit| digit == '0'))
    }) {
        report.line("Deleted", Some(short_ref(&name).to_owned()));
    }
    let Some(commits) = root.at("commits") else {
        return;
    };
    let told = commits.items().map(|commit| {
        let id = at(commit, "id").map(|id| short_id(&id)).unwrap_or_default();
        let message = commit.string("message").unwrap_or_default();
        let title = message.lines().next().unwrap_or_default().to_owned();
        let author = at(commit, "author.name");
        let author = author.map(|author| format!(" ({author})")).unwrap_or_default();
        format!("{id} {title}{author}")
    });
    report.items("Commits", told, number(root, "total_commits_count"));
}

/// The jobs of a pipeline that failed, and why.
fn failed_jobs(report: &mut Report, root: Node<'_>) {
    let Some(jobs) = root.at("builds") else {
        return;
    };
    let failed = jobs
        .items()
        .filter(|job| at(*job, "status").is_some_and(|status| status == "failed"))
        .filter_map(|job| {
            let reason = first(job, &["failure_reason"]);
            let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            Some(format!("{}{reason}", at(job, "name")?))
        });
    report.words("Failed jobs", failed);
}
