//! Renders an agent's Markdown as harmless HTML. The author is not trusted: HTML in the text is shown as text, nothing
//! is loaded, and links lead only to the web or to a mail program. The web UI (`ui/src/parts/markdown.ts`) renders the
//! same text by the same rules.

use crate::markdown::push;
use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

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
            Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
            // A single line break in a chat message is an intended line break.
            Event::SoftBreak => Event::HardBreak,
            other => other,
        };
        push(&mut self.events, event);
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
        // A link without text shows its URL.
        if !inside
            .iter()
            .any(|event| matches!(event, Event::Text(_) | Event::Code(_)))
        {
            self.events.push(Event::Text(link.address));
        }
        self.events.push(Event::End(TagEnd::Link));
    }
}

fn is_safe(address: &str) -> bool {
    let is = |scheme: &str| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    is("https://") || is("http://") || is("mailto:")
}

#[cfg(test)]
mod tests;
