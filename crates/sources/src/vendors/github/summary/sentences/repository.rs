//! Repository and access events: pushes, releases, alerts, members, apps.

use super::who;

pub(super) const REPOSITORY: &[(&str, &str)] = &[
    who!("push", "{!deleted}deleted {~ref}"),
    who!(
        "push",
        "{!forced}force-pushed {#commits:commit:commits} to {~ref}"
    ),
    who!("push", "{!created}{-commits.0}made {~ref}"),
    who!(
        "push",
        "{!created}made {~ref} with {#commits:commit:commits}"
    ),
    who!("push", "pushed {#commits:commit:commits} to {~ref}"),
    who!("create", "made the {ref_type|'ref'} {ref}"),
    who!("delete", "deleted the {ref_type|'ref'} {ref}"),
    who!(
        "fork",
        "forked {repository.full_name} to {forkee.full_name}"
    ),
    who!("star.created", "starred {repository.full_name}"),
    who!(
        "star.deleted",
        "removed the star from {repository.full_name}"
    ),
    who!("watch", "starred {repository.full_name}"),
    who!("public", "made {repository.full_name} public"),
    who!("gollum", "changed the wiki"),
    who!(
        "release",
        "{action|'changed'} the release {release.name|release.tag_name}"
    ),
    who!(
        "release.released",
        "made {release.name|release.tag_name} the current release"
    ),
    who!(
        "release.prereleased",
        "published the pre-release {release.name|release.tag_name}"
    ),
    ("ping", "The code host confirms that the webhook is set up."),
    who!("meta.deleted", "deleted this webhook at the code host"),
    who!("label", "{action|'changed'} the label {label.name}"),
    who!(
        "milestone",
        "{action|'changed'} the milestone {milestone.title}"
    ),
    who!(
        "deploy_key",
        "{action|'changed'} the deploy key {key.title}"
    ),
    who!(
        "branch_protection_rule",
        "{action|'changed'} the protection of {rule.name}"
    ),
    (
        "dependabot_alert",
        "The alert #{alert.number} about {alert.dependency.package.name|'a dependency'} was {action|'changed'}.",
    ),
    (
        "code_scanning_alert",
        "The code scanning alert #{alert.number} was {action|'changed'}.",
    ),
    who!(
        "code_scanning_alert.closed_by_user",
        "closed the code scanning alert #{alert.number}"
    ),
    who!(
        "code_scanning_alert.reopened_by_user",
        "reopened the code scanning alert #{alert.number}"
    ),
    (
        "secret_scanning_alert",
        "The secret scanning alert #{alert.number} was {action|'changed'}.",
    ),
    (
        "repository_vulnerability_alert.create",
        "The dependency {alert.affected_package_name|'(unknown)'} has a known vulnerability.",
    ),
    who!(
        "repository_vulnerability_alert.dismiss",
        "dismissed the vulnerability alert about {alert.affected_package_name|'a dependency'}"
    ),
    (
        "repository_vulnerability_alert.resolve",
        "The vulnerability alert about {alert.affected_package_name|'a dependency'} is resolved.",
    ),
    (
        "security_advisory",
        "The security advisory {security_advisory.ghsa_id} was {action|'changed'}.",
    ),
    who!(
        "repository",
        "{action|'changed'} the repository {repository.full_name}"
    ),
    who!(
        "repository.renamed",
        "renamed {changes.repository.name.from|'a repository'} to {repository.full_name}"
    ),
    who!(
        "repository.transferred",
        "moved {repository.full_name} here from {changes.owner.from.user.login|changes.owner.from.organization.login|'another owner'}"
    ),
    who!(
        "repository.publicized",
        "made the repository {repository.full_name} public"
    ),
    who!(
        "repository.privatized",
        "made the repository {repository.full_name} private"
    ),
    (
        "repository_import",
        "The import into {repository.full_name} ended: {status|'unknown'}.",
    ),
    who!(
        "member",
        "{action|'changed'} {member.login} as a collaborator"
    ),
    who!("member.edited", "changed the permissions of {member.login}"),
    who!(
        "membership",
        "{action|'changed'} {member.login} as a member of the team {team.name|'(deleted)'}"
    ),
    who!(
        "organization",
        "{action|'changed'} the organization {organization.login}"
    ),
    who!(
        "organization.member_added",
        "added {membership.user.login} to the organization {organization.login}"
    ),
    who!(
        "organization.member_removed",
        "removed {membership.user.login} from the organization {organization.login}"
    ),
    who!(
        "organization.member_invited",
        "invited {user.login|invitation.login|invitation.email|'someone'} to the organization {organization.login}"
    ),
    who!(
        "organization.renamed",
        "renamed the organization {organization.login}"
    ),
    who!("org_block", "{action|'changed'} {blocked_user.login}"),
    who!("team", "{action|'changed'} the team {team.name}"),
    who!(
        "team.added_to_repository",
        "gave the team {team.name} access to {repository.full_name|'a repository'}"
    ),
    who!(
        "team.removed_from_repository",
        "removed access to {repository.full_name|'a repository'} from the team {team.name}"
    ),
    who!(
        "team_add",
        "gave the team {team.name} access to {repository.full_name}"
    ),
    who!(
        "installation",
        "{action|'changed'} the installation of the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "installation.created",
        "installed the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "installation.deleted",
        "removed the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "installation.suspend",
        "suspended the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "installation.unsuspend",
        "unsuspended the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "installation.new_permissions_accepted",
        "gave the app {installation.app_slug|installation.app_id|'(unknown)'} new permissions"
    ),
    who!(
        "installation_repositories",
        "{action|'changed'} repositories of the app {installation.app_slug|installation.app_id|'(unknown)'}"
    ),
    who!(
        "github_app_authorization.revoked",
        "revoked the authorization of the app"
    ),
    who!("package", "{action|'changed'} the package {package.name}"),
    who!(
        "marketplace_purchase",
        "{action|'changed'} the plan {marketplace_purchase.plan.name}"
    ),
    who!("project", "{action|'changed'} the project {project.name}"),
    who!(
        "project_column",
        "{action|'changed'} the project column {project_column.name}"
    ),
    who!("project_card", "{action|'changed'} a card of a project"),
    who!(
        "projects_v2_item",
        "{action|'changed'} an item ({projects_v2_item.content_type|'unknown kind'}) of a project"
    ),
    who!("sponsorship", "{action|'changed'} a sponsorship"),
    who!(
        "sponsorship.created",
        "sponsors {sponsorship.sponsorable.login} ({sponsorship.tier.name})"
    ),
    who!(
        "sponsorship.pending_tier_change",
        "will change the sponsorship of {sponsorship.sponsorable.login}"
    ),
    who!("", "{action|'did something'}"),
];
