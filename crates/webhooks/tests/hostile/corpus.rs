//! The texts.

use serde::Deserialize;

/// One text, and what kind of attack it is.
#[derive(Debug, Deserialize)]
pub struct Entry {
    pub family: String,
    pub text: String,
}

/// What the issue asks for.
const LEAST: usize = 200;

/// All of them; `{port}` in their addresses is this port.
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
