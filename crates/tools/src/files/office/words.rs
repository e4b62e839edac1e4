//! The text of documents that consist of paragraphs: Word, slides, and `OpenDocument`.

use super::xml::{self, Piece};
use super::{Archive, MAX_TEXT_BYTES, OfficeError};
use std::fmt::Write as _;

/// The maximum number of spaces for one element.
const MAX_SPACES: usize = 100;

/// The meaning of a format's elements.
pub(super) struct Rules {
    /// Elements whose text is read.
    text: &'static [&'static str],
    /// Elements that are skipped with their content.
    skipped: &'static [&'static str],
    /// Elements that end a line.
    lines: &'static [&'static str],
    breaks: &'static [&'static str],
    tab: &'static str,
    cell: &'static str,
    row: &'static str,
    /// An element that begins a part of the document, and its name in the text.
    heading: Option<(&'static str, &'static str)>,
}

impl Rules {
    /// Returns these rules with a line before each part of the document.
    pub(super) const fn with_heading(self, element: &'static str, label: &'static str) -> Self {
        Self {
            heading: Some((element, label)),
            ..self
        }
    }
}

/// `WordprocessingML` (ECMA-376, part 1, 17).
pub(super) const WORD: Rules = Rules {
    text: &["t"],
    // The element `tab` also occurs in properties, and moved text occurs again at its new position.
    // Both are skipped.
    skipped: &["pPr", "rPr", "sectPr", "moveFrom", "Fallback"],
    lines: &["p"],
    breaks: &["br", "cr"],
    tab: "tab",
    cell: "tc",
    row: "tr",
    heading: None,
};

/// `PresentationML` with `DrawingML` (ECMA-376, part 1, 19 and 21).
pub(super) const SLIDE: Rules = WORD;

/// `OpenDocument` 1.3, part 3.
pub(super) const ODF: Rules = Rules {
    text: &["p", "h"],
    skipped: &["tracked-changes", "annotation"],
    lines: &["p", "h"],
    breaks: &["line-break"],
    tab: "tab",
    cell: "table-cell",
    row: "table-row",
    heading: None,
};

/// Appends the text of a part, if there is one.
pub(super) fn read(
    archive: &mut Archive<'_>,
    name: &str,
    rules: &Rules,
    out: &mut String,
) -> Result<(), OfficeError> {
    let Some(part) = archive.part(name)? else {
        return Ok(());
    };
    let mut place = OpenElements::default();
    xml::walk(part, |piece| {
        match piece {
            Piece::Start(name, _) if rules.skipped.contains(&name) => place.skipped += 1,
            Piece::End(name) if rules.skipped.contains(&name) => place.skipped -= 1,
            _ if place.skipped > 0 => {}
            Piece::Start(name, about) => {
                place.in_text += usize::from(rules.text.contains(&name));
                start(rules, name, about, out);
            }
            Piece::End(name) => {
                place.in_text -= usize::from(rules.text.contains(&name));
                end(rules, name, out);
            }
            Piece::Text(text) if place.in_text > 0 => out.push_str(text),
            Piece::Text(_) => {}
        }
        out.len() < MAX_TEXT_BYTES
    })
}

/// The number of open elements of each kind. The parser refuses an end without a start.
#[derive(Default)]
struct OpenElements {
    skipped: usize,
    in_text: usize,
}

fn start(rules: &Rules, name: &str, about: &quick_xml::events::BytesStart<'_>, out: &mut String) {
    if rules.breaks.contains(&name) {
        out.push('\n');
    } else if name == rules.tab {
        out.push('\t');
    } else if name == "s" {
        // In `OpenDocument`, this element represents several spaces.
        let count = xml::attribute(about, "c").and_then(|count| count.parse().ok());
        out.extend(std::iter::repeat_n(' ', count.unwrap_or(1).min(MAX_SPACES)));
    } else if let Some((element, label)) = rules.heading
        && name == element
    {
        let called = xml::attribute(about, "name").unwrap_or_default();
        let _ = writeln!(out, "\n[{label} {called}]");
    }
}

fn end(rules: &Rules, name: &str, out: &mut String) {
    if rules.lines.contains(&name) {
        out.push('\n');
    } else if name == rules.cell {
        // The last paragraph of a cell does not end the row's line.
        if out.ends_with('\n') {
            out.pop();
        }
        out.push('\t');
    } else if name == rules.row {
        out.truncate(out.trim_end_matches('\t').len());
        out.push('\n');
    }
}
