//! The link targets of a page. While the page is parsed, a link is represented by one private-use character,
//! which the tree builders treat as text. At the end it is replaced by the target in parentheses.

use std::borrow::Cow;
use std::fmt::Write as _;
use url::Url;

/// How many link targets are shown per page.
pub(super) const MAX_LINKS: usize = 1000;
/// The longest target that is shown. Longer ones are left out, because a cut URL would lead elsewhere.
pub(super) const MAX_TARGET: usize = 500;
/// Represents the first link; the others follow.
const FIRST: char = '\u{f0000}';
/// The last private-use character of that plane.
const LAST: char = '\u{ffffd}';

/// The links of a page, in document order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The base for relative targets. Without it, links are ignored.
    base: Option<Url>,
    has_base_tag: bool,
    targets: Vec<String>,
    open: Vec<Open>,
}

/// A link that is not closed yet.
#[derive(Debug)]
struct Open {
    target: Option<String>,
    /// The start of its text, at most as long as a target.
    text: String,
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

    /// Starts a link.
    pub(super) fn begin(&mut self, href: Option<&str>) {
        let target = href.and_then(|href| self.resolve(href));
        let text = String::new();
        self.open.push(Open { target, text });
    }

    /// Adds text to the innermost open link, if any.
    pub(super) fn characters(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            let room = MAX_TARGET.saturating_sub(open.text.len());
            open.text.push_str(
                text.get(..text.floor_char_boundary(room))
                    .unwrap_or_default(),
            );
        }
    }

    /// Ends a link. Returns the marker for its target, unless the text already shows it.
    pub(super) fn end(&mut self) -> Option<char> {
        let open = self.open.pop()?;
        let (target, text) = (open.target?, open.text.trim());
        if text.is_empty() || target.trim_end_matches('/') == text.trim_end_matches('/') {
            return None;
        }
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
                let _ = write!(output, " ({target})");
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
        Some(String::from(target)).filter(|target| target.len() <= MAX_TARGET)
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

/// Removes characters that would be taken for link markers.
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

    fn shown(href: &str, text: &str) -> String {
        let base = Url::parse("https://example.com/docs/page?q=1").unwrap();
        let mut links = Links::new(Some(base));
        links.begin(Some(href));
        links.characters(text);
        let marker = links.end();
        links.put_in(&format!(
            "{text}{}",
            marker.map_or(String::new(), String::from)
        ))
    }

    #[test]
    fn targets_are_absolute_and_of_the_web() {
        for (href, target) in [
            ("other", "https://example.com/docs/other"),
            ("/top?x=1#part", "https://example.com/top?x=1#part"),
            ("//cdn.example/x", "https://cdn.example/x"),
            (" http://a.example/b c ", "http://a.example/b%20c"),
            ("?q=2", "https://example.com/docs/page?q=2"),
        ] {
            assert_eq!(shown(href, "see"), format!("see ({target})"), "{href}");
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
            assert_eq!(shown(none, "see"), "see", "{none}");
        }
        assert_eq!(
            shown("https://a.example/", "https://a.example"),
            "https://a.example"
        );
        assert_eq!(shown("/picture", " "), " ");
    }

    #[test]
    fn number_and_length_are_bounded() {
        let target = |length: usize| {
            let begin = "https://example.com/";
            format!("{begin}{}", "x".repeat(length - begin.len()))
        };
        assert!(shown(&target(MAX_TARGET), "a").ends_with("x)"));
        assert_eq!(shown(&target(MAX_TARGET + 1), "a"), "a");
        let mut links = Links::new(Url::parse("https://example.com").ok());
        let mut shown = 0;
        for number in 0..=MAX_LINKS {
            links.begin(Some(&format!("/{number}")));
            links.characters("a");
            shown += usize::from(links.end().is_some());
        }
        assert_eq!(shown, MAX_LINKS);
    }

    #[test]
    fn no_page_brings_markers_of_its_own() {
        assert_eq!(without_markers("a\u{f0000}b\u{ffffd}c"), "abc");
        assert_eq!(Links::default().put_in("a\u{f0007}b"), "ab");
    }
}
