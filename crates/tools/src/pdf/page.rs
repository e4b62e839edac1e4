//! The text of a page, from the operators of its content (ISO 32000-1, 9). Positions show where a line or a word ends.

mod run;

use super::font::Font;
use super::load::MAX_STREAM_BYTES;
use super::state::Graphics;
use lopdf::{Dictionary, Document, Object, ObjectId};
use run::Run;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// The number of fonts that are kept for later pages.
const MAX_FONTS: usize = 50;

/// Reads pages of one document.
pub(super) struct Reader<'d> {
    document: &'d Document,
    until: Instant,
    /// How many forms of the page were read.
    forms: usize,
    /// The fonts by their address in the document.
    fonts: BTreeMap<*const Dictionary, Rc<Font<'d>>>,
}

impl<'d> Reader<'d> {
    pub(super) fn new(document: &'d Document, until: Instant) -> Self {
        Self {
            document,
            until,
            forms: 0,
            fonts: BTreeMap::new(),
        }
    }

    /// Returns the text of a page, as far as it can be read.
    pub(super) fn text(&mut self, page: ObjectId) -> String {
        self.forms = 0;
        let document = self.document;
        let content = document.get_page_content_with_limit(page, MAX_STREAM_BYTES);
        let Ok(content) = content else {
            return "(This page is too complex to read.)".to_owned();
        };
        let mut resources = Vec::new();
        if let Ok((direct, ids)) = document.get_page_resources(page) {
            let others = ids
                .iter()
                .filter_map(|id| document.get_dictionary(*id).ok());
            resources.extend(direct.into_iter().chain(others));
        }
        let mut run = Run {
            reader: self,
            out: String::new(),
            end: None,
        };
        run.content(&content, &Resources(resources), Graphics::default(), 0);
        run.out
    }

    fn font(&mut self, font: &'d Dictionary) -> Rc<Font<'d>> {
        let address = std::ptr::from_ref(font);
        if self.fonts.len() >= MAX_FONTS && !self.fonts.contains_key(&address) {
            self.fonts.clear();
        }
        let document = self.document;
        let read = || Rc::new(Font::read(document, font));
        Rc::clone(self.fonts.entry(address).or_insert_with(read))
    }
}

/// The resources that names in a content refer to.
struct Resources<'d>(Vec<&'d Dictionary>);

impl<'d> Resources<'d> {
    fn find(&self, document: &'d Document, category: &[u8], name: &[u8]) -> Option<&'d Object> {
        self.0.iter().find_map(|resources| {
            let category = resources.get_deref(category, document).ok()?;
            category.as_dict().ok()?.get_deref(name, document).ok()
        })
    }
}
