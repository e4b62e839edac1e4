//! Reads the text of untrusted PDF documents. Uses no network.
//!
//! A small file can describe objects, streams and codes that need any amount of memory or time. Each of these therefore
//! has a limit here. The work runs on its own thread, and a panic of the thread becomes an error of the call.

mod font;
mod load;
mod matrix;
mod page;
mod state;
mod unicode_map;

use crate::html::Article;
use crate::off_thread::{Overrun, Slots};
use crate::text;
use lopdf::Document;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The time limit for reading the pages. The pages that were read within it are returned.
const PAGES_TIME: Duration = Duration::from_secs(8);
/// The time limit for the whole document.
const TOTAL_TIME: Duration = Duration::from_secs(16);
/// The stack size. It is enough for objects that are nested as deeply as the library allows.
const STACK_BYTES: usize = 32 << 20;
/// The number of documents that are read concurrently. Each one can temporarily take several
/// hundred MiB.
const SLOTS: usize = 1;
/// The text size after which no further pages are read, in bytes.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Why a document cannot be read. The text is for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PdfError {
    #[error("The PDF is encrypted, so its text cannot be read.")]
    Encrypted,
    #[error("The PDF is damaged or too complex, so its text cannot be read.")]
    Unreadable,
    #[error("Reading the PDF took too long. Try again later, or another document.")]
    TooSlow,
}

/// Reads documents on separate threads.
#[derive(Debug)]
pub(crate) struct PdfReader {
    slots: Slots,
}

impl PdfReader {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slots::new("web_fetch_pdf", SLOTS, STACK_BYTES),
        }
    }

    /// Returns the title and the text of a document. A line before each page contains its number.
    pub(crate) async fn read(&self, bytes: Vec<u8>) -> Result<Article, PdfError> {
        let read = self.slots.run(TOTAL_TIME, move || read(&bytes)).await;
        read.unwrap_or_else(|overrun| {
            Err(match overrun {
                Overrun::TooLong => PdfError::TooSlow,
                Overrun::Broken => PdfError::Unreadable,
            })
        })
    }
}

fn read(bytes: &[u8]) -> Result<Article, PdfError> {
    let document = load::document(bytes)?;
    let until = Instant::now() + PAGES_TIME;
    let pages: Vec<_> = document.page_iter().collect();
    let mut reader = page::Reader::new(&document, until);
    let mut text = String::new();
    let mut has_text = false;
    for (index, page) in pages.iter().enumerate() {
        if text.len() > MAX_TEXT_BYTES || Instant::now() > until {
            let _ = write!(text, "\n[{index} of {} pages were read]", pages.len());
            break;
        }
        let page = reader.text(*page);
        has_text |= !page.trim().is_empty();
        let _ = writeln!(text, "\n[page {} of {}]\n{page}", index + 1, pages.len());
    }
    if !has_text {
        text = String::from("(The PDF contains no text. Its pages may be images.)");
    }
    Ok(Article {
        title: text::one_line(&title(&document).unwrap_or_default(), 300),
        text: text::readable(&text),
    })
}

fn title(document: &Document) -> Option<String> {
    let about = document.trailer.get_deref(b"Info", document).ok()?;
    let title = about.as_dict().ok()?.get_deref(b"Title", document).ok()?;
    lopdf::decode_text_string(title).ok()
}
