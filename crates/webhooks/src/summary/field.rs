//! The table of a summary: sentences and fields by event, and how one field is written.

use super::report::{MAX_LINE_CHARS, Report, at, count, first, word};
use crate::clean;
use crate::payload::Node;
use crate::profile::in_family;

/// How a profile's events are told.
#[derive(Debug)]
pub struct Summary {
    /// In groups: what happened, by event type, family or, with an empty name, any event. The most specific one
    /// whose `{parts}` are all there; what a part may be stands at `fill`.
    pub sentences: &'static [&'static [(&'static str, &'static str)]],
    /// What is worth knowing; the first section that fits. None fits: an outline of the payload.
    pub sections: &'static [Section],
}

/// What is worth knowing of some events.
#[derive(Debug)]
pub struct Section {
    /// Event types or families; empty: any.
    pub of: &'static [&'static str],
    /// In this order.
    pub fields: &'static [Field],
}

/// One thing worth knowing.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    label: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Line(&'static [&'static str]),
    Text(&'static str),
    Block(&'static [&'static str]),
    List(&'static str, &'static str),
    Keys(&'static str),
    Own(fn(&mut Report, Node<'_>)),
}

impl Field {
    /// The first of these paths that says something.
    pub const fn line(label: &'static str, paths: &'static [&'static str]) -> Self {
        let kind = Kind::Line(paths);
        Self { label, kind }
    }

    /// A text with `{paths}`, as in a sentence; nothing, if a part is missing.
    pub const fn text(label: &'static str, template: &'static str) -> Self {
        let kind = Kind::Text(template);
        Self { label, kind }
    }

    /// The first of these paths that has text, below the label and with its lines.
    pub const fn block(label: &'static str, paths: &'static [&'static str]) -> Self {
        let kind = Kind::Block(paths);
        Self { label, kind }
    }

    /// What the elements of an array say, or a member of each.
    pub const fn list(label: &'static str, path: &'static str, member: &'static str) -> Self {
        let kind = Kind::List(path, member);
        Self { label, kind }
    }

    /// The names of an object's members.
    pub const fn keys(label: &'static str, path: &'static str) -> Self {
        let kind = Kind::Keys(path);
        Self { label, kind }
    }

    /// What needs more than a table.
    pub(crate) const fn own(write: fn(&mut Report, Node<'_>)) -> Self {
        let kind = Kind::Own(write);
        Self { label: "", kind }
    }

    pub(super) fn write(self, report: &mut Report, root: Node<'_>) {
        match self.kind {
            Kind::Line(paths) => report.line(self.label, first(root, paths)),
            Kind::Text(template) => report.line(self.label, fill(template, root)),
            Kind::Block(paths) => {
                let text = paths
                    .iter()
                    .filter_map(|path| root.string(path))
                    .find(|text| !text.trim().is_empty());
                if let Some(text) = text {
                    report.block(self.label, &text);
                }
            }
            Kind::List(path, member) => {
                if let Some(list) = root.at(path) {
                    let item = |node: Node<'_>| {
                        if member.is_empty() {
                            word(node)
                        } else {
                            at(node, member)
                        }
                    };
                    report.words(self.label, list.items().filter_map(item));
                }
            }
            Kind::Keys(path) => {
                if let Some(object) = root.at(path) {
                    report.words(self.label, object.entries().map(|(key, _)| key.to_owned()));
                }
            }
            Kind::Own(write) => write(report, root),
        }
    }
}

/// The entries that fit an event: its own, its family's from the longest name on, those for any.
pub(super) fn most_specific<'t, T: 't>(
    entries: impl Iterator<Item = &'t T>,
    event: &str,
    name: impl Fn(&T) -> &'static str,
) -> impl Iterator<Item = &'t T> {
    let mut fitting: Vec<(usize, &T)> = entries
        .map(|entry| (name(entry), entry))
        .filter(|(name, _)| name.is_empty() || in_family(event, name))
        .map(|(name, entry)| (name.len(), entry))
        .collect();
    fitting.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    fitting.into_iter().map(|(_, entry)| entry)
}

/// Puts what the payload says in place of `{parts}`; none, if a part is missing. A part is paths and a
/// last `'text'` with `|` between, the first that says something. Before a path: `~` leaves the
/// beginning of a ref away, `^` shortens a commit's id, `%`
/// takes the first line, `#list:one:many` counts a list, `!` is
/// empty text where there is something else than false or null, and `-` where there is not.
pub(super) fn fill(template: &str, root: Node<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (choice, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&choice.split('|').find_map(|part| say(part, root))?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn say(part: &str, root: Node<'_>) -> Option<String> {
    let mut chars = part.chars();
    match chars.next()? {
        '\'' => Some(chars.as_str().trim_end_matches('\'').to_owned()),
        '~' => at(root, chars.as_str()).map(|name| short_ref(&name).to_owned()),
        '%' => {
            let text = root.string(chars.as_str())?;
            clean::line(text.trim().lines().next()?, MAX_LINE_CHARS)
        }
        '^' => at(root, chars.as_str()).map(|id| short_id(&id)),
        '!' => is_there(root, chars.as_str()).then(String::new),
        '-' => (!is_there(root, chars.as_str())).then(String::new),
        '#' => {
            let mut words = chars.as_str().split(':');
            let list = root.at(words.next()?).map_or(0, Node::len);
            let number = u64::try_from(list).ok()?;
            Some(count(number, words.next()?, words.next()?))
        }
        _ => at(root, part),
    }
}

/// Whether there is something else than null or false at a path.
fn is_there(root: Node<'_>, path: &str) -> bool {
    root.at(path)
        .is_some_and(|found| !found.is_null() && found.as_bool() != Some(false))
}

/// A branch's or tag's name without what Git puts before it.
pub(super) fn short_ref(name: &str) -> &str {
    ["refs/heads/", "refs/tags/"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

/// As much of a commit's id as people need.
pub(super) fn short_id(id: &str) -> String {
    id.chars().take(10).collect()
}
