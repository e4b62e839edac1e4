//! What each HTML tag means for reading.

/// What becomes of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays, and what is inside it.
    Keep,
    /// It stays; it has no inside.
    KeepEmpty,
    /// It goes; what is inside it stays.
    Unwrap,
    /// It goes with its inside, which is no markup.
    Swallow,
}

/// What becomes of the tag of this name, in lower case.
///
/// Formatting elements (`b`, `i`, `font`, …) go: browsers open them anew in every later block, so a
/// few thousand of them make a tree of millions of nodes. `a` is the exception, for it tells links from
/// prose; it never stands open twice here.
pub(super) fn fate(name: &str) -> Fate {
    match name {
        "html" | "head" | "body" | "title" | "main" | "article" | "section" | "nav" | "aside"
        | "header" | "footer" | "div" | "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul"
        | "ol" | "li" | "dl" | "dt" | "dd" | "blockquote" | "pre" | "figure" | "figcaption"
        | "table" | "caption" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "a"
        | "address" | "details" | "summary" => Fate::Keep,
        "br" | "hr" | "img" | "meta" => Fate::KeepEmpty,
        "script" | "style" | "iframe" | "noembed" | "noframes" | "textarea" | "xmp" => {
            Fate::Swallow
        }
        _ => Fate::Unwrap,
    }
}

/// Whether text before and after the tag stands on different lines.
pub(super) fn breaks_line(name: &str) -> bool {
    !matches!(name, "a" | "img" | "meta" | "td" | "th" | "html" | "head")
}

/// The open tags that a start tag ends, and those beyond which it does not look. HTML lets authors leave
/// these end tags out.
pub(super) fn ends(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "a" => (&["a"], &["td", "th", "caption"]),
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

/// The attributes that help to tell prose from the rest, or say where a link goes.
pub(super) fn keeps_attribute(name: &str) -> bool {
    matches!(
        name,
        "href"
            | "class"
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
    )
}
