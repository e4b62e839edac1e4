//! Conversation events: pull requests, reviews, issues, discussions.

use super::who;

pub(super) const CONVERSATION: &[(&str, &str)] = &[
    who!(
        "pull_request",
        "{action|'changed'} pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.closed",
        "{!pull_request.merged}merged pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.synchronize",
        "pushed new commits to pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.ready_for_review",
        "marked pull request #{number|pull_request.number} as ready for review"
    ),
    who!(
        "pull_request.converted_to_draft",
        "made pull request #{number|pull_request.number} a draft again"
    ),
    who!(
        "pull_request.review_requested",
        "asked {requested_reviewer.login|requested_team.name|'someone'} to review pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.review_request_removed",
        "no longer asks {requested_reviewer.login|requested_team.name|'someone'} to review pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.assigned",
        "assigned pull request #{number|pull_request.number} to {assignee.login|'someone'}"
    ),
    who!(
        "pull_request.unassigned",
        "unassigned {assignee.login|'someone'} from pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.labeled",
        "added the label {label.name} to pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.unlabeled",
        "removed the label {label.name} from pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.auto_merge_enabled",
        "enabled auto-merge for pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.auto_merge_disabled",
        "disabled auto-merge for pull request #{number|pull_request.number}"
    ),
    who!(
        "pull_request.enqueued",
        "added pull request #{number|pull_request.number} to the merge queue"
    ),
    who!(
        "pull_request.dequeued",
        "removed pull request #{number|pull_request.number} from the merge queue"
    ),
    who!(
        "pull_request_review",
        "changed a review of pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review.submitted",
        "reviewed pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review.dismissed",
        "dismissed a review of pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review.edited",
        "edited a review of pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review_comment",
        "{action|'changed'} a comment on lines of pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review_comment.created",
        "commented on lines of pull request #{pull_request.number}"
    ),
    who!(
        "pull_request_review_thread",
        "{action|'changed'} a review's thread on pull request #{pull_request.number}"
    ),
    who!("issues", "{action|'changed'} issue #{issue.number}"),
    who!(
        "issues.assigned",
        "assigned issue #{issue.number} to {assignee.login|'someone'}"
    ),
    who!(
        "issues.unassigned",
        "unassigned {assignee.login|'someone'} from issue #{issue.number}"
    ),
    who!(
        "issues.labeled",
        "added the label {label.name} to issue #{issue.number}"
    ),
    who!(
        "issues.unlabeled",
        "removed the label {label.name} from issue #{issue.number}"
    ),
    who!(
        "issues.milestoned",
        "added issue #{issue.number} to the milestone {milestone.title|issue.milestone.title|'(no title)'}"
    ),
    who!(
        "issues.demilestoned",
        "removed issue #{issue.number} from the milestone {milestone.title|'(no title)'}"
    ),
    who!(
        "issues.opened",
        "{!changes.old_issue}moved issue #{changes.old_issue.number|'(unknown)'} of {changes.old_repository.full_name|'another repository'} here"
    ),
    who!(
        "issues.transferred",
        "moved issue #{issue.number} to {changes.new_repository.full_name|'another repository'}"
    ),
    who!(
        "issue_comment.created",
        "{!issue.pull_request}commented on pull request #{issue.number}"
    ),
    who!(
        "issue_comment",
        "{!issue.pull_request}{action|'changed'} a comment on pull request #{issue.number}"
    ),
    who!(
        "issue_comment",
        "{action|'changed'} a comment on issue #{issue.number}"
    ),
    who!(
        "issue_comment.created",
        "commented on issue #{issue.number}"
    ),
    who!(
        "commit_comment",
        "{action|'made'} a comment on commit {^comment.commit_id}"
    ),
    who!(
        "commit_comment.created",
        "commented on commit {^comment.commit_id}"
    ),
    who!(
        "discussion.created",
        "began discussion #{discussion.number}"
    ),
    who!(
        "discussion.category_changed",
        "moved discussion #{discussion.number} to {discussion.category.name|'another category'}"
    ),
    who!(
        "discussion.transferred",
        "moved discussion #{discussion.number} to {changes.new_repository.full_name|'another repository'}"
    ),
    who!(
        "discussion.labeled",
        "added the label {label.name} to discussion #{discussion.number}"
    ),
    who!(
        "discussion.unlabeled",
        "removed the label {label.name} from discussion #{discussion.number}"
    ),
    who!(
        "discussion.answered",
        "chose an answer for discussion #{discussion.number}"
    ),
    who!(
        "discussion.unanswered",
        "removed the answer of discussion #{discussion.number}"
    ),
    who!(
        "discussion_comment",
        "{action|'changed'} a comment on discussion #{discussion.number}"
    ),
    who!(
        "discussion_comment.created",
        "commented on discussion #{discussion.number}"
    ),
];
