//! What is shown of a payload that no table knows: its plain values by their paths, or the one object
//! that the event is about.

use super::report::{Report, first, word};
use crate::payload::{Kind, Node};

/// How deep objects are looked into.
const MAX_LEVELS: usize = 3;
/// How many values are shown.
const MAX_VALUES: usize = 40;
/// How many elements of an array are shown.
const MAX_ELEMENTS: usize = 5;
/// A text longer than this, or with more than one line, is shown below its name.
const MAX_ON_LINE: usize = 200;
/// Members that say where or by whom, not what.
const SURROUNDINGS: [&str; 6] = [
    "repository",
    "sender",
    "organization",
    "installation",
    "enterprise",
    "changes",
];

/// All plain values, from the outside inwards, until there are enough.
pub(super) fn everything(report: &mut Report, root: Node<'_>) {
    if !matches!(root.kind(), Kind::Object | Kind::Array) {
        report.block(
            "Payload",
            &word(root).unwrap_or_else(|| root.raw().to_owned()),
        );
        return;
    }
    let mut left = MAX_VALUES;
    inside(report, root, "", MAX_LEVELS, &mut left);
    if left == 0 {
        report.sentence("(The payload has more.)");
    }
    if report.is_empty() {
        report.sentence("The payload is empty.");
    }
}

/// The plain values of one object or array, then those of what is inside it.
fn inside(report: &mut Report, node: Node<'_>, path: &str, levels: usize, left: &mut usize) {
    let mut deeper = Vec::new();
    for (name, member) in members(node) {
        let name = if path.is_empty() {
            name
        } else {
            format!("{path}.{name}")
        };
        match member.kind() {
            Kind::Null => {}
            Kind::Object | Kind::Array => deeper.push((name, member)),
            _ if *left == 0 => return,
            _ => {
                *left -= 1;
                plain(report, &name, member);
            }
        }
    }
    for (name, member) in deeper {
        if *left == 0 {
            return;
        }
        if member.kind() == Kind::Array && member.items().all(|item| word(item).is_some()) {
            *left -= 1;
            report.words(&label(&name), member.items().filter_map(word));
        } else if levels > 1 {
            inside(report, member, &name, levels - 1, left);
        }
    }
}

fn members(node: Node<'_>) -> Vec<(String, Node<'_>)> {
    let elements = node.items().take(MAX_ELEMENTS).enumerate();
    let entries = node.entries().take(MAX_VALUES * 4);
    entries
        .map(|(name, member)| (name.to_owned(), member))
        .chain(elements.map(|(index, item)| (index.to_string(), item)))
        .collect()
}

fn plain(report: &mut Report, name: &str, value: Node<'_>) {
    let text = value.as_str().unwrap_or_default();
    if text.trim().contains('\n') || text.chars().nth(MAX_ON_LINE).is_some() {
        report.block(&label(name), &text);
    } else {
        report.line(&label(name), word(value));
    }
}

/// A name is the sender's text too.
fn label(name: &str) -> String {
    crate::clean::line(name, 80).unwrap_or_else(|| "(no name)".to_owned())
}

/// The object that the event is about: the first one that is not its surroundings.
pub(super) fn subject(report: &mut Report, root: Node<'_>) {
    let found = root.entries().find(|(name, member)| {
        member.kind() == Kind::Object && !SURROUNDINGS.contains(name) && !member.is_empty()
    });
    let Some((name, subject)) = found else {
        return;
    };
    let mut chars = name.replace('_', " ").chars().collect::<Vec<_>>();
    if let Some(initial) = chars.first_mut() {
        *initial = initial.to_ascii_uppercase();
    }
    let kind = label(&chars.into_iter().collect::<String>());
    let title = first(
        subject,
        &["title", "name", "login", "slug", "key", "summary", "id"],
    );
    let number = first(subject, &["number"]).map(|number| format!("#{number}"));
    let what = [number, title].into_iter().flatten().collect::<Vec<_>>();
    report.line(&kind, Some(what.join(" ")));
    report.line("State", first(subject, &["state", "status"]));
    report.line("Conclusion", first(subject, &["conclusion"]));
    report.line("URL", first(subject, &["html_url", "web_url"]));
    for text in ["description", "body", "message"] {
        if let Some(text) = subject.string(text) {
            report.block("Description", &text);
            break;
        }
    }
}
