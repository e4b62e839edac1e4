//! Repository and access events: pushes, releases, alerts, members, apps.

use super::{EDITED, ORGANIZATION, REPOSITORY};
use crate::summary::Field;
use crate::vendors::github::summary::fields;

pub(super) const PUSH: &[Field] = &[
    REPOSITORY,
    Field::own(fields::pushed_ref),
    Field::line("Pushed by", &["pusher.name", "sender.login"]),
    Field::text("Head", "{^head_commit.id}"),
    Field::text("Forced", "{!forced}yes"),
    Field::line("URL", &["compare"]),
    Field::own(fields::commits),
];

pub(super) const RELEASE: &[Field] = &[
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

pub(super) const ALERT: &[Field] = &[
    REPOSITORY,
    Field::line("Alert", &["alert.number"]),
    Field::line("State", &["alert.state"]),
    Field::line(
        "Package",
        &[
            "alert.dependency.package.name",
            "alert.affected_package_name",
        ],
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
    Field::line(
        "Secret type",
        &["alert.secret_type_display_name", "alert.secret_type"],
    ),
    Field::line("Rule", &["alert.rule.description", "alert.rule.id"]),
    Field::line("Tool", &["alert.tool.name"]),
    Field::text("Branch", "{~ref}"),
    Field::line(
        "Summary",
        &[
            "alert.security_advisory.summary",
            "security_advisory.summary",
        ],
    ),
    Field::line(
        "Advisory",
        &[
            "alert.security_advisory.ghsa_id",
            "security_advisory.ghsa_id",
            "alert.ghsa_id",
        ],
    ),
    Field::line(
        "CVE",
        &[
            "alert.security_advisory.cve_id",
            "alert.external_identifier",
        ],
    ),
    Field::line(
        "Affected",
        &[
            "alert.security_vulnerability.vulnerable_version_range",
            "alert.affected_range",
        ],
    ),
    Field::line(
        "Fixed in",
        &[
            "alert.security_vulnerability.first_patched_version.identifier",
            "alert.fixed_in",
        ],
    ),
    Field::list(
        "Packages",
        "security_advisory.vulnerabilities",
        "package.name",
    ),
    Field::line(
        "Dismissed because",
        &["alert.dismissed_reason", "alert.dismiss_reason"],
    ),
    Field::line("URL", &["alert.html_url", "alert.external_reference"]),
    Field::block(
        "Description",
        &[
            "alert.security_advisory.description",
            "security_advisory.description",
        ],
    ),
];

pub(super) const MEMBERS: &[Field] = &[
    REPOSITORY,
    ORGANIZATION,
    Field::line("Team", &["team.name"]),
    Field::line("Permission", &["team.permission"]),
    Field::line(
        "Member",
        &[
            "member.login",
            "membership.user.login",
            "user.login",
            "blocked_user.login",
        ],
    ),
    Field::line("Role", &["membership.role", "invitation.role"]),
    EDITED,
    Field::line(
        "URL",
        &[
            "team.html_url",
            "member.html_url",
            "membership.user.html_url",
            "blocked_user.html_url",
        ],
    ),
    Field::block("Description", &["team.description"]),
];

pub(super) const INSTALLATION: &[Field] = &[
    Field::line("App", &["installation.app_slug", "installation.app_id"]),
    Field::line("Account", &["installation.account.login"]),
    Field::line(
        "Repositories",
        &["repository_selection", "installation.repository_selection"],
    ),
    Field::list("These", "repositories", "full_name"),
    Field::list("Added", "repositories_added", "full_name"),
    Field::list("Removed", "repositories_removed", "full_name"),
    Field::line("URL", &["installation.html_url"]),
];
