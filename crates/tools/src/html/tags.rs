//! Decides how each HTML tag is handled.

/// The treatment of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagAction {
    /// Keep the tag and its content.
    Keep,
    /// Keep the tag; it has no content.
    KeepEmpty,
    /// Drop the tag, keep its content.
    Unwrap,
    /// Drop the tag and its content, which is not markup.
    Swallow,
}

/// Returns the treatment of a tag. `name` must be in lower case.
///
/// Formatting elements (`b`, `i`, `font`, …) are dropped. Browsers reopen them in every later block, so a few thousand
/// of them make a tree of millions of nodes. `a` and `code` are kept, because models need links and code. Neither is
/// nested here.
pub(super) fn fate(name: &str) -> TagAction {
    match name {
        "html" | "head" | "body" | "title" | "main" | "article" | "section" | "nav" | "aside"
        | "header" | "footer" | "div" | "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul"
        | "ol" | "li" | "dl" | "dt" | "dd" | "blockquote" | "pre" | "figure" | "figcaption"
        | "table" | "caption" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "a" | "code"
        | "address" | "details" | "summary" => TagAction::Keep,
        "br" | "hr" | "img" | "meta" => TagAction::KeepEmpty,
        "script" | "style" | "iframe" | "noembed" | "noframes" | "textarea" | "xmp" => {
            TagAction::Swallow
        }
        _ => TagAction::Unwrap,
    }
}

/// Returns whether the tag separates the text before and after it into different lines.
pub(super) fn breaks_line(name: &str) -> bool {
    !matches!(
        name,
        "a" | "code" | "img" | "meta" | "td" | "th" | "html" | "head"
    )
}

/// Returns the open tags that a start tag closes, and the tags at which the search for them stops. HTML makes these end
/// tags optional.
pub(super) fn ends(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "a" => (&["a"], &["td", "th", "caption"]),
        "code" => (&["code"], &["td", "th", "caption"]),
        "li" => (&["li"], &["ul", "ol"]),
        "dt" | "dd" => (&["dt", "dd"], &["dl"]),
        "td" | "th" => (&["td", "th"], &["tr", "table"]),
        "tr" => (&["tr", "caption"], &["table"]),
        "thead" | "tbody" | "tfoot" => (&["thead", "tbody", "tfoot", "caption"], &["table"]),
        "body" => (&["head"], &[]),
        "title" | "summary" | "caption" | "figcaption" => (&[], &[]),
        _ if breaks_line(name) && name != "br" => {
            (&["p"], &["td", "th", "caption", "li", "dd", "dt"])
        }
        _ => (&[], &[]),
    }
}

/// Returns whether an attribute is kept: it helps to recognize the main text, or Markdown needs it. Link targets are
/// handled separately.
pub(super) fn keeps_attribute(name: &str) -> bool {
    matches!(
        name,
        "class"
            | "id"
            | "rel"
            | "alt"
            | "name"
            | "property"
            | "content"
            | "itemprop"
            | "role"
            | "lang"
            | "dir"
            | "hidden"
            | "aria-hidden"
            | "style"
            | "start"
            | "value"
            | "data-lang"
            | "data-language"
    )
}
