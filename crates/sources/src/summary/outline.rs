//! Renders a payload without a table: its scalar values by path, or the object that the event is about.

use super::report::{Report, first, word};
use crate::payload::{Kind, Node};

/// Maximum nesting depth.
const MAX_LEVELS: usize = 3;
/// Maximum number of values shown.
const MAX_VALUES: usize = 40;
/// Maximum number of array elements shown.
const MAX_ELEMENTS: usize = 5;
/// Maximum length of a text on the line of its name. Longer or multi-line texts are shown below their name.
const MAX_ON_LINE: usize = 200;
/// Members that describe the context of an event rather than its subject.
const SURROUNDINGS: [&str; 6] = [
    "repository",
    "sender",
    "organization",
    "installation",
    "enterprise",
    "changes",
];

/// Shows scalar values, outermost first, up to [`MAX_VALUES`].
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

/// Shows the scalar values of an object or array, followed by the values of its children.
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

/// Cleans a name, because it comes from the sender.
fn label(name: &str) -> String {
    crate::clean::line(name, 80).unwrap_or_else(|| "(no name)".to_owned())
}

/// Shows the object that the event is about: the first one that is not in [`SURROUNDINGS`].
pub(crate) fn subject(report: &mut Report, root: Node<'_>) {
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
