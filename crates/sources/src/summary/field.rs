//! The table types of a summary (sentences and fields by event type) and their rendering.

use super::report::{MAX_LINE_CHARS, Report, at, count, first, word};
use crate::clean;
use crate::event_family::in_family;
use crate::payload::Node;

/// How a profile's events are summarized.
#[derive(Debug)]
pub struct Summary {
    /// Groups of sentences by event type or family; an empty name matches any event. The most specific sentence
    /// whose `{parts}` all have values is used. See `fill` for the syntax of parts.
    pub sentences: &'static [&'static [(&'static str, &'static str)]],
    /// Paths of the subject's title, for a summary in one line. The first one with a value is used.
    pub titles: &'static [&'static str],
    /// The fields to show, from the first matching section. If none matches, the summary shows an outline
    /// of the payload.
    pub sections: &'static [Section],
}

/// The fields to show for some event types.
#[derive(Debug)]
pub struct Section {
    /// Event types or families. Empty matches any.
    pub of: &'static [&'static str],
    pub fields: &'static [Field],
}

/// One labeled field of a summary.
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
    /// Creates a field with the value of the first path that has one, on one line.
    pub const fn line(label: &'static str, paths: &'static [&'static str]) -> Self {
        let kind = Kind::Line(paths);
        Self { label, kind }
    }

    /// Creates a field with a template that contains `{paths}`, as in a sentence. The field is omitted if a part is
    /// missing.
    pub const fn text(label: &'static str, template: &'static str) -> Self {
        let kind = Kind::Text(template);
        Self { label, kind }
    }

    /// Creates a field with the text of the first path that has one, as an indented block below the label.
    pub const fn block(label: &'static str, paths: &'static [&'static str]) -> Self {
        let kind = Kind::Block(paths);
        Self { label, kind }
    }

    /// Creates a field with the elements of an array, or one member of each element.
    pub const fn list(label: &'static str, path: &'static str, member: &'static str) -> Self {
        let kind = Kind::List(path, member);
        Self { label, kind }
    }

    pub const fn keys(label: &'static str, path: &'static str) -> Self {
        let kind = Kind::Keys(path);
        Self { label, kind }
    }

    /// Creates a field that is rendered by a function.
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

/// Returns the entries that match an event, most specific first: the exact type, families from longest to shortest,
/// and entries for any event.
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

/// Replaces `{parts}` with values from the payload. Returns `None` if a part has no value. A part
/// is a list of paths separated by `|`, optionally ending in a literal `'text'`; the first one with
/// a value wins. A path can have a prefix:
///
/// - `~` removes `refs/heads/` or `refs/tags/`
/// - `^` shortens a commit ID
/// - `%` takes the first line
/// - `#list:one:many` counts a list
/// - `!` yields empty text if the value is present and neither `null` nor `false`
/// - `-` yields empty text otherwise
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

/// Returns whether a path has a value other than `null` or `false`.
fn is_there(root: Node<'_>, path: &str) -> bool {
    root.at(path)
        .is_some_and(|found| !found.is_null() && found.as_bool() != Some(false))
}

/// Returns the name of a branch or tag without Git's prefix.
pub(crate) fn short_ref(name: &str) -> &str {
    ["refs/heads/", "refs/tags/"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

/// Returns the first 10 characters of a commit ID.
pub(crate) fn short_id(id: &str) -> String {
    id.chars().take(10).collect()
}
