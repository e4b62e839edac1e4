//! Extracts the text from the HTML of an email. Quoted lines get marks.

use mail_parser::decoders::html::html_to_text;

/// Returns the text of HTML, with `>` before quoted lines (`blockquote`). Comments and attributes of a quoted email can
/// contain tags that look like its end. Text after such a tag is not marked, but the earlier marks show that the person
/// did not write the whole text.
pub(super) fn html_text(html: &str) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    for part in with_lines(html) {
        let converted = html_to_text(&part.html);
        depth = match part.tag {
            Tag::None => depth,
            Tag::Opens => depth.saturating_add(1),
            Tag::Closes => depth.saturating_sub(1),
        };
        if part.tag != Tag::None && !text.is_empty() {
            text.push('\n');
        }
        if depth == 0 {
            text.push_str(&converted);
            continue;
        }
        // A part without text becomes a single mark.
        let mut lines = converted.trim().lines();
        text.push_str("> ");
        text.push_str(lines.next().unwrap_or_default());
        for line in lines {
            text.push_str("\n> ");
            text.push_str(line);
        }
    }
    text
}

/// A boundary of a part of HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    None,
    Opens,
    Closes,
}

struct HtmlPart {
    tag: Tag,
    html: String,
}

/// Splits HTML at its `blockquote` tags. Adds line ends after block elements, and removes styles and scripts.
fn with_lines(html: &str) -> Vec<HtmlPart> {
    let lower = html.to_ascii_lowercase();
    let mut parts = Vec::new();
    let mut part = HtmlPart {
        tag: Tag::None,
        html: String::new(),
    };
    let mut at = 0;
    while let Some(found) = lower.get(at..).and_then(|rest| rest.find('<')) {
        let start = at.saturating_add(found);
        part.html.push_str(html.get(at..start).unwrap_or_default());
        let rest = lower.get(start..).unwrap_or_default();
        if let Some(length) = hidden_length(rest) {
            at = start.saturating_add(length);
            continue;
        }
        let tag = if rest.starts_with("<blockquote") {
            Tag::Opens
        } else if rest.starts_with("</blockquote") {
            Tag::Closes
        } else {
            Tag::None
        };
        if tag != Tag::None {
            let length = rest
                .find('>')
                .map_or(rest.len(), |end| end.saturating_add(1));
            at = start.saturating_add(length);
            let html = String::new();
            parts.push(std::mem::replace(&mut part, HtmlPart { tag, html }));
            continue;
        }
        let breaks = ["</div", "</tr", "</li", "</h", "<hr"];
        if breaks.iter().any(|start| rest.starts_with(start)) {
            part.html.push_str("<br>");
        }
        part.html.push('<');
        at = start.saturating_add(1);
    }
    part.html.push_str(html.get(at..).unwrap_or_default());
    parts.push(part);
    parts
}

/// Returns the length of a style or script at the beginning of a text, or the length of the whole
/// text if it does not end.
fn hidden_length(lower: &str) -> Option<usize> {
    let name = ["style", "script"].into_iter().find(|name| {
        let after = lower.strip_prefix('<').and_then(|it| it.strip_prefix(name));
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })?;
    let end = lower.find(&format!("</{name}"));
    let close = end.and_then(|end| Some(end.saturating_add(lower.get(end..)?.find('>')?)));
    Some(close.map_or(lower.len(), |close| close.saturating_add(1)))
}
