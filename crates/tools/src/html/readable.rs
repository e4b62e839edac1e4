//! Extracts the main text of a page. Omits menus and advertisements that can be recognized.

use super::bound::{Bounded, bound};
use super::links::without_markers;
use super::markdown::markdown;
use crate::off_thread::Slots;
use crate::text;
use dom_smoothie::{Config, Readability, TextMode};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The time limit for the tokenizer.
const BOUND_TIME: Duration = Duration::from_secs(3);
/// The time limit for each tree builder.
const TREE_TIME: Duration = Duration::from_secs(4);
/// The stack size. Bounded HTML is at most a hundred tags deep. This is a hundred times the stack
/// that it needs.
const STACK_BYTES: usize = 32 << 20;
/// The minimum length of an extract. A shorter extract from a much longer page is probably not the
/// main text.
const TOO_LITTLE: usize = 250;
/// The largest indentation, in spaces. Without the limit, deeply nested lists would consist mostly
/// of indentation.
const MAX_INDENTATION: usize = 80;

/// The title and the text of a page. The text is Markdown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Article {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Extracts the text of pages on separate threads.
#[derive(Debug)]
pub(crate) struct Reader {
    places: Slots,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self {
            places: Slots::new("web_fetch", 3, STACK_BYTES),
        }
    }

    /// Returns the main text of the page at `url`, or its whole text if the main text cannot be
    /// found.
    pub(crate) async fn read(&self, html: String, url: Url) -> Article {
        let whole = self
            .places
            .run(BOUND_TIME * 2, move || bound(&html, Some(url), BOUND_TIME))
            .await;
        let Ok(whole) = whole else {
            return Article::default();
        };
        let whole = Arc::new(whole);
        let shared = Arc::clone(&whole);
        if let Ok(Some(article)) = self.places.run(TREE_TIME, move || prose(&shared)).await {
            return article;
        }
        let shared = Arc::clone(&whole);
        let laid_out = self.places.run(TREE_TIME, move || layout(&shared)).await;
        let text = laid_out.ok().flatten();
        Article {
            title: text::one_line(&whole.title, 300),
            text: article_text(&whole, text.as_deref().unwrap_or(&whole.text)),
        }
    }
}

/// Inserts the link targets into the text and bounds its indentation.
fn article_text(page: &Bounded, text: &str) -> String {
    let mut bounded = String::with_capacity(text.len());
    for line in text.lines() {
        let content = line.trim_start_matches(' ');
        let indentation = (line.len() - content.len()).min(MAX_INDENTATION);
        bounded.extend(std::iter::repeat_n(' ', indentation));
        bounded.push_str(content);
        bounded.push('\n');
    }
    text::readable(&page.links.put_in(&bounded))
}

/// Extracts the article of a page, if there is one.
fn prose(page: &Bounded) -> Option<Article> {
    let config = Config {
        disable_json_ld: true,
        text_mode: TextMode::Raw,
        // Classes are kept, because they contain the languages of code blocks.
        keep_classes: true,
        ..Config::default()
    };
    let mut reader = Readability::new(page.html.as_str(), None, Some(config)).ok()?;
    let article = reader.parse().ok()?;
    let text = text::readable(&article.text_content);
    let much = page.text.trim().chars().nth(TOO_LITTLE * 2).is_some();
    if text.is_empty() || much && text.chars().nth(TOO_LITTLE).is_none() {
        return None;
    }
    let title = if article.title.trim().is_empty() {
        &*page.title
    } else {
        &*article.title
    };
    Some(Article {
        title: text::one_line(&without_markers(title), 300),
        text: article_text(page, &markdown(&article.content)),
    })
}

/// Converts the whole page.
fn layout(page: &Bounded) -> Option<String> {
    let text = markdown(&page.html);
    (!text.trim().is_empty()).then_some(text)
}
