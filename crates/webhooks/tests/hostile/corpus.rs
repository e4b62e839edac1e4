//! Loads the hostile texts.

use serde::Deserialize;

/// A text and its kind of attack.
#[derive(Debug, Deserialize)]
pub struct Entry {
    pub family: String,
    pub text: String,
}

/// The required minimum number of texts.
const LEAST: usize = 200;

/// Returns all texts, with `{port}` in their URLs replaced.
pub fn corpus(port: u16) -> Vec<Entry> {
    let file = include_str!("../../../tools/tests/hostile/corpus.json");
    let mut entries: Vec<Entry> = serde_json::from_str(file).unwrap();
    assert!(entries.len() >= LEAST, "only {} texts", entries.len());
    for family in [
        "gain_tools",
        "fence_escape",
        "hyphen_lines",
        "mass_ping",
        "markup",
        "template",
    ] {
        let is_there = entries.iter().any(|entry| entry.family == family);
        assert!(is_there, "none of the texts is a {family}");
    }
    for entry in &mut entries {
        assert!(!entry.text.is_empty(), "{entry:?}");
        entry.text = entry.text.replace("{port}", &port.to_string());
    }
    entries
}
