//! What is worth knowing, by event.

use super::fields;
use crate::summary::{Field, Section};

const REPOSITORY: Field = Field::line("Repository", &["repository.full_name"]);
const ORGANIZATION: Field = Field::line("Organization", &["organization.login"]);
const EDITED: Field = Field::own(fields::edited);

const PULL_REQUEST: &[Field] = &[
    REPOSITORY,
    Field::text("Pull request", "#{number|pull_request.number} {pull_request.title|'(no title)'}"),
    Field::line("Author", &["pull_request.user.login"]),
    Field::own(fields::branches),
    Field::line("URL", &["pull_request.html_url"]),
    Field::own(fields::state),
    Field::line("Draft", &["pull_request.draft"]),
    Field::own(fields::changes),
    Field::own(fields::moved),
    EDITED,
    Field::list("Labels", "pull_request.labels", "name"),
    Field::list("Assignees", "pull_request.assignees", "login"),
    Field::list("Reviewers", "pull_request.requested_reviewers", "login"),
    Field::list("Reviewing teams", "pull_request.requested_teams", "name"),
    Field::line("Milestone", &["pull_request.milestone.title"]),
    Field::block("Description", &["pull_request.body"]),
];

/// What was said stands first, then what about.
const REVIEW: &[Field] = &[
    REPOSITORY,
    Field::text("Pull request", "#{pull_request.number} {pull_request.title|'(no title)'}"),
    Field::line("Author", &["pull_request.user.login"]),
    Field::own(fields::branches),
    Field::line("Draft", &["pull_request.draft"]),
    Field::line("Review", &["review.state"]),
    Field::line("Reviewer", &["review.user.login"]),
    Field::line("Commented by", &["comment.user.login"]),
    Field::text("Lines", "{comment.path}:{comment.line|comment.original_line|comment.position|'?'}"),
    Field::text(
        "Thread",
        "{thread.comments.0.path}:{thread.comments.0.line|thread.comments.0.original_line|'?'}",
    ),
    Field::line(
        "URL",
        &[
            "review.html_url",
            "comment.html_url",
            "thread.comments.0.html_url",
            "pull_request.html_url",
        ],
    ),
    EDITED,
    Field::block("Text", &["review.body", "comment.body", "thread.comments.0.body"]),
    Field::block("Code", &["comment.diff_hunk"]),
];

const ISSUE: &[Field] = &[
    REPOSITORY,
    Field::text("Issue", "#{issue.number} {issue.title|'(no title)'}"),
    Field::line("Author", &["issue.user.login"]),
    Field::line("URL", &["issue.html_url"]),
    Field::line("State", &["issue.state"]),
    Field::line("Because", &["issue.state_reason"]),
    EDITED,
    Field::list("Labels", "issue.labels", "name"),
    Field::list("Assignees", "issue.assignees", "login"),
    Field::line("Milestone", &["issue.milestone.title", "milestone.title"]),
    Field::line("Lock reason", &["issue.active_lock_reason"]),
    Field::line("Comments", &["issue.comments"]),
    Field::block("Description", &["issue.body"]),
];

const ISSUE_COMMENT: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Pull request",
        "{!issue.pull_request}#{issue.number} {issue.title|'(no title)'}",
    ),
    Field::text(
        "Issue",
        "{-issue.pull_request}#{issue.number} {issue.title|'(no title)'}",
    ),
    Field::line("Author", &["issue.user.login"]),
    Field::line("State", &["issue.state"]),
    Field::list("Labels", "issue.labels", "name"),
    Field::line("Commented by", &["comment.user.login"]),
    Field::line("URL", &["comment.html_url"]),
    EDITED,
    Field::block("Comment", &["comment.body"]),
];

const PUSH: &[Field] = &[
    REPOSITORY,
    Field::own(fields::pushed_ref),
    Field::line("Pushed by", &["pusher.name", "sender.login"]),
    Field::text("Head", "{^head_commit.id}"),
    Field::text("Forced", "{!forced}yes"),
    Field::line("URL", &["compare"]),
    Field::own(fields::commits),
];

const RELEASE: &[Field] = &[
    REPOSITORY,
    Field::line("Release", &["release.name", "release.tag_name"]),
    Field::line("Tag", &["release.tag_name"]),
    Field::line("From", &["release.target_commitish"]),
    Field::line("Author", &["release.author.login"]),
    Field::text("Draft", "{!release.draft}yes"),
    Field::text("Pre-release", "{!release.prerelease}yes"),
    Field::line("URL", &["release.html_url"]),
    EDITED,
    Field::list("Files", "release.assets", "name"),
    Field::block("Notes", &["release.body"]),
];

const WORKFLOW_RUN: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Workflow",
        "{workflow_run.name|workflow.name} #{workflow_run.run_number|'?'}",
    ),
    Field::line("Title", &["workflow_run.display_title"]),
    Field::line("Environment", &["environment"]),
    Field::line("Status", &["workflow_run.status"]),
    Field::line("Conclusion", &["workflow_run.conclusion"]),
    Field::line("Branch", &["workflow_run.head_branch"]),
    Field::text("Commit", "{^workflow_run.head_sha} {%workflow_run.head_commit.message|''}"),
    Field::line("Begun by", &["workflow_run.event"]),
    Field::line("Actor", &["workflow_run.actor.login"]),
    Field::line("Attempt", &["workflow_run.run_attempt"]),
    Field::list("Pull requests", "workflow_run.pull_requests", "number"),
    Field::line("URL", &["workflow_run.html_url"]),
];

const WORKFLOW_JOB: &[Field] = &[
    REPOSITORY,
    Field::line("Workflow", &["workflow_job.workflow_name"]),
    Field::line("Job", &["workflow_job.name"]),
    Field::line("Status", &["workflow_job.status"]),
    Field::line("Conclusion", &["workflow_job.conclusion"]),
    Field::own(fields::failed_steps),
    Field::line("Branch", &["workflow_job.head_branch"]),
    Field::text("Commit", "{^workflow_job.head_sha}"),
    Field::line("Runner", &["workflow_job.runner_name"]),
    Field::list("Wanted runners", "workflow_job.labels", ""),
    Field::line("URL", &["workflow_job.html_url"]),
];

const CHECK: &[Field] = &[
    REPOSITORY,
    Field::line("Check", &["check_run.name", "check_suite.app.name", "context"]),
    Field::line("Status", &["check_run.status", "check_suite.status", "state"]),
    Field::line("Conclusion", &["check_run.conclusion", "check_suite.conclusion"]),
    Field::line("Title", &["check_run.output.title", "description"]),
    Field::line(
        "Branch",
        &["check_run.check_suite.head_branch", "check_suite.head_branch", "branches.0.name"],
    ),
    Field::text("Commit", "{^check_run.head_sha|^check_suite.head_sha|^sha}"),
    Field::text("Message", "{%check_suite.head_commit.message|%commit.commit.message}"),
    Field::list("Pull requests", "check_run.pull_requests", "number"),
    Field::list("Pull requests", "check_suite.pull_requests", "number"),
    Field::line("App", &["check_run.app.name"]),
    Field::line(
        "URL",
        &["check_run.html_url", "check_run.details_url", "target_url", "commit.html_url"],
    ),
    Field::block("Text", &["check_run.output.summary"]),
];

const DEPLOYMENT: &[Field] = &[
    REPOSITORY,
    Field::line("Environment", &["deployment.environment", "deployment_status.environment"]),
    Field::line("Status", &["deployment_status.state"]),
    Field::line("Ref", &["deployment.ref"]),
    Field::text("Commit", "{^deployment.sha}"),
    Field::line("Task", &["deployment.task"]),
    Field::line("Begun by", &["deployment.creator.login"]),
    Field::line("Description", &["deployment_status.description", "deployment.description"]),
    Field::line(
        "URL",
        &[
            "deployment_status.environment_url",
            "deployment_status.log_url",
            "deployment_status.target_url",
            "workflow_run.html_url",
            "check_run.html_url",
        ],
    ),
];

const DISCUSSION: &[Field] = &[
    REPOSITORY,
    Field::text("Discussion", "#{discussion.number} {discussion.title|'(no title)'}"),
    Field::line("Category", &["discussion.category.name"]),
    Field::line("Author", &["discussion.user.login"]),
    Field::line("State", &["discussion.state"]),
    Field::line("Commented by", &["comment.user.login"]),
    Field::line("URL", &["comment.html_url", "answer.html_url", "discussion.html_url"]),
    EDITED,
    Field::block("Comment", &["comment.body"]),
    Field::block("Answer", &["answer.body"]),
    Field::block("Description", &["discussion.body"]),
];

const ALERT: &[Field] = &[
    REPOSITORY,
    Field::line("Alert", &["alert.number"]),
    Field::line("State", &["alert.state"]),
    Field::line(
        "Package",
        &["alert.dependency.package.name", "alert.affected_package_name"],
    ),
    Field::line("File", &["alert.dependency.manifest_path"]),
    Field::text(
        "Where",
        "{alert.most_recent_instance.location.path}:{alert.most_recent_instance.location.start_line|'?'}",
    ),
    Field::line(
        "Severity",
        &[
            "alert.security_advisory.severity",
            "security_advisory.severity",
            "alert.rule.severity",
            "alert.severity",
        ],
    ),
    Field::line("Secret type", &["alert.secret_type_display_name", "alert.secret_type"]),
    Field::line("Rule", &["alert.rule.description", "alert.rule.id"]),
    Field::line("Tool", &["alert.tool.name"]),
    Field::text("Branch", "{~ref}"),
    Field::line("Summary", &["alert.security_advisory.summary", "security_advisory.summary"]),
    Field::line(
        "Advisory",
        &["alert.security_advisory.ghsa_id", "security_advisory.ghsa_id", "alert.ghsa_id"],
    ),
    Field::line("CVE", &["alert.security_advisory.cve_id", "alert.external_identifier"]),
    Field::line(
        "Affected",
        &["alert.security_vulnerability.vulnerable_version_range", "alert.affected_range"],
    ),
    Field::line(
        "Fixed in",
        &["alert.security_vulnerability.first_patched_version.identifier", "alert.fixed_in"],
    ),
    Field::list("Packages", "security_advisory.vulnerabilities", "package.name"),
    Field::line("Dismissed because", &["alert.dismissed_reason", "alert.dismiss_reason"]),
    Field::line("URL", &["alert.html_url", "alert.external_reference"]),
    Field::block(
        "Description",
        &["alert.security_advisory.description", "security_advisory.description"],
    ),
];

const MEMBERS: &[Field] = &[
    REPOSITORY,
    ORGANIZATION,
    Field::line("Team", &["team.name"]),
    Field::line("Permission", &["team.permission"]),
    Field::line(
        "Member",
        &["member.login", "membership.user.login", "user.login", "blocked_user.login"],
    ),
    Field::line("Role", &["membership.role", "invitation.role"]),
    EDITED,
    Field::line(
        "URL",
        &["team.html_url", "member.html_url", "membership.user.html_url", "blocked_user.html_url"],
    ),
    Field::block("Description", &["team.description"]),
];

const INSTALLATION: &[Field] = &[
    Field::line("App", &["installation.app_slug", "installation.app_id"]),
    Field::line("Account", &["installation.account.login"]),
    Field::line("Repositories", &["repository_selection", "installation.repository_selection"]),
    Field::list("These", "repositories", "full_name"),
    Field::list("Added", "repositories_added", "full_name"),
    Field::list("Removed", "repositories_removed", "full_name"),
    Field::line("URL", &["installation.html_url"]),
];

/// Most specific first.
pub(super) const SECTIONS: &[Section] = &[
    Section { of: &["pull_request"], fields: PULL_REQUEST },
    Section {
        of: &[
            "pull_request_review",
            "pull_request_review_comment",
            "pull_request_review_thread",
        ],
        fields: REVIEW,
    },
    Section { of: &["issues"], fields: ISSUE },
    Section { of: &["issue_comment"], fields: ISSUE_COMMENT },
    Section { of: &["push"], fields: PUSH },
    Section { of: &["release"], fields: RELEASE },
    Section { of: &["workflow_run", "deployment_review"], fields: WORKFLOW_RUN },
    Section { of: &["workflow_job"], fields: WORKFLOW_JOB },
    Section { of: &["check_run", "check_suite", "status"], fields: CHECK },
    Section { of: &["deployment", "deployment_status"], fields: DEPLOYMENT },
    Section { of: &["discussion", "discussion_comment"], fields: DISCUSSION },
    Section {
        of: &[
            "dependabot_alert",
            "code_scanning_alert",
            "secret_scanning_alert",
            "security_advisory",
            "repository_vulnerability_alert",
        ],
        fields: ALERT,
    },
    Section {
        of: &["member", "membership", "organization", "org_block", "team", "team_add"],
        fields: MEMBERS,
    },
    Section { of: &["installation", "installation_repositories"], fields: INSTALLATION },
    Section {
        of: &["create", "delete"],
        fields: &[
            REPOSITORY,
            Field::text("Ref", "{ref_type|'ref'} {ref}"),
            Field::line("URL", &["repository.html_url"]),
        ],
    },
    Section {
        of: &["commit_comment"],
        fields: &[
            REPOSITORY,
            Field::text("Commit", "{^comment.commit_id}"),
            Field::text("Lines", "{comment.path}:{comment.line|'?'}"),
            Field::line("URL", &["comment.html_url"]),
            Field::block("Comment", &["comment.body"]),
        ],
    },
    Section {
        of: &["gollum"],
        fields: &[REPOSITORY, Field::own(fields::pages)],
    },
    Section {
        of: &["ping"],
        fields: &[
            REPOSITORY,
            ORGANIZATION,
            Field::list("Events", "hook.events", ""),
            Field::line("Active", &["hook.active"]),
            Field::line("Zen", &["zen"]),
        ],
    },
    Section {
        of: &["fork"],
        fields: &[
            REPOSITORY,
            Field::line("Fork", &["forkee.full_name"]),
            Field::line("URL", &["forkee.html_url"]),
        ],
    },
    Section {
        of: &["workflow_dispatch", "repository_dispatch"],
        fields: &[
            REPOSITORY,
            Field::line("Workflow", &["workflow"]),
            Field::line("Event", &["action"]),
            Field::text("Branch", "{~ref|branch}"),
            Field::own(fields::inputs),
            Field::line("URL", &["repository.html_url"]),
        ],
    },
    Section {
        of: &["repository", "public", "star", "watch", "repository_import"],
        fields: &[
            REPOSITORY,
            Field::line("Private", &["repository.private"]),
            Field::line("Stars", &["repository.stargazers_count"]),
            EDITED,
            Field::line("URL", &["repository.html_url"]),
            Field::block("Description", &["repository.description"]),
        ],
    },
    Section {
        of: &["package"],
        fields: &[
            REPOSITORY,
            Field::line("Package", &["package.name"]),
            Field::line("Kind", &["package.package_type", "package.ecosystem"]),
            Field::line("Version", &["package.package_version.version"]),
            Field::line("Author", &["package.package_version.author.login"]),
            Field::line("URL", &["package.package_version.html_url", "package.html_url"]),
            Field::block("Description", &["package.description", "package.package_version.description"]),
        ],
    },
    Section {
        of: &["sponsorship"],
        fields: &[
            Field::line("Sponsor", &["sponsorship.sponsor.login"]),
            Field::line("Sponsored", &["sponsorship.sponsorable.login"]),
            Field::line("Tier", &["sponsorship.tier.name"]),
            Field::line("Tier before", &["changes.tier.from.name"]),
            Field::line("From", &["effective_date"]),
            Field::line("Private", &["changes.privacy_level.from"]),
        ],
    },
    Section {
        of: &["merge_group"],
        fields: &[
            REPOSITORY,
            Field::text("Into", "{~merge_group.base_ref}"),
            Field::text("Commit", "{^merge_group.head_sha} {%merge_group.head_commit.message|''}"),
            Field::text("Queue's branch", "{~merge_group.head_ref}"),
        ],
    },
    Section {
        of: &["marketplace_purchase"],
        fields: &[
            Field::line("Account", &["marketplace_purchase.account.login"]),
            Field::line("Plan", &["marketplace_purchase.plan.name"]),
            Field::line("Plan before", &["previous_marketplace_purchase.plan.name"]),
            Field::line("Billed", &["marketplace_purchase.billing_cycle"]),
            Field::line("Units", &["marketplace_purchase.unit_count"]),
            Field::line("On trial", &["marketplace_purchase.on_free_trial"]),
            Field::line("From", &["effective_date"]),
            Field::line("Next bill", &["marketplace_purchase.next_billing_date"]),
        ],
    },
    Section {
        of: &[],
        fields: &[REPOSITORY, ORGANIZATION, Field::own(fields::subject), EDITED],
    },
];
