//! HTML tags, which are not spoken.

/// The HTML elements that occur in texts (<https://html.spec.whatwg.org/multipage/indices.html#elements-3>).
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "audio",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "menu",
    "meta",
    "nav",
    "object",
    "ol",
    "option",
    "output",
    "p",
    "picture",
    "pre",
    "progress",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "script",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];

/// The spoken form of text in angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    Nothing,
    /// A line break.
    Break,
    /// The text is not a tag.
    AsText,
}

/// Returns the spoken form of `<…>`.
pub(super) fn spoken(tag: &str) -> Spoken {
    let Some(inside) = tag.strip_prefix('<') else {
        return Spoken::AsText;
    };
    if inside.starts_with(['!', '?']) {
        return Spoken::Nothing;
    }
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric());
    let (name, behind) = name
        .split_at_checked(end.unwrap_or(name.len()))
        .unwrap_or((name, ""));
    let is_whole = behind.starts_with(['>', '/', ' ', '\t', '\n', '\r']);
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "br" | "hr" | "p" | "div" | "li" | "tr" | "td" | "th" if is_whole => Spoken::Break,
        name if is_whole && ELEMENTS.contains(&name) => Spoken::Nothing,
        _ => Spoken::AsText,
    }
}

/// Returns the text of an HTML block without tags, comments, scripts and styles.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let (before, found) = rest.split_at_checked(start).unwrap_or((rest, ""));
        text.push_str(before);
        let comment = found.strip_prefix("<!--");
        let (length, spoken) = if let Some(comment) = comment {
            let end = comment.find("-->").map(|end| end + "<!---->".len());
            (end, Spoken::Nothing)
        } else {
            let end = found.find('>').map(|end| end + 1);
            let tag = found.get(..end.unwrap_or(0)).unwrap_or_default();
            (end, spoken(tag))
        };
        let Some(length) = length else {
            // The tag is not closed, so later tags are not closed either.
            rest = if comment.is_some() { "" } else { found };
            break;
        };
        match spoken {
            Spoken::Nothing => {}
            Spoken::Break => text.push('\n'),
            Spoken::AsText => text.push('<'),
        }
        let length = if spoken == Spoken::AsText { 1 } else { length };
        let (tag, behind) = found.split_at_checked(length).unwrap_or((found, ""));
        rest = behind_raw(tag, behind);
    }
    text.push_str(rest);
    text.split_inclusive('\n')
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// Returns the text after a tag, or after the end of a script or style.
fn behind_raw<'a>(tag: &str, behind: &'a str) -> &'a str {
    for (open, close) in [("<script", "</script"), ("<style", "</style")] {
        if tag.to_ascii_lowercase().starts_with(open) {
            let end = behind.find(close).unwrap_or(behind.len());
            return behind.get(end..).unwrap_or_default();
        }
    }
    behind
}
