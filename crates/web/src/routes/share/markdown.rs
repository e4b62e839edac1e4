//! Renders an agent's Markdown as harmless HTML. The author is not trusted: HTML in the text is shown as
//! text, nothing is loaded, and links lead only to the web or to a mail program. The page
//! (`ui/src/parts/markdown.ts`) renders the same text by the same rules.

use pulldown_cmark::{
    Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

/// Elements wider than the page scroll on their own, also with the keyboard.
const CODE: (&str, &str) = (
    "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\"><code>",
    "</code></pre>\n",
);
const TABLE: (&str, &str) = (
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">",
    "</div>\n",
);

/// Renders `text` as HTML below a heading of level 2.
pub(super) fn html(text: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut safe = Safe::default();
    for event in Parser::new_ext(text, options) {
        safe.take(event);
    }
    let mut markup = String::with_capacity(text.len() * 2);
    html::push_html(&mut markup, safe.events.into_iter());
    markup
}

/// Collects the safe events of a text.
#[derive(Default)]
struct Safe<'a> {
    events: Vec<Event<'a>>,
    /// The open links. An image may be inside a link.
    links: Vec<Link<'a>>,
    heading: Heading,
}

struct Link<'a> {
    address: CowStr<'a>,
    is_shown: bool,
    /// The number of events when the link was opened.
    began_at: usize,
}

/// The level of the latest heading. Deeper headings never skip a level.
struct Heading(usize);

impl Default for Heading {
    fn default() -> Self {
        Self(2)
    }
}

impl Heading {
    fn level(&self) -> HeadingLevel {
        HeadingLevel::try_from(self.0).unwrap_or(HeadingLevel::H6)
    }

    /// Moves the heading two levels down, because the title and the speaker are above it.
    fn follow(&mut self, level: HeadingLevel) -> HeadingLevel {
        self.0 = (level as usize + 2).min(self.0 + 1).min(6);
        self.level()
    }
}

impl<'a> Safe<'a> {
    fn take(&mut self, event: Event<'a>) {
        let event = match event {
            // Models use this for line breaks in tables.
            Event::InlineHtml(text) if is_line_break(&text) => Event::HardBreak,
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                return self.open_link(dest_url);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => return self.close_link(),
            Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
                level: self.heading.follow(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Heading(self.heading.level())),
            Event::Start(Tag::CodeBlock(_)) => Event::Html(CODE.0.into()),
            Event::End(TagEnd::CodeBlock) => Event::Html(CODE.1.into()),
            // The renderer would write alignment as a style attribute, which the page's policy forbids.
            Event::Start(Tag::Table(columns)) => {
                self.events.push(Event::Html(TABLE.0.into()));
                Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
            }
            Event::End(TagEnd::Table) => {
                self.events.push(Event::End(TagEnd::Table));
                Event::Html(TABLE.1.into())
            }
            Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
            // A single line break in a chat message is meant as a line break.
            Event::SoftBreak => Event::HardBreak,
            other => other,
        };
        self.events.push(event);
    }

    /// Omits the link when its address is not safe or when it is inside another link.
    fn open_link(&mut self, address: CowStr<'a>) {
        let is_shown = is_safe(&address) && !self.links.iter().any(|link| link.is_shown);
        if is_shown {
            self.events.push(Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url: address.clone(),
                title: CowStr::Borrowed(""),
                id: CowStr::Borrowed(""),
            }));
        }
        let began_at = self.events.len();
        self.links.push(Link {
            address,
            is_shown,
            began_at,
        });
    }

    fn close_link(&mut self) {
        let Some(link) = self.links.pop().filter(|link| link.is_shown) else {
            return;
        };
        let inside = self.events.get(link.began_at..).unwrap_or_default();
        // A link without text shows its address.
        if !inside
            .iter()
            .any(|event| matches!(event, Event::Text(_) | Event::Code(_)))
        {
            self.events.push(Event::Text(link.address));
        }
        self.events.push(Event::End(TagEnd::Link));
    }
}

fn is_line_break(tag: &str) -> bool {
    let inside = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>'));
    inside.is_some_and(|name| name.trim_end_matches([' ', '/']).eq_ignore_ascii_case("br"))
}

fn is_safe(address: &str) -> bool {
    let is = |scheme: &str| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    is("https://") || is("http://") || is("mailto:")
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
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n\
             </tbody></table>\n</div>\n"
        );
        assert_eq!(
            html("```rust\na < b\n```"),
            "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\"><code>a &lt; b\n</code></pre>\n"
        );
    }

    #[test]
    fn a_line_break_is_one() {
        for tag in ["<br>", "<br/>", "<BR />"] {
            assert_eq!(html(&format!("a{tag}b")), "<p>a<br />\nb</p>\n", "{tag}");
        }
    }

    #[test]
    fn no_level_of_headings_is_skipped() {
        assert_eq!(
            html("#### A\n# B\n### C\n###### D"),
            "<h3>A</h3>\n<h3>B</h3>\n<h4>C</h4>\n<h5>D</h5>\n"
        );
    }

    #[test]
    fn a_link_without_a_text_is_called_by_where_it_leads() {
        for text in [
            "[](https://a.example)",
            "![](https://a.example)",
            "[![](/b)](https://a.example)",
        ] {
            assert_eq!(
                html(text),
                "<p><a href=\"https://a.example\">https://a.example</a></p>\n",
                "{text}"
            );
        }
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
