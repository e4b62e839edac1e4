//! Renders a document as HTML, and divides it into sections for the search. Headings have the same IDs as at code
//! hosts. Links to other documents lead to their pages. Links to files that are not embedded become text.

use super::chapters::{self, Chapter};
use crate::markdown::push;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// A rendered document.
pub(super) struct Rendered {
    pub(super) title: String,
    pub(super) html: String,
}

/// Renders the document.
pub(super) fn render(chapter: &Chapter) -> Rendered {
    let mut writer = Writer {
        file: chapter.file,
        events: Vec::new(),
        links: Vec::new(),
        heading: None,
        ids: Ids::default(),
        title: None,
    };
    for event in events(chapter) {
        writer.take(event);
    }
    let mut markup = String::with_capacity(chapter.text.len() * 2);
    html::push_html(&mut markup, writer.events.into_iter());
    Rendered {
        title: writer.title.unwrap_or_default(),
        html: markup,
    }
}

fn events(chapter: &Chapter) -> Parser<'static> {
    Parser::new_ext(chapter.text, Options::ENABLE_TABLES)
}

/// A heading and the text up to the next one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) heading: String,
    /// The ID of the heading.
    pub(super) id: String,
    /// The text without markup. Lines may be of any length.
    pub(super) text: String,
}

/// Returns the sections of the document. Text before the first heading belongs to no section.
pub(super) fn sections(chapter: &Chapter) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut ids = Ids::default();
    let mut is_heading = false;
    for event in events(chapter) {
        if matches!(event, Event::Start(Tag::Heading { .. })) {
            is_heading = true;
            sections.push(Section::default());
        }
        let Some(section) = sections.last_mut() else {
            continue;
        };
        match event {
            Event::End(TagEnd::Heading(_)) => {
                is_heading = false;
                section.id = ids.id_of(&section.heading);
            }
            Event::Text(text) | Event::Code(text) if is_heading => section.heading.push_str(&text),
            Event::Text(text) | Event::Code(text) => section.text.push_str(&text),
            Event::SoftBreak
            | Event::HardBreak
            | Event::InlineHtml(_)
            | Event::End(
                TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock,
            ) => section.text.push(' '),
            _ => {}
        }
    }
    sections
}

/// The IDs of a document's headings. A repeated ID gets a number.
#[derive(Default)]
struct Ids(HashMap<String, usize>);

impl Ids {
    fn id_of(&mut self, heading: &str) -> String {
        let name = slug(heading);
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name,
            number => format!("{name}-{}", number - 1),
        }
    }
}

struct Writer<'a> {
    file: &'a str,
    events: Vec<Event<'a>>,
    /// Whether each open link is shown.
    links: Vec<bool>,
    /// The open heading: its event and its text so far.
    heading: Option<(usize, String)>,
    ids: Ids,
    title: Option<String>,
}

impl<'a> Writer<'a> {
    fn take(&mut self, event: Event<'a>) {
        if let (Some((_, title)), Event::Text(text) | Event::Code(text)) =
            (&mut self.heading, &event)
        {
            title.push_str(text);
        }
        let event = match event {
            Event::Start(Tag::Heading { .. }) => {
                self.heading = Some((self.events.len(), String::new()));
                event
            }
            Event::End(TagEnd::Heading(_)) => {
                self.name_heading();
                event
            }
            Event::Start(Tag::Link {
                dest_url,
                link_type,
                title,
                id,
            }) => {
                let target = target(self.file, &dest_url);
                self.links.push(target.is_some());
                let Some(target) = target else { return };
                let dest_url = CowStr::from(target);
                Event::Start(Tag::Link {
                    link_type,
                    dest_url,
                    title,
                    id,
                })
            }
            Event::End(TagEnd::Link) if self.links.pop() != Some(true) => return,
            // Pictures are not embedded. Their alternative text remains.
            Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
            Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
            other => other,
        };
        push(&mut self.events, event);
    }

    fn name_heading(&mut self) {
        let Some((place, text)) = self.heading.take() else {
            return;
        };
        let name = self.ids.id_of(&text);
        if let Some(Event::Start(Tag::Heading { id, .. })) = self.events.get_mut(place) {
            *id = Some(CowStr::from(name));
        }
        self.title.get_or_insert(text);
    }
}

/// Returns the ID of a heading, by the rules of code hosts: lower case, hyphens for spaces, no
/// punctuation.
fn slug(text: &str) -> String {
    let kept = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    };
    text.to_lowercase().chars().filter_map(kept).collect()
}

/// Returns the target of a link in the document `file`, or `None` if the gateway has no such page.
fn target(file: &str, link: &str) -> Option<String> {
    let is = |scheme: &str| link.starts_with(scheme);
    if is("https://") || is("http://") || is("#") {
        return Some(link.to_owned());
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let name = chapters::of_file(&resolved(file, path)?)?.name();
    let hash = if fragment.is_empty() { "" } else { "#" };
    Some(format!("/docs/{name}{hash}{fragment}"))
}

/// Returns the path relative to `docs/` of a path that is relative to `file`.
fn resolved(file: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("." | "", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let path = parts.join("/");
    let path = path.strip_prefix("../docs/").unwrap_or(&path);
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests;
