//! Builds the web UI before the steps that need it, and runs its checks.

use super::{Session, node};
use crate::generate;
use crate::page::Page;

impl Session<'_> {
    /// Builds the web UI. Returns `None` after reporting the reason for a failure.
    pub fn prepare_page(&mut self) -> Option<Page> {
        match node::ensure().and_then(|()| Page::prepare(self.root)) {
            Ok(page) => {
                self.report.engine(&page.node);
                let is_built = self
                    .report
                    .step("web UI: build", || page.build_if_changed().map(|_| ()));
                self.has_page = is_built;
                is_built.then_some(page)
            }
            Err(error) => {
                self.report.left_out("web UI", &error);
                None
            }
        }
    }

    /// Checks types, formatting, tests, and whether the generated client matches the documents.
    pub fn check_page(&mut self, page: &Page) {
        self.report
            .step("web UI: types and format", || page.npm(&["run", "check"]));
        self.report.step("web UI: tests", || page.npm(&["test"]));
        self.report
            .step("web UI: client", || generate::client(page, true));
    }
}
