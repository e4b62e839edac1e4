//! The link targets of a page. While the page is parsed, a private-use character represents each target, so no tree
//! builder or Markdown writer changes the target. At the end, the target replaces the character.

use std::borrow::Cow;
use url::Url;

/// The maximum number of link targets that are shown per page.
pub(super) const MAX_LINKS: usize = 1000;
/// The longest target that is shown. Longer targets are omitted, because a cut URL would lead elsewhere.
pub(super) const MAX_TARGET: usize = 500;
/// The character for the first link. Later links use the following characters.
const FIRST: char = '\u{f0000}';
/// The last private-use character of the plane.
const LAST: char = '\u{ffffd}';

/// The links of a page, in document order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The base for relative targets. Without it, links are ignored.
    base: Option<Url>,
    has_base_tag: bool,
    targets: Vec<String>,
}

impl Links {
    pub(super) fn new(base: Option<Url>) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Handles a `base` tag; only the first one counts (HTML, section 4.2.3).
    pub(super) fn rebase(&mut self, href: &str) {
        if std::mem::replace(&mut self.has_base_tag, true) {
            return;
        }
        let base = self.base.as_ref().and_then(|base| base.join(href).ok());
        if let Some(base) = base.filter(is_web) {
            self.base = Some(base);
        }
    }

    /// Returns the marker for a target. Returns `None` if the link is not shown.
    pub(super) fn mark(&mut self, href: &str) -> Option<char> {
        let target = self.resolve(href)?;
        let marker = marker(self.targets.len())?;
        self.targets.push(target);
        Some(marker)
    }

    /// Replaces the markers in `text` by their targets.
    pub(super) fn put_in(&self, text: &str) -> String {
        let mut output = String::with_capacity(text.len());
        for c in text.chars() {
            if !is_marker(c) {
                output.push(c);
            } else if let Some(target) = self.targets.get(place(c)) {
                output.push_str(target);
            }
        }
        output
    }

    /// Returns an absolute web address. Excludes fragments of this page and URLs with credentials.
    fn resolve(&self, href: &str) -> Option<String> {
        let here = self.base.as_ref()?;
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || self.targets.len() >= MAX_LINKS {
            return None;
        }
        let target = here.join(href).ok().filter(is_web)?;
        Some(escaped(target.as_str())).filter(|target| target.len() <= MAX_TARGET)
    }
}

/// Escapes characters that would end a link or a table cell in Markdown. Balanced parentheses do
/// not end a link.
fn escaped(target: &str) -> String {
    let mut depth = 0_i32;
    let is_balanced = target.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    let target = target.replace('|', "%7C");
    if is_balanced && depth == 0 {
        target
    } else {
        target.replace('(', "%28").replace(')', "%29")
    }
}

fn is_web(url: &Url) -> bool {
    let plain = url.username().is_empty() && url.password().is_none();
    matches!(url.scheme(), "http" | "https") && plain
}

fn marker(number: usize) -> Option<char> {
    let number = u32::try_from(number).ok()?;
    char::from_u32(u32::from(FIRST) + number).filter(|c| is_marker(*c))
}

fn is_marker(c: char) -> bool {
    (FIRST..=LAST).contains(&c)
}

fn place(marker: char) -> usize {
    usize::try_from(u32::from(marker) - u32::from(FIRST)).unwrap_or(usize::MAX)
}

/// Removes characters that would be interpreted as link markers.
pub(super) fn without_markers(text: &str) -> Cow<'_, str> {
    if text.contains(is_marker) {
        Cow::Owned(text.replace(is_marker, ""))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(href: &str) -> String {
        let base = Url::parse("https://example.com/docs/page?q=1").unwrap();
        let mut links = Links::new(Some(base));
        let marker = links.mark(href).map_or(String::new(), String::from);
        links.put_in(&marker)
    }

    #[test]
    fn targets_are_absolute_and_of_the_web() {
        for (href, target) in [
            ("other", "https://example.com/docs/other"),
            ("/top?x=1&y#part", "https://example.com/top?x=1&y#part"),
            ("//cdn.example/x", "https://cdn.example/x"),
            (" http://a.example/b c ", "http://a.example/b%20c"),
            ("?q=2", "https://example.com/docs/page?q=2"),
            ("/a_(b)", "https://example.com/a_(b)"),
            ("/a)|(", "https://example.com/a%29%7C%28"),
        ] {
            assert_eq!(shown(href), target, "{href}");
        }
        for none in [
            "",
            "#part",
            "javascript:alert(1)",
            "mailto:a@example.com",
            "data:text/html,x",
            "https://user:secret@example.com/",
            "https://user@example.com/",
            "http://[",
        ] {
            assert_eq!(shown(none), "", "{none}");
        }
    }

    #[test]
    fn number_and_length_are_bounded() {
        let target = |length: usize| {
            let begin = "https://example.com/";
            format!("{begin}{}", "x".repeat(length - begin.len()))
        };
        assert!(shown(&target(MAX_TARGET)).ends_with('x'));
        assert_eq!(shown(&target(MAX_TARGET + 1)), "");
        let mut links = Links::new(Url::parse("https://example.com").ok());
        let marked = (0..=MAX_LINKS).filter(|number| links.mark(&format!("/{number}")).is_some());
        assert_eq!(marked.count(), MAX_LINKS);
    }

    #[test]
    fn no_page_brings_markers_of_its_own() {
        assert_eq!(without_markers("a\u{f0000}b\u{ffffd}c"), "abc");
        assert_eq!(Links::default().put_in("a\u{f0007}b"), "ab");
    }
}
