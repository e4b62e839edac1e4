//! Summaries of GitLab events. Fields: docs.gitlab.com, "Webhook events".

mod sentences;

use crate::payload::Node;
use crate::summary::field::{Field, Section, Summary, short_id, short_ref};
use crate::summary::report::{Report, at, first, number};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[sentences::SENTENCES],
    titles: &[
        "object_attributes.title",
        "merge_request.title",
        "issue.title",
    ],
    sections: SECTIONS,
};

const PROJECT: Field = Field::line("Project", &["project.path_with_namespace", "project_name"]);
const CHANGED: Field = Field::keys("Changed", "changes");

const SECTIONS: &[Section] = &[
    Section {
        of: &["merge_request"],
        fields: &[
            PROJECT,
            Field::text(
                "Merge request",
                "!{object_attributes.iid} {object_attributes.title|'(no title)'}",
            ),
            Field::line("User", &["user.username", "user.name"]),
            Field::text(
                "Branch",
                "{object_attributes.source_branch} → {object_attributes.target_branch}",
            ),
            Field::line("URL", &["object_attributes.url"]),
            Field::line("State", &["object_attributes.state"]),
            Field::line(
                "Draft",
                &[
                    "object_attributes.draft",
                    "object_attributes.work_in_progress",
                ],
            ),
            Field::line(
                "Mergeable",
                &[
                    "object_attributes.detailed_merge_status",
                    "object_attributes.merge_status",
                ],
            ),
            Field::text(
                "Last commit",
                "{^object_attributes.last_commit.id} {object_attributes.last_commit.title|%object_attributes.last_commit.message|''}",
            ),
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
            Field::text(
                "Issue",
                "#{object_attributes.iid} {object_attributes.title|'(no title)'}",
            ),
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
            Field::text(
                "Merge request",
                "!{merge_request.iid} {merge_request.title|'(no title)'}",
            ),
            Field::text(
                "Branch",
                "{merge_request.source_branch} → {merge_request.target_branch}",
            ),
            Field::text("Issue", "#{issue.iid} {issue.title|'(no title)'}"),
            Field::text("Commit", "{^commit.id} {commit.title|%commit.message|''}"),
            Field::line("Snippet", &["snippet.title"]),
            Field::line("User", &["user.username", "user.name"]),
            Field::text(
                "Lines",
                "{object_attributes.position.new_path}:{object_attributes.position.new_line}",
            ),
            Field::line("URL", &["object_attributes.url"]),
            Field::block(
                "Comment",
                &["object_attributes.note", "object_attributes.description"],
            ),
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
            Field::line(
                "Status",
                &[
                    "object_attributes.detailed_status",
                    "object_attributes.status",
                ],
            ),
            Field::line("Branch", &["object_attributes.ref"]),
            Field::text(
                "Commit",
                "{^object_attributes.sha} {commit.title|%commit.message|''}",
            ),
            Field::text(
                "Merge request",
                "!{merge_request.iid} {merge_request.title|''}",
            ),
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
            Field::line(
                "URL",
                &["deployable_url", "environment_external_url", "commit_url"],
            ),
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
        of: &["member"],
        fields: &[
            Field::line("Group", &["group_path", "group_name"]),
            Field::line("Member", &["user_username", "user_name"]),
            Field::line("Access", &["group_access"]),
            Field::line("Expires", &["expires_at"]),
            Field::line("What", &["event_name"]),
        ],
    },
    Section {
        of: &["subgroup", "project"],
        fields: &[
            Field::line("Path", &["full_path", "path_with_namespace"]),
            Field::line("Path before", &["old_full_path", "old_path_with_namespace"]),
            Field::line("Visibility", &["project_visibility"]),
            Field::line("What", &["event_name"]),
        ],
    },
    Section {
        of: &[
            "wiki_page",
            "emoji",
            "feature_flag",
            "milestone",
            "vulnerability",
            "access_token",
        ],
        fields: &[
            PROJECT,
            Field::line(
                "Title",
                &["object_attributes.title", "object_attributes.name"],
            ),
            Field::line(
                "Action",
                &["object_attributes.action", "action", "event_type"],
            ),
            Field::line("State", &["object_attributes.state"]),
            Field::line("Severity", &["object_attributes.severity"]),
            Field::line("Active", &["object_attributes.active"]),
            Field::line("Expires", &["object_attributes.expires_at"]),
            Field::text(
                "Merge request",
                "!{merge_request.iid} {merge_request.title|''}",
            ),
            Field::text("Issue", "#{issue.iid} {issue.title|''}"),
            Field::line("User", &["user.username", "user.name"]),
            Field::line(
                "URL",
                &[
                    "object_attributes.url",
                    "object_attributes.awarded_on_url",
                    "project.web_url",
                ],
            ),
            Field::line("Message", &["object_attributes.message"]),
            Field::block(
                "Text",
                &["object_attributes.content", "object_attributes.description"],
            ),
        ],
    },
];

/// Shows the commits of a push: ID, first line of the message, author. GitLab sends at most 20 commits.
fn commits(report: &mut Report, root: Node<'_>) {
    if let Some(name) = at(root, "ref")
        .filter(|_| at(root, "after").is_some_and(|after| after.chars().all(|digit| digit == '0')))
    {
        report.line("Deleted", Some(short_ref(&name).to_owned()));
    }
    let Some(commits) = root.at("commits") else {
        return;
    };
    let listed = commits.items().map(|commit| {
        let id = at(commit, "id").map(|id| short_id(&id)).unwrap_or_default();
        let message = commit.string("message").unwrap_or_default();
        let title = message.lines().next().unwrap_or_default().to_owned();
        let author = at(commit, "author.name");
        let author = author
            .map(|author| format!(" ({author})"))
            .unwrap_or_default();
        format!("{id} {title}{author}")
    });
    report.items("Commits", listed, number(root, "total_commits_count"));
}

/// Shows the failed jobs of a pipeline, and why they failed.
fn failed_jobs(report: &mut Report, root: Node<'_>) {
    let Some(jobs) = root.at("builds") else {
        return;
    };
    let failed = jobs
        .items()
        .filter(|job| at(*job, "status").is_some_and(|status| status == "failed"))
        .filter_map(|job| {
            let reason = first(job, &["failure_reason"]);
            let reason = reason
                .map(|reason| format!(" ({reason})"))
                .unwrap_or_default();
            Some(format!("{}{reason}", at(job, "name")?))
        });
    report.words("Failed jobs", failed);
}
