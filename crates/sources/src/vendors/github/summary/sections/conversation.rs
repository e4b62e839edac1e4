//! Conversation events: pull requests, reviews, issues, discussions.

use super::{EDITED, REPOSITORY};
use crate::summary::Field;
use crate::vendors::github::summary::fields;

pub(super) const PULL_REQUEST: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Pull request",
        "#{number|pull_request.number} {pull_request.title|'(no title)'}",
    ),
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

/// Fields of a review, shown before the fields of its pull request.
pub(super) const REVIEW: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Pull request",
        "#{pull_request.number} {pull_request.title|'(no title)'}",
    ),
    Field::line("Author", &["pull_request.user.login"]),
    Field::own(fields::branches),
    Field::line("Draft", &["pull_request.draft"]),
    Field::line("Review", &["review.state"]),
    Field::line("Reviewer", &["review.user.login"]),
    Field::line("Commented by", &["comment.user.login"]),
    Field::text(
        "Lines",
        "{comment.path}:{comment.line|comment.original_line|comment.position|'?'}",
    ),
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
    Field::block(
        "Text",
        &["review.body", "comment.body", "thread.comments.0.body"],
    ),
    Field::block("Code", &["comment.diff_hunk"]),
];

pub(super) const ISSUE: &[Field] = &[
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

pub(super) const ISSUE_COMMENT: &[Field] = &[
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

pub(super) const DISCUSSION: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Discussion",
        "#{discussion.number} {discussion.title|'(no title)'}",
    ),
    Field::line("Category", &["discussion.category.name"]),
    Field::line("Author", &["discussion.user.login"]),
    Field::line("State", &["discussion.state"]),
    Field::line("Commented by", &["comment.user.login"]),
    Field::line(
        "URL",
        &["comment.html_url", "answer.html_url", "discussion.html_url"],
    ),
    EDITED,
    Field::block("Comment", &["comment.body"]),
    Field::block("Answer", &["answer.body"]),
    Field::block("Description", &["discussion.body"]),
];
