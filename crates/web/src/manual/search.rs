//! Search in the documents: the sections that contain every word. The documents are parsed at each search, so no index
//! is in memory.

use super::chapters::{self, Chapter};
use super::markdown::{Section, sections};
use crate::pages::escape_attribute as escape;
use std::fmt::Write as _;

/// The maximum length of a query in characters. The rest of a longer query is ignored.
pub(super) const QUERY_CHARS: usize = 100;
const MAX_RESULTS: usize = 50;
/// The length of an excerpt in characters, and the number of characters before the word.
const EXCERPT_CHARS: usize = 240;
const BEFORE_CHARS: usize = 60;

/// Returns the words of a query, in lower case.
pub(super) fn words(query: &str) -> Vec<String> {
    let cut: String = query.chars().take(QUERY_CHARS).collect();
    cut.split_whitespace().map(str::to_lowercase).collect()
}

/// Searches all documents, and returns the body of the page with the results.
pub(super) fn results(words: &[String]) -> String {
    page(&find(chapters::all(), words), words)
}

fn page(found: &[Found], words: &[String]) -> String {
    let count = match found.len() {
        0 => "No section contains all of these words.".to_owned(),
        1 => "One section contains these words.".to_owned(),
        count if count > MAX_RESULTS => {
            format!("{count} sections contain these words. The first {MAX_RESULTS} are listed.")
        }
        count => format!("{count} sections contain these words."),
    };
    let mut html = format!("<h1>Search</h1>\n<p>{count}</p>\n<ul>\n");
    for one in found.iter().take(MAX_RESULTS) {
        let (name, id) = (one.name, escape(&one.section.id));
        let heading = escape(&one.section.heading);
        let document = if one.section.heading == one.document {
            String::new()
        } else {
            format!(" ({})", escape(&one.document))
        };
        let excerpt = escape(&excerpt(&one.section.text, words));
        let _ = writeln!(
            html,
            "<li><a href=\"/docs/{name}#{id}\">{heading}</a>{document}<br>{excerpt}</li>"
        );
    }
    html.push_str("</ul>\n");
    html
}

struct Found {
    /// The name of the document in its URL.
    name: &'static str,
    /// The title of the document.
    document: String,
    section: Section,
    /// Whether a word is missing in the heading, and whether the document is a record of the past. True values are
    /// sorted last.
    rank: (bool, bool),
}

fn find(chapters: &[Chapter], words: &[String]) -> Vec<Found> {
    let mut found = Vec::new();
    for chapter in chapters {
        let sections = sections(chapter);
        let document = sections.first().map(|first| first.heading.clone());
        let document = document.unwrap_or_default();
        let is_record = chapter.file.starts_with("../") || chapter.file.starts_with("decisions/");
        for section in sections {
            let (heading, text) = (section.heading.to_lowercase(), section.text.to_lowercase());
            let is_in_heading = |word: &String| heading.contains(word.as_str());
            let is_found = |word: &String| is_in_heading(word) || text.contains(word.as_str());
            if words.iter().all(is_found) {
                found.push(Found {
                    name: chapter.name(),
                    document: document.clone(),
                    rank: (!words.iter().all(is_in_heading), is_record),
                    section,
                });
            }
        }
    }
    found.sort_by_key(|one| one.rank);
    found
}

/// Returns the text around the first of the words that occurs in it.
fn excerpt(text: &str, words: &[String]) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = text.to_lowercase();
    let place = words.iter().find_map(|word| lower.find(word.as_str()));
    // The position is inexact if a character consists of several characters in lower case.
    let before = lower.get(..place.unwrap_or_default());
    let start = before.map_or(0, |before| before.chars().count());
    let start = start.saturating_sub(BEFORE_CHARS);
    let mut part: String = text.chars().skip(start).take(EXCERPT_CHARS).collect();
    if start > 0 {
        part.insert(0, '…');
    }
    if text.chars().nth(start + EXCERPT_CHARS).is_some() {
        part.push('…');
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<(&'static str, String)> {
        let chapters = [
            Chapter {
                file: "../CHANGELOG.md",
                text: "# Changes\n\n## A backup\n\nof the queue\n",
            },
            Chapter {
                file: "decisions/0001-a.md",
                text: "# Backup\n",
            },
            Chapter {
                file: "API.md",
                text: "# API\n\n## Queue\n\n`backup.create` of a\nqueue\n\n## Backup of a queue\n",
            },
        ];
        let found = find(&chapters, &words(query)).into_iter();
        found.map(|one| (one.name, one.section.id)).collect()
    }

    #[test]
    fn sections_with_all_words_are_found_and_headings_and_current_documents_come_first() {
        let one = |name, id: &str| (name, id.to_owned());
        assert_eq!(
            found("QUEUE backup"),
            [
                one("API", "backup-of-a-queue"),
                one("API", "queue"),
                one("CHANGELOG", "a-backup"),
            ]
        );
        assert_eq!(
            found("backup"),
            [
                one("API", "backup-of-a-queue"),
                one("CHANGELOG", "a-backup"),
                one("decisions/0001-a", "backup"),
                one("API", "queue"),
            ]
        );
        assert_eq!(found("Backup.Create"), [one("API", "queue")]);
        assert!(found("backup nothing").is_empty());
    }

    #[test]
    fn queries_are_cut_at_their_maximum_length() {
        assert_eq!(words(" A  ä B\n"), ["a", "ä", "b"]);
        assert!(words(" ").is_empty());
        let longest = "ä".repeat(QUERY_CHARS);
        let only = [longest.clone()];
        assert_eq!(words(&longest), only);
        assert_eq!(words(&format!("{longest}b")), only);
    }

    /// Returns the page with the sections of this document that contain the word.
    fn page_of(text: &'static str, word: &str) -> String {
        let file = "API.md";
        let words = words(word);
        page(&find(&[Chapter { file, text }], &words), &words)
    }

    #[test]
    fn at_most_the_maximum_of_results_is_listed() {
        let text: &'static str = "# word\n".repeat(MAX_RESULTS + 1).leak();
        let longest = text.len() - "# word\n".len();
        let all = page_of(&text[..longest], "word");
        assert_eq!(all.matches("<li>").count(), MAX_RESULTS);
        assert!(all.contains("<p>50 sections contain these words.</p>"));
        let cut = page_of(text, "word");
        assert_eq!(cut.matches("<li>").count(), MAX_RESULTS);
        assert!(cut.contains("<p>51 sections contain these words. The first 50 are listed.</p>"));
        assert!(page_of(text, "other").contains("<p>No section contains all of these words.</p>"));
        assert!(page_of("# word\n", "word").contains("<p>One section contains these words.</p>"));
    }

    #[test]
    fn headings_and_excerpts_are_escaped() {
        let page = page_of("# `<a>` & b\n\n`<i>word`\n\n## `<s>`\n\nword\n", "word");
        for part in [
            "<a href=\"/docs/API#a--b\">&lt;a&gt; &amp; b</a><br>&lt;i&gt;word</li>",
            "<a href=\"/docs/API#s\">&lt;s&gt;</a> (&lt;a&gt; &amp; b)<br>word</li>",
        ] {
            assert!(page.contains(part), "{page}");
        }
    }

    #[test]
    fn excerpts_are_cut_around_the_first_word() {
        let words = words("word other");
        assert_eq!(excerpt(" a\n Word b ", &words), "a Word b");
        assert_eq!(excerpt("neither", &words), "neither");
        let fill = "ä".repeat(EXCERPT_CHARS);
        let whole = format!("Word{}", "ä".repeat(EXCERPT_CHARS - 4));
        assert_eq!(excerpt(&whole, &words), whole);
        assert_eq!(excerpt(&format!("{whole}b"), &words), format!("{whole}…"));
        let cut = excerpt(&format!("{fill}other{fill}"), &words);
        assert_eq!(cut.chars().count(), EXCERPT_CHARS + 2);
        let before = "ä".repeat(BEFORE_CHARS);
        assert!(cut.starts_with(&format!("…{before}other")), "{cut}");
        assert!(cut.ends_with('…'));
    }
}
