//! The event types that GitHub documents: docs.github.com, "Webhook events and payloads".

use crate::profile::{EventType, event};

/// Those offered for filters.
pub(super) const EVENTS: &[EventType] = &[
    event("pull_request.opened", "A pull request was opened"),
    event("pull_request.synchronize", "A pull request got new commits"),
    event("pull_request.closed", "A pull request was merged or closed"),
    event("push", "Commits or a tag were pushed"),
    event("issues.opened", "An issue was opened"),
    event(
        "issue_comment.created",
        "Someone commented on an issue or a pull request",
    ),
    event(
        "pull_request_review.submitted",
        "Someone reviewed a pull request",
    ),
    event("release.published", "A release was published"),
    event("workflow_run.completed", "A workflow run ended"),
];

/// The others.
pub(super) const MORE_EVENTS: &[EventType] = &[
    event("pull_request.reopened", "A pull request was opened again"),
    event(
        "pull_request.edited",
        "A pull request's title, description or base changed",
    ),
    event(
        "pull_request.ready_for_review",
        "A draft is ready for review",
    ),
    event(
        "pull_request.converted_to_draft",
        "A pull request became a draft",
    ),
    event(
        "pull_request.review_requested",
        "Someone was asked for a review",
    ),
    event("pull_request.assigned", "A pull request was assigned"),
    event("pull_request.labeled", "A pull request got a label"),
    event("pull_request.unlabeled", "A pull request lost a label"),
    event("pull_request_review.dismissed", "A review was dismissed"),
    event(
        "pull_request_review_comment.created",
        "Someone commented on lines of a pull request",
    ),
    event(
        "pull_request_review_thread.resolved",
        "A review's thread was resolved",
    ),
    event(
        "pull_request_review_thread.unresolved",
        "A review's thread was opened again",
    ),
    event("issues.closed", "An issue was closed"),
    event("issues.reopened", "An issue was opened again"),
    event("issues.edited", "An issue's title or text changed"),
    event("issues.assigned", "An issue was assigned"),
    event("issues.unassigned", "An issue is no longer assigned"),
    event("issues.labeled", "An issue got a label"),
    event("issues.unlabeled", "An issue lost a label"),
    event("issues.milestoned", "An issue was put on a milestone"),
    event("issues.transferred", "An issue moved to another repository"),
    event("issues.deleted", "An issue was deleted"),
    event("issue_comment.edited", "A comment was changed"),
    event("issue_comment.deleted", "A comment was deleted"),
    event("commit_comment.created", "Someone commented on a commit"),
    event("create", "A branch or tag was made"),
    event("delete", "A branch or tag was deleted"),
    event("release.created", "A release or its draft was made"),
    event(
        "release.released",
        "A release or pre-release became current",
    ),
    event("release.prereleased", "A pre-release was published"),
    event("release.edited", "A release was changed"),
    event("release.deleted", "A release was deleted"),
    event("workflow_run.requested", "A workflow run was asked for"),
    event("workflow_run.in_progress", "A workflow run began"),
    event(
        "workflow_job.queued",
        "A job of a workflow waits for a runner",
    ),
    event("workflow_job.in_progress", "A job of a workflow began"),
    event("workflow_job.completed", "A job of a workflow ended"),
    event("workflow_dispatch", "Someone started a workflow by hand"),
    event("check_run.created", "A check was begun"),
    event("check_run.completed", "A check ended"),
    event("check_suite.completed", "All checks of a commit ended"),
    event("status", "A commit's status changed"),
    event("deployment.created", "A deployment was begun"),
    event("deployment_status.created", "A deployment's status changed"),
    event(
        "merge_group.checks_requested",
        "The merge queue asks for checks",
    ),
    event("discussion.created", "A discussion was begun"),
    event("discussion.answered", "A discussion has an answer"),
    event(
        "discussion_comment.created",
        "Someone commented on a discussion",
    ),
    event(
        "dependabot_alert.created",
        "A dependency has a known vulnerability",
    ),
    event(
        "dependabot_alert.fixed",
        "A vulnerable dependency was fixed",
    ),
    event(
        "code_scanning_alert.created",
        "Code scanning found something",
    ),
    event(
        "code_scanning_alert.fixed",
        "What code scanning found was fixed",
    ),
    event(
        "secret_scanning_alert.created",
        "A secret was found in the code",
    ),
    event(
        "security_advisory.published",
        "A security advisory was published",
    ),
    event(
        "repository_vulnerability_alert.create",
        "A dependency has a known vulnerability",
    ),
    event(
        "branch_protection_rule.edited",
        "A branch's protection changed",
    ),
    event("repository.created", "A repository was made"),
    event("repository.deleted", "A repository was deleted"),
    event("repository.archived", "A repository was archived"),
    event("repository.renamed", "A repository was renamed"),
    event("repository.publicized", "A repository became public"),
    event("repository.privatized", "A repository became private"),
    event("repository_dispatch", "Something outside started an event"),
    event("public", "A repository became public"),
    event("fork", "Someone forked the repository"),
    event("star.created", "Someone starred the repository"),
    event("star.deleted", "Someone took a star back"),
    event("watch.started", "Someone starred the repository"),
    event("gollum", "Wiki pages were changed"),
    event("label.created", "A label was made"),
    event("milestone.created", "A milestone was made"),
    event("milestone.closed", "A milestone was closed"),
    event("member.added", "Someone became a collaborator"),
    event(
        "organization.member_added",
        "Someone joined the organization",
    ),
    event(
        "organization.member_removed",
        "Someone left the organization",
    ),
    event("team.created", "A team was made"),
    event("installation.created", "An app was installed"),
    event("installation.deleted", "An app was removed"),
    event("package.published", "A package was published"),
    event("page_build", "A site was built"),
    event("projects_v2_item.edited", "An item of a project changed"),
    event("sponsorship.created", "Someone became a sponsor"),
    event("meta.deleted", "This webhook was deleted at the code host"),
    event("ping", "The webhook was set up"),
];
