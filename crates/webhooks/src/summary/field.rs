//! The table of a summary: sentences and fields by event, and how one field is written.

use super::report::{Report, at, first, word};
use crate::payload::Node;
use crate::profile::in_family;

/// How a profile's events are told.
#[derive(Debug)]
pub struct Summary {
    /// What happened, by event type, family or, with an empty name, any event. The most specific one
    /// whose parts are all there. `{a.b|c.d|'text'}`: the first path that says something, or the text.
    pub sentences: &'static [(&'static str, &'static str)],
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
pub(super) fn most_specific<'t, T>(
    entries: &'t [T],
    event: &str,
    name: impl Fn(&T) -> &'static str,
) -> impl Iterator<Item = &'t T> {
    let mut fitting: Vec<(usize, &T)> = entries
        .iter()
        .map(|entry| (name(entry), entry))
        .filter(|(name, _)| name.is_empty() || in_family(event, name))
        .map(|(name, entry)| (name.len(), entry))
        .collect();
    fitting.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    fitting.into_iter().map(|(_, entry)| entry)
}

/// Puts what the payload says in place of `{paths}`; none, if a part is missing.
pub(super) fn fill(template: &str, root: Node<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (choice, after) = after.split_once('}')?;
        filled.push_str(before);
        let said = choice.split('|').find_map(|path| {
            path.strip_prefix('\'')
                .map(|text| text.trim_end_matches('\'').to_owned())
                .or_else(|| at(root, path))
        })?;
        filled.push_str(&said);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}
