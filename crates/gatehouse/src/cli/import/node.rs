//! A document of any format, with the line of each value.

use super::Malformed;
use std::path::Path;

/// The maximum depth of a document.
pub(super) const MAX_DEPTH: usize = 64;

/// A value and the line on which it begins, counted from 1.
#[derive(Debug)]
pub struct Node {
    pub line: usize,
    pub value: Content,
}

/// The value of a node.
#[derive(Debug)]
pub enum Content {
    Null,
    Flag(bool),
    /// A string or a number.
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// A document that was read.
#[derive(Debug)]
pub struct Document<'a> {
    pub path: &'a Path,
    pub root: Node,
}

impl Node {
    /// Returns a field of a map, unless it is null.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Content::Map(fields) = &self.value else {
            return None;
        };
        let found = fields.iter().find(|(key, _)| key == name);
        found
            .map(|(_, node)| node)
            .filter(|node| !matches!(node.value, Content::Null))
    }

    /// Follows a path of fields.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a field's text, if it is not empty.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(Self::text)
            .filter(|text| !text.is_empty())
    }

    /// Returns the fields of a map. The result is empty for other values.
    pub fn fields(&self) -> &[(String, Self)] {
        match &self.value {
            Content::Map(fields) => fields,
            _ => &[],
        }
    }

    /// Returns the items of a list. The result is empty for other values.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Content::List(items) => items,
            _ => &[],
        }
    }
}

impl Document<'_> {
    /// Returns an error at a value of this document.
    pub fn wrong(&self, node: &Node, reason: impl Into<String>) -> Malformed {
        Malformed {
            path: self.path.to_owned(),
            line: node.line,
            reason: reason.into(),
        }
    }
}
