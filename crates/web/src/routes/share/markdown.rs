//! What an agent wrote, as markup that can do nothing. Whoever wrote the text is not trusted: markup in
//! it is shown as text, nothing is loaded from anywhere, links lead to the web or to a mail program only.
//! The page (`ui/src/parts/markdown.ts`) shows the same text by the same rules.

use pulldown_cmark::{
    Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

/// `text` as HTML below a heading of level 2.
pub(super) fn html(text: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut links = Links::default();
    let events = Parser::new_ext(text, options).filter_map(|event| safe(event, &mut links));
    let mut markup = String::with_capacity(text.len() * 2);
    html::push_html(&mut markup, events);
    markup
}

/// The links that are open, and whether each is shown as one: an image may stand within a link.
#[derive(Default)]
struct Links(Vec<bool>);

impl Links {
    /// The start of a link, unless it leads where none may lead or stands within another.
    fn open(&mut self, address: CowStr<'_>) -> Option<Event<'static>> {
        let is_shown = is_safe(&address) && !self.0.contains(&true);
        self.0.push(is_shown);
        is_shown.then(|| {
            Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url: address.into_string().into(),
                title: CowStr::Borrowed(""),
                id: CowStr::Borrowed(""),
            })
        })
    }

    fn close(&mut self) -> Option<Event<'static>> {
        let is_shown = self.0.pop().unwrap_or_default();
        is_shown.then_some(Event::End(TagEnd::Link))
    }
}

fn safe<'a>(event: Event<'a>, links: &mut Links) -> Option<Event<'a>> {
    Some(match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            links.open(dest_url)?
        }
        Event::End(TagEnd::Link | TagEnd::Image) => links.close()?,
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: below(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
        // Alignment would be written as a style, which the policy of the page forbids.
        Event::Start(Tag::Table(columns)) => {
            Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
        }
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        // Who writes to a person means a line's end as one.
        Event::SoftBreak => Event::HardBreak,
        other => other,
    })
}

fn is_safe(address: &str) -> bool {
    let is = |scheme: &str| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    is("https://") || is("http://") || is("mailto:")
}

/// Two levels further down: the title and the speaker stand above.
fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn what_agents_write() {
        assert_eq!(
            html("# A\n\n*b* **c** ~~d~~ `e`\nf\n\n- [x] g\n- [ ] h"),
            "<h3>A</h3>\n<p><em>b</em> <strong>c</strong> <del>d</del> <code>e</code><br />\nf</p>\n\
             <ul>\n<li>☑ g</li>\n<li>☐ h</li>\n</ul>\n"
        );
        assert_eq!(
            html("|a|b|\n|-|:-:|\n|1|2|"),
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n\
             </tbody></table>\n"
        );
        assert_eq!(
            html("```rust\na < b\n```"),
            "<pre><code class=\"language-rust\">a &lt; b\n</code></pre>\n"
        );
    }

    #[test]
    fn markup_is_shown_as_text() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div>\n<style>*{}</style>\n</div>",
            "<!-- a -->",
            "# <b>x</b>",
            "`<b>`",
            "<svg/onload=alert(1)>",
        ] {
            let markup = html(text);
            for tag in ["script", "img", "div", "style", "!--", "b>", "svg"] {
                assert!(!markup.contains(&format!("<{tag}")), "{markup}");
            }
        }
    }

    #[test]
    fn links_lead_to_the_web_or_to_mail() {
        assert_eq!(
            html("[a](https://a.example \"t\") <mailto:b@c.example>"),
            "<p><a href=\"https://a.example\">a</a> <a href=\"mailto:b@c.example\">mailto:b@c.example</a></p>\n"
        );
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//a.example",
            "/api",
            "JaVaScRiPt:1",
        ] {
            assert_eq!(html(&format!("[a]({address})")), "<p>a</p>\n", "{address}");
        }
        assert_eq!(
            html("[a](https://a.example/\"><b>)"),
            "<p><a href=\"https://a.example/%22%3E%3Cb%3E\">a</a></p>\n"
        );
    }

    #[test]
    fn pictures_are_links_and_nothing_is_loaded() {
        assert_eq!(
            html("![a](https://a.example/b.png)"),
            "<p><a href=\"https://a.example/b.png\">a</a></p>\n"
        );
        assert_eq!(html("![a](data:image/png;base64,AA)"), "<p>a</p>\n");
        assert_eq!(
            html("[![a](https://a.example/b.png) c](https://d.example)"),
            "<p><a href=\"https://d.example\">a c</a></p>\n"
        );
        assert_eq!(
            html("[![a](https://a.example/b.png) c](/d)"),
            "<p><a href=\"https://a.example/b.png\">a</a> c</p>\n"
        );
    }
}
