//! An in-memory index of the cache files with their size and last use.

use std::collections::HashMap;

/// A file: its name without extension, and its size in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) size: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    size: u64,
    used: u64,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    files: HashMap<String, Known>,
    total: u64,
    /// A counter that orders uses.
    now: u64,
}

impl Index {
    /// Returns an index of these entries, ordered from the oldest to the newest.
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        let mut index = Self::default();
        for entry in entries {
            index.put(&entry.name, entry.size);
        }
        index
    }

    /// Returns whether the file exists. Marks it as used.
    pub(super) fn touch(&mut self, name: &str) -> bool {
        self.now += 1;
        match self.files.get_mut(name) {
            Some(known) => {
                known.used = self.now;
                true
            }
            None => false,
        }
    }

    /// Adds a file. Returns the names of the least recently used files to delete.
    pub(super) fn add(&mut self, name: &str, size: u64, most: u64) -> Vec<String> {
        self.put(name, size);
        let mut removed = Vec::new();
        if self.total <= most {
            return removed;
        }
        let mut by_use: Vec<(u64, String)> = self
            .files
            .iter()
            .map(|(name, known)| (known.used, name.clone()))
            .collect();
        by_use.sort_unstable();
        // Frees a tenth more than needed, because sorting the whole index for each new file would
        // be slow.
        let aim = most - most / 10;
        for (_, name) in by_use {
            if self.total <= aim {
                break;
            }
            self.remove(&name);
            removed.push(name);
        }
        removed
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(known) = self.files.remove(name) {
            self.total -= known.size;
        }
    }

    fn put(&mut self, name: &str, size: u64) {
        self.remove(name);
        self.now += 1;
        let used = self.now;
        self.files.insert(name.to_owned(), Known { size, used });
        self.total += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let entry = |name: &str, size| Entry {
            name: name.to_owned(),
            size,
        };
        let mut index = Index::of(vec![entry("a", 40), entry("b", 40)]);
        assert!(index.touch("a") && !index.touch("c"));
        assert_eq!(index.add("c", 20, 100), Vec::<String>::new());
        assert_eq!(index.add("d", 1, 100), ["b"]);
        assert_eq!(index.total, 61);
        index.remove("a");
        index.remove("a");
        assert_eq!(index.total, 21);
    }
}
