//! Read access to one value of a payload.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::text::decode;
use super::tree::{Inside, Tree};

/// The JSON type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// One value of a payload.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    text: &'a str,
    tree: &'a Tree,
}

impl<'a> Node<'a> {
    pub(super) fn new(text: &'a str, tree: &'a Tree) -> Self {
        Self { text, tree }
    }

    fn other(self, tree: &'a Tree) -> Self {
        Self { tree, ..self }
    }

    pub(super) fn inside(self) -> &'a Inside {
        &self.tree.inside
    }

    pub fn kind(self) -> Kind {
        match self.tree.inside {
            Inside::Null => Kind::Null,
            Inside::Bool => Kind::Bool,
            Inside::Number => Kind::Number,
            Inside::String => Kind::String,
            Inside::Array(_) => Kind::Array,
            Inside::Object(_) => Kind::Object,
        }
    }

    /// Returns the original JSON text of this value.
    pub fn raw(self) -> &'a str {
        self.text.get(self.place()).unwrap_or_default()
    }

    /// Returns the position of this value in the payload's text, in bytes.
    pub fn place(self) -> Range<usize> {
        let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        place(self.tree.start)..place(self.tree.end)
    }

    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the text of a string. Unpaired surrogates become replacement characters. JavaScript senders produce
    /// them when they truncate text.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| decode(self.raw()))
    }

    /// Returns an integer that fits in an `i64`.
    pub fn as_i64(self) -> Option<i64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// Returns an integer that fits in a `u64`.
    pub fn as_u64(self) -> Option<u64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// Returns a string's text, or a number with its original spelling. Vendors use both as IDs.
    pub fn as_id(self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::String => Some(decode(self.raw())),
            Kind::Number => Some(Cow::Borrowed(self.raw())),
            _ => None,
        }
    }

    /// Returns the member with this key, or the array element at this index.
    pub fn get(self, key: &str) -> Option<Self> {
        match &self.tree.inside {
            Inside::Object(members) => members.get(key).map(|tree| self.other(tree)),
            Inside::Array(items) => {
                // Only canonical indexes: `+1` and `01` are not accepted.
                let plain = key == "0" || !key.starts_with(['+', '0']);
                let index: usize = plain.then(|| key.parse().ok()).flatten()?;
                items.get(index).map(|tree| self.other(tree))
            }
            _ => None,
        }
    }

    /// Returns the value at a dot-separated path of keys and indexes.
    pub fn at(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, Self::get)
    }

    /// Returns the string at a path. Returns `None` for any other type.
    pub fn string(self, path: &str) -> Option<Cow<'a, str>> {
        self.at(path)?.as_str()
    }

    /// Returns the number of elements or members; 0 for any other type.
    pub fn len(self) -> usize {
        match &self.tree.inside {
            Inside::Array(items) => items.len(),
            Inside::Object(members) => members.len(),
            _ => 0,
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the elements of an array; empty for any other type.
    pub fn items(self) -> impl Iterator<Item = Node<'a>> {
        let items: &'a [Tree] = match &self.tree.inside {
            Inside::Array(items) => items,
            _ => &[],
        };
        items.iter().map(move |tree| self.other(tree))
    }

    /// Returns the members of an object in their original order; empty for any other type.
    pub fn entries(self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let members = match &self.tree.inside {
            Inside::Object(members) => Some(members),
            _ => None,
        };
        members
            .into_iter()
            .flat_map(|members| members.iter())
            .map(move |(key, tree)| (&**key, self.other(tree)))
    }
}

/// Prints only the type, because payloads are untrusted data.
impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?})", self.kind())
    }
}
