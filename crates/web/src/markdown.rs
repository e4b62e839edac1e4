//! The common rules for all rendered Markdown: HTML in the text is shown as text, no element needs a style attribute,
//! and wide elements have their own scroll bar.

use pulldown_cmark::{Alignment, Event, Tag, TagEnd};

/// Elements that are wider than the page have their own scroll bar, which also works with the
/// keyboard.
const CODE: (&str, &str) = (
    "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\"><code>",
    "</code></pre>\n",
);
const TABLE: (&str, &str) = (
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">",
    "</div>\n",
);

/// Appends the event, or its replacement.
pub(crate) fn push<'a>(events: &mut Vec<Event<'a>>, event: Event<'a>) {
    let event = match event {
        // Tables use this tag for line breaks.
        Event::InlineHtml(text) if is_line_break(&text) => Event::HardBreak,
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::CodeBlock(_)) => Event::Html(CODE.0.into()),
        Event::End(TagEnd::CodeBlock) => Event::Html(CODE.1.into()),
        // The renderer would write the alignment as a style attribute, which the content security
        // policy forbids.
        Event::Start(Tag::Table(columns)) => {
            events.push(Event::Html(TABLE.0.into()));
            Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
        }
        Event::End(TagEnd::Table) => {
            events.push(event);
            Event::Html(TABLE.1.into())
        }
        other => other,
    };
    events.push(event);
}

fn is_line_break(tag: &str) -> bool {
    let inside = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>'));
    inside.is_some_and(|name| name.trim_end_matches([' ', '/']).eq_ignore_ascii_case("br"))
}
