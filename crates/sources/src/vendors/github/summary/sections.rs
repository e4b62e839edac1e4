//! The fields to show for each event type.

mod conversation;
mod repository;
mod runs;

use super::fields;
use crate::summary::{Field, Section};

const REPOSITORY: Field = Field::line("Repository", &["repository.full_name"]);
const ORGANIZATION: Field = Field::line("Organization", &["organization.login"]);
const EDITED: Field = Field::own(fields::edited);

/// The sections, most specific first.
pub(super) const SECTIONS: &[Section] = &[
    Section {
        of: &["pull_request"],
        fields: conversation::PULL_REQUEST,
    },
    Section {
        of: &[
            "pull_request_review",
            "pull_request_review_comment",
            "pull_request_review_thread",
        ],
        fields: conversation::REVIEW,
    },
    Section {
        of: &["issues"],
        fields: conversation::ISSUE,
    },
    Section {
        of: &["issue_comment"],
        fields: conversation::ISSUE_COMMENT,
    },
    Section {
        of: &["push"],
        fields: repository::PUSH,
    },
    Section {
        of: &["release"],
        fields: repository::RELEASE,
    },
    Section {
        of: &["workflow_run", "deployment_review"],
        fields: runs::WORKFLOW_RUN,
    },
    Section {
        of: &["workflow_job"],
        fields: runs::WORKFLOW_JOB,
    },
    Section {
        of: &["check_run", "check_suite", "status"],
        fields: runs::CHECK,
    },
    Section {
        of: &["deployment", "deployment_status"],
        fields: runs::DEPLOYMENT,
    },
    Section {
        of: &["discussion", "discussion_comment"],
        fields: conversation::DISCUSSION,
    },
    Section {
        of: &[
            "dependabot_alert",
            "code_scanning_alert",
            "secret_scanning_alert",
            "security_advisory",
            "repository_vulnerability_alert",
        ],
        fields: repository::ALERT,
    },
    Section {
        of: &[
            "member",
            "membership",
            "organization",
            "org_block",
            "team",
            "team_add",
        ],
        fields: repository::MEMBERS,
    },
    Section {
        of: &["installation", "installation_repositories"],
        fields: repository::INSTALLATION,
    },
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
            Field::line(
                "URL",
                &["package.package_version.html_url", "package.html_url"],
            ),
            Field::block(
                "Description",
                &["package.description", "package.package_version.description"],
            ),
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
            Field::text(
                "Commit",
                "{^merge_group.head_sha} {%merge_group.head_commit.message|''}",
            ),
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
        fields: &[
            REPOSITORY,
            ORGANIZATION,
            Field::own(fields::subject),
            EDITED,
        ],
    },
];
