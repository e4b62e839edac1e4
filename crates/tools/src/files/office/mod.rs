//! Reads the text of office documents. These are ZIP archives with XML parts: Word, Excel and `PowerPoint` files since
//! 2007 (ECMA-376), and `LibreOffice` files (`OpenDocument`).
//!
//! A small archive can contain a document of any size, so the entries, the decompressed bytes and the text have limits.
//! Only the parts with text are decompressed.

mod sheets;
mod words;
mod xml;

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use xml::Piece;
use zip::ZipArchive;

/// The maximum number of entries in an archive. Each entry takes memory while the archive is open.
pub(super) const MAX_ENTRIES: usize = 4_096;
/// The mark before each entry in an archive's list.
const ENTRY_MARK: &[u8] = b"PK\x01\x02";
/// The maximum total size of a document's decompressed parts, in bytes.
pub(super) const MAX_BYTES: u64 = 64 << 20;
/// The text size after which no further parts are read, in bytes.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// The number of bytes read from the part that identifies an `OpenDocument`.
const MAX_TYPE_BYTES: u64 = 256;

/// Why a document cannot be read. The text is for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OfficeError {
    #[error("The document is encrypted or damaged, so its text cannot be read.")]
    Unreadable,
    #[error("The document is too large, so its text cannot be read.")]
    TooLarge,
}

/// A document.
#[derive(Debug, PartialEq)]
pub(super) struct Office {
    pub(super) media_type: &'static str,
    pub(super) text: Result<String, OfficeError>,
}

#[derive(Clone, Copy)]
enum Format {
    Word,
    Excel,
    PowerPoint,
    OdfText,
    OdfSheet,
    OdfSlides,
}

/// Reads an archive. Returns `None` if it is not an office document.
pub(super) fn read(data: &[u8]) -> Option<Office> {
    let entries = data.windows(ENTRY_MARK.len());
    if entries.filter(|part| *part == ENTRY_MARK).count() > MAX_ENTRIES {
        return None;
    }
    let mut archive = Archive {
        zip: ZipArchive::new(Cursor::new(data)).ok()?,
        left: MAX_BYTES,
    };
    let (format, main) = archive.format()?;
    Some(Office {
        media_type: format.media_type(),
        text: text(&mut archive, format, &main),
    })
}

fn text(archive: &mut Archive<'_>, format: Format, main: &str) -> Result<String, OfficeError> {
    let mut text = String::new();
    let rules = match format {
        Format::Word => {
            words::read(archive, main, &words::WORD, &mut text)?;
            for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
                words::read(archive, notes, &words::WORD, &mut text)?;
            }
            return Ok(text);
        }
        Format::Excel => {
            sheets::read(archive, main, &mut text)?;
            return Ok(text);
        }
        Format::PowerPoint => {
            for (number, slide) in archive.slides() {
                let _ = writeln!(text, "\n[slide {number}]");
                words::read(archive, &slide, &words::SLIDE, &mut text)?;
            }
            return Ok(text);
        }
        Format::OdfText => words::ODF,
        Format::OdfSheet => words::ODF.with_heading("table", "sheet"),
        Format::OdfSlides => words::ODF.with_heading("page", "slide"),
    };
    words::read(archive, main, &rules, &mut text)?;
    Ok(text)
}

impl Format {
    /// Returns the registered types of <https://www.iana.org/assignments/media-types>.
    fn media_type(self) -> &'static str {
        match self {
            Self::Word => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Excel => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::PowerPoint => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::OdfText => "application/vnd.oasis.opendocument.text",
            Self::OdfSheet => "application/vnd.oasis.opendocument.spreadsheet",
            Self::OdfSlides => "application/vnd.oasis.opendocument.presentation",
        }
    }
}

/// An archive, with the number of bytes that may still be decompressed.
struct Archive<'d> {
    zip: ZipArchive<Cursor<&'d [u8]>>,
    left: u64,
}

impl Archive<'_> {
    /// Returns the format and the name of the main part.
    fn format(&mut self) -> Option<(Format, String)> {
        if let Some(format) = self.open_document() {
            return Some((format, "content.xml".to_owned()));
        }
        let main = self.relations("_rels/.rels").ok()?;
        let main = main
            .into_iter()
            .find(|relation| relation.kind.ends_with("/officeDocument"))?;
        let main = main.target.trim_start_matches('/').to_owned();
        let format = match main.split('/').next()? {
            "word" => Format::Word,
            "xl" => Format::Excel,
            "ppt" => Format::PowerPoint,
            _ => return None,
        };
        Some((format, main))
    }

    /// Returns the part `mimetype` (`OpenDocument` 1.3, part 2, 3.3).
    fn open_document(&mut self) -> Option<Format> {
        let mut named = String::new();
        let part = self.part("mimetype").ok()??;
        part.take(MAX_TYPE_BYTES).read_to_string(&mut named).ok()?;
        let all = [Format::OdfText, Format::OdfSheet, Format::OdfSlides];
        let named = named.trim();
        all.into_iter().find(|format| format.media_type() == named)
    }

    /// Opens a part. Returns `None` if there is no part with this name.
    fn part(&mut self, name: &str) -> Result<Option<impl BufRead + '_>, OfficeError> {
        let Some(index) = self.zip.index_for_name(name) else {
            return Ok(None);
        };
        let part = self.zip.by_index(index);
        let part = part.map_err(|_| OfficeError::Unreadable)?;
        let left = &mut self.left;
        Ok(Some(BufReader::new(Limited { part, left })))
    }

    /// Returns the slides sorted by number, which is the order in which they were added.
    fn slides(&self) -> Vec<(u32, String)> {
        let mut slides: Vec<(u32, String)> = self
            .zip
            .file_names()
            .filter_map(|name| {
                let number = name.strip_prefix("ppt/slides/slide")?;
                let number = number.strip_suffix(".xml")?.parse().ok()?;
                Some((number, name.to_owned()))
            })
            .collect();
        slides.sort_unstable();
        slides
    }

    /// Returns the relationships of a part to other parts.
    fn relations(&mut self, name: &str) -> Result<Vec<Relation>, OfficeError> {
        let mut relations = Vec::new();
        let Some(part) = self.part(name)? else {
            return Ok(relations);
        };
        xml::walk(part, |piece| {
            if let Piece::Start("Relationship", about) = piece {
                let of = |name| xml::attribute(about, name).unwrap_or_default();
                relations.push(Relation {
                    id: of("Id"),
                    kind: of("Type"),
                    target: of("Target"),
                });
            }
            relations.len() < MAX_ENTRIES
        })?;
        Ok(relations)
    }
}

struct Relation {
    id: String,
    kind: String,
    target: String,
}

/// Reads a part up to the document's limit. After the limit, reading fails.
struct Limited<'a, R> {
    part: R,
    left: &'a mut u64,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(buffer)?;
        *self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
