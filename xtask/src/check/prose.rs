//! Checks that comments, documents, page texts, string literals and names of tests contain none of the phrases that
//! docs/STYLE.md rules out.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use super::literals::{self, Text};
use crate::walk;

/// The file with the phrases. The phrases are in quotes, from [`BEFORE_PHRASES`] to the end of the sentence.
const STYLE: &str = "docs/STYLE.md";
const BEFORE_PHRASES: &str = "refuses these phrases";
/// The beginnings of the attributes of tests.
const TEST_ATTRIBUTES: [&str; 3] = ["#[test]", "#[tokio::test", "#[rstest"];
/// The beginning of the tests in a file.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Checks Rust, TypeScript and Svelte files, the Python files of the gauntlet, Markdown documents, and the catalog of
/// page texts.
pub fn check(root: &Path) -> Result<Findings> {
    let style = std::fs::read_to_string(root.join(STYLE)).context(STYLE)?;
    let phrases = phrases(&style);
    let mut findings = Findings::default();
    if phrases.is_empty() {
        findings.wrong.push(format!("{STYLE}: no list of phrases"));
    }
    for file in walk::all(root)? {
        let path = walk::relative(root, &file);
        let Some(texts_of) = texts_of(&path) else {
            continue;
        };
        let source = std::fs::read_to_string(&file).with_context(|| path.clone())?;
        for (line, phrase) in found(&texts_of(&source), &phrases) {
            findings.wrong.push(format!("{path}:{line}: \"{phrase}\""));
        }
    }
    findings.notes.push(format!("{} phrases", phrases.len()));
    Ok(findings)
}

/// Returns the texts for readers in a file.
type TextsOf = fn(&str) -> Vec<Text>;

fn texts_of(path: &str) -> Option<TextsOf> {
    let (_, extension) = path.rsplit_once('.')?;
    let is_generated = path.contains("/generated/") || path.ends_with("GAUNTLET.md");
    let is_test = path.contains("tests/") || path.ends_with("tests.rs");
    match extension {
        _ if is_generated => None,
        // In test files, strings are not checked, because most of them are input.
        "rs" if is_test => Some(|source| [comments(source), test_names(source)].concat()),
        "rs" => Some(|source| {
            let product = source.split(TESTS).next().unwrap_or_default();
            [
                comments(source),
                test_names(source),
                sentences(literals::of_rust(product)),
            ]
            .concat()
        }),
        "ts" | "svelte" => Some(comments),
        "py" if path.starts_with("tests/gauntlet/") => {
            Some(|source| sentences(literals::of_python(source)))
        }
        "md" if path != STYLE => Some(lines),
        "json" if path.starts_with("ui/messages/") => Some(lines),
        _ => None,
    }
}

fn lines(source: &str) -> Vec<Text> {
    let lines = source.lines().enumerate();
    lines
        .map(|(index, it)| (index + 1, it.to_owned()))
        .collect()
}

fn comments(source: &str) -> Vec<Text> {
    let mut lines = lines(source);
    lines.retain(|(_, line)| {
        let line = line.trim_start();
        line.starts_with("//") || line.starts_with("<!--") || line.starts_with("* ")
    });
    lines
}

/// Keeps the texts of several words.
fn sentences(mut texts: Vec<Text>) -> Vec<Text> {
    texts.retain(|(_, text)| text.contains(' '));
    texts
}

/// Returns the names of test functions, as words.
fn test_names(source: &str) -> Vec<Text> {
    let mut names = Vec::new();
    let mut is_test = false;
    for (line, text) in lines(source) {
        let text = text.trim_start();
        if TEST_ATTRIBUTES.iter().any(|it| text.starts_with(it)) {
            is_test = true;
        } else if is_test
            && !text.starts_with("//")
            && let Some((_, name)) = text.split_once("fn ")
        {
            let name = name.split(['(', '<']).next().unwrap_or_default();
            names.push((line, name.replace('_', " ")));
            is_test = false;
        }
    }
    names
}

/// Returns the phrases that the style guide lists.
fn phrases(style: &str) -> Vec<String> {
    let list = style.split(BEFORE_PHRASES).nth(1).unwrap_or_default();
    let list = list.split(".\n").next().unwrap_or_default();
    let quoted = list.split('"').skip(1).step_by(2);
    quoted.map(str::to_lowercase).collect()
}

/// Returns the phrases that occur in the texts as whole words, with the line on which the text
/// begins.
fn found<'p>(texts: &[Text], phrases: &'p [String]) -> Vec<(usize, &'p str)> {
    let mut all = Vec::new();
    for (line, text) in texts {
        let words: Vec<String> = text
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
                .map(|it| (*line, it.as_str())),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: &str = "crates/a/src/b.rs";

    fn found_in(path: &str, source: &str) -> Vec<(usize, String)> {
        let phrases =
            phrases("`x` refuses these phrases in texts: \"simply\",\n\"what of\".\nA \"z\".");
        assert_eq!(phrases, ["simply", "what of"]);
        let texts = texts_of(path).unwrap()(source);
        let found = found(&texts, &phrases);
        found.iter().map(|(at, it)| (*at, (*it).into())).collect()
    }

    #[test]
    fn phrases_are_found_as_whole_words_in_comments() {
        let source =
            "/// Simply, what\n// of `what` of simplyx\nlet a = simply;\n  // What of it?\n";
        let expected = [(1, "simply".to_owned()), (4, "what of".to_owned())];
        assert_eq!(found_in(PRODUCT, source), expected);
        assert_eq!(found_in("ui/src/a.ts", source), expected);
        assert!(texts_of("docs/generated/a.md").is_none());
        assert!(texts_of("bench/a.py").is_none());
    }

    #[test]
    fn phrases_are_found_in_literals_of_the_product_that_contain_a_space() {
        let source =
            "let a = \"simply\";\nlet b = \"what \\\n    of it\";\nlet c = r\"so simply\";\n";
        let expected = [(2, "what of".to_owned()), (4, "simply".to_owned())];
        assert_eq!(found_in(PRODUCT, source), expected);
        let tests = format!("{TESTS}\n{source}}}\n");
        assert_eq!(found_in(PRODUCT, &tests), []);
        for path in ["crates/a/tests/it/b.rs", "crates/a/src/b_tests.rs"] {
            assert_eq!(found_in(path, source), []);
        }
    }

    #[test]
    fn phrases_are_found_in_names_of_tests() {
        let source = "    #[tokio::test(flavor = \"multi_thread\")]\n    // fn a()\n    #[ignore]\n    \
                      async fn it_simply_works() {}\n    fn what_of() {}\n#[test]\nfn what_of_it() {}\n";
        let expected = [(4, "simply".to_owned()), (7, "what of".to_owned())];
        for path in [PRODUCT, "crates/a/tests/it/b.rs", "crates/a/src/tests.rs"] {
            assert_eq!(found_in(path, source), expected);
        }
    }

    #[test]
    fn phrases_are_found_in_python_of_the_gauntlet() {
        let source = "\"\"\"What\nof it.\"\"\"\nsimply = simply('simply')  # simply so\n";
        let expected = [(1, "what of".to_owned()), (3, "simply".to_owned())];
        assert_eq!(found_in("tests/gauntlet/gauntlet/a.py", source), expected);
    }
}
