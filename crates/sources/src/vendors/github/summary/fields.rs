//! Fields of GitHub summaries that need code instead of a table entry.

use crate::payload::{Kind, Node};
use crate::summary::field::{short_id, short_ref};
use crate::summary::report::{Report, at, count, first, is_true, number, word};

/// Members of `changes` that contain the old or new location of something that moved.
const MOVES: [&str; 8] = [
    "old_issue",
    "old_repository",
    "new_issue",
    "new_repository",
    "new_discussion",
    "owner",
    "repository",
    "tier",
];

/// Shows the head and base branches of a pull request. For a fork, includes the owner.
pub(super) fn branches(report: &mut Report, root: Node<'_>) {
    let repository = |side: &str| at(root, &format!("pull_request.{side}.repo.full_name"));
    let from_elsewhere = repository("head").is_some() && repository("head") != repository("base");
    let head = if from_elsewhere {
        first(root, &["pull_request.head.label", "pull_request.head.ref"])
    } else {
        at(root, "pull_request.head.ref")
    };
    let sides = [head, at(root, "pull_request.base.ref")];
    let known: Vec<String> = sides.into_iter().flatten().collect();
    report.line("Branch", Some(known.join(" → ")));
}

/// Shows the state of a pull request: open, closed, or merged, with the person who merged it.
pub(super) fn state(report: &mut Report, root: Node<'_>) {
    let merged_by = at(root, "pull_request.merged_by.login");
    let state = if is_true(root, "pull_request.merged") {
        Some(merged_by.map_or_else(|| "merged".to_owned(), |who| format!("merged by {who}")))
    } else {
        at(root, "pull_request.state")
    };
    report.line("State", state);
}

/// Shows the size of a pull request: files, lines and commits.
pub(super) fn changes(report: &mut Report, root: Node<'_>) {
    let of = |name: &str| number(root, &format!("pull_request.{name}"));
    let files = of("changed_files").map(|files| count(files, "changed file", "changed files"));
    let lines = match (of("additions"), of("deletions")) {
        (Some(added), Some(removed)) => Some(format!("+{added} −{removed}")),
        _ => None,
    };
    let commits = of("commits").map(|commits| count(commits, "commit", "commits"));
    let known: Vec<String> = [files, lines, commits].into_iter().flatten().collect();
    report.line("Changes", Some(known.join(", ")));
}

/// Shows the old and new head commit after a push to a pull request.
pub(super) fn moved(report: &mut Report, root: Node<'_>) {
    if let (Some(before), Some(after)) = (at(root, "before"), at(root, "after")) {
        let moved = format!("{} → {}", short_id(&before), short_id(&after));
        report.line("Head", Some(moved));
    }
}

/// Shows the old and new values of the edited fields.
pub(super) fn edited(report: &mut Report, root: Node<'_>) {
    let Some(changes) = root.at("changes") else {
        return;
    };
    for (name, change) in changes.entries() {
        // The sentence already mentions the move.
        if MOVES.contains(&name) {
            continue;
        }
        let said = match (side(change, "from"), side(change, "to")) {
            (Some(before), Some(after)) => format!("{before} → {after}"),
            (Some(before), None) => format!("was {before}"),
            (None, Some(after)) => format!("now {after}"),
            (None, None) => first(change, &["field_name", "field_type", "name"])
                .unwrap_or_else(|| "yes".to_owned()),
        };
        let label = format!("Changed {}", name.replace('_', " "));
        report.line(
            &crate::clean::line(&label, 80).unwrap_or_default(),
            Some(said),
        );
    }
}

fn side(change: Node<'_>, side: &str) -> Option<String> {
    let value = change.at(side)?;
    match value.kind() {
        Kind::Null => None,
        Kind::Array if value.is_empty() => Some("none".to_owned()),
        Kind::Array => {
            let words: Vec<String> = value.items().filter_map(word).take(20).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        Kind::Object => first(value, &["name", "title", "login", "user.login"]),
        Kind::String | Kind::Number | Kind::Bool => {
            Some(word(value).unwrap_or_else(|| "empty".to_owned()))
        }
    }
}

/// Shows the commits of a push: ID, first line of the message, author.
pub(super) fn commits(report: &mut Report, root: Node<'_>) {
    let Some(commits) = root.at("commits") else {
        return;
    };
    let listed = commits.items().map(|commit| {
        let id = at(commit, "id").map(|id| short_id(&id)).unwrap_or_default();
        let message = commit.string("message").unwrap_or_default();
        let title = message.lines().next().unwrap_or_default().to_owned();
        let author = first(commit, &["author.username", "author.name"]);
        let author = author
            .map(|author| format!(" ({author})"))
            .unwrap_or_default();
        format!("{id} {title}{author}")
    });
    report.items("Commits", listed, None);
    let files = |kind: &str| {
        let lists = commits.items().filter_map(|commit| commit.at(kind));
        u64::try_from(lists.map(Node::len).sum::<usize>()).unwrap_or_default()
    };
    let listed = [
        ("added", "added"),
        ("modified", "changed"),
        ("removed", "removed"),
    ]
    .map(|(kind, word)| (files(kind), word))
    .into_iter()
    .filter(|(files, _)| *files > 0)
    .map(|(files, word)| format!("{files} {word}"));
    report.words("Files", listed);
}

pub(super) fn pushed_ref(report: &mut Report, root: Node<'_>) {
    let Some(name) = at(root, "ref") else {
        return;
    };
    let kind = if name.starts_with("refs/tags/") {
        "Tag"
    } else {
        "Branch"
    };
    report.line(kind, Some(short_ref(&name).to_owned()));
}

/// Shows the changed pages of a wiki.
pub(super) fn pages(report: &mut Report, root: Node<'_>) {
    let Some(pages) = root.at("pages") else {
        return;
    };
    let listed = pages.items().map(|page| {
        let title = first(page, &["title", "page_name"]).unwrap_or_default();
        let action = at(page, "action").unwrap_or_default();
        format!(
            "{title} {action}: {}",
            at(page, "html_url").unwrap_or_default()
        )
    });
    report.items("Pages", listed, None);
}

pub(super) fn failed_steps(report: &mut Report, root: Node<'_>) {
    let Some(steps) = root.at("workflow_job.steps") else {
        return;
    };
    let failed = steps
        .items()
        .filter(|step| at(*step, "conclusion").is_some_and(|end| end == "failure"))
        .filter_map(|step| at(step, "name"));
    report.words("Failed steps", failed);
}

/// Shows the object that the event is about.
pub(super) fn subject(report: &mut Report, root: Node<'_>) {
    crate::summary::outline::subject(report, root);
}

/// Shows the inputs of a manually started workflow.
pub(super) fn inputs(report: &mut Report, root: Node<'_>) {
    for of in ["inputs", "client_payload"] {
        if let Some(inputs) = root.at(of) {
            let listed = inputs.entries().map(|(name, value)| {
                let value =
                    crate::summary::report::word(value).unwrap_or_else(|| value.compact(200));
                format!("{name}: {value}")
            });
            report.items("Inputs", listed, None);
        }
    }
}
