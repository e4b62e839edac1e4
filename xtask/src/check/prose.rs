//! Checks that comments, documents and page texts contain none of the phrases that docs/STYLE.md rules out.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// The file with the phrases. They are in quotes, after [`BEFORE_PHRASES`] and up to the end of the sentence.
const STYLE: &str = "docs/STYLE.md";
const BEFORE_PHRASES: &str = "refuses these phrases";

/// Checks comments of Rust, TypeScript and Svelte, Markdown documents, and the catalog of page texts.
pub fn check(root: &Path) -> Result<Findings> {
    let style = std::fs::read_to_string(root.join(STYLE)).context(STYLE)?;
    let phrases = phrases(&style);
    let mut findings = Findings::default();
    if phrases.is_empty() {
        findings.wrong.push(format!("{STYLE}: no list of phrases"));
    }
    for file in walk::all(root)? {
        let path = walk::relative(root, &file);
        let Some(is_prose) = kind_of(&path) else {
            continue;
        };
        let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
        for (line, phrase) in found(&text, is_prose, &phrases) {
            findings.wrong.push(format!("{path}:{line}: \"{phrase}\""));
        }
    }
    findings.notes.push(format!("{} phrases", phrases.len()));
    Ok(findings)
}

/// Whether a line is text for readers.
type IsProse = fn(&str) -> bool;

fn kind_of(path: &str) -> Option<IsProse> {
    let is_comment: IsProse = |line| {
        let line = line.trim_start();
        line.starts_with("//") || line.starts_with("<!--") || line.starts_with("* ")
    };
    let (_, extension) = path.rsplit_once('.')?;
    let is_generated = path.contains("/generated/") || path.ends_with("GAUNTLET.md");
    match extension {
        "rs" | "ts" | "svelte" if !is_generated => Some(is_comment),
        "md" if path != STYLE && !is_generated => Some(|_| true),
        "json" if path.starts_with("ui/messages/") => Some(|_| true),
        _ => None,
    }
}

/// The phrases that the style guide lists.
fn phrases(style: &str) -> Vec<String> {
    let list = style.split(BEFORE_PHRASES).nth(1).unwrap_or_default();
    let list = list.split(".\n").next().unwrap_or_default();
    let quoted = list.split('"').skip(1).step_by(2);
    quoted.map(str::to_lowercase).collect()
}

/// Phrases in the prose of a text as whole words, with their lines.
fn found<'p>(text: &str, is_prose: IsProse, phrases: &'p [String]) -> Vec<(usize, &'p str)> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if !is_prose(line) {
            continue;
        }
        let words: Vec<String> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '`' && c != '}')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let words = format!(" {} ", words.join(" "));
        let contains = |phrase: &&String| words.contains(&format!(" {phrase} "));
        all.extend(
            phrases
                .iter()
                .filter(contains)
                .map(|it| (index + 1, it.as_str())),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words_in_prose_only() {
        let phrases =
            phrases("`x` refuses these phrases in texts: \"simply\",\n\"what of\".\nA \"z\".");
        assert_eq!(phrases, ["simply", "what of"]);
        let text =
            "/// Simply, what\n// of `what` of simplyx\nlet a = \"simply\";\n  // What of it?\n";
        let is_comment = kind_of("crates/a/src/b.rs").unwrap();
        assert_eq!(
            found(text, is_comment, &phrases),
            [(1, "simply"), (4, "what of")]
        );
        assert!(kind_of("docs/generated/a.md").is_none());
    }
}
