//! The page: built before anything that shows it, then looked at by its own tools.

use super::{Session, node};
use crate::generate;
use crate::page::Page;

impl Session<'_> {
    /// The page, built, or nothing: then what stands in its way has been reported.
    pub fn prepare_page(&mut self) -> Option<Page> {
        match node::ensure().and_then(|()| Page::prepare(self.root)) {
            Ok(page) => {
                self.report.engine(&page.node);
                let is_built = self
                    .report
                    .step("page: build", || page.build_if_changed().map(|_| ()));
                is_built.then_some(page)
            }
            Err(error) => {
                self.report.left_out("the page", &error);
                None
            }
        }
    }

    /// Its types, its format, its tests, and whether its client is what the documents say.
    pub fn check_page(&mut self, page: &Page) {
        self.report
            .step("page: types and format", || page.npm(&["run", "check"]));
        self.report.step("page: tests", || page.npm(&["test"]));
        self.report
            .step("page: client", || generate::client(page, true));
    }
}
