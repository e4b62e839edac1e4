//! The text of `SpreadsheetML` (ECMA-376, part 1, 18): the stored values of cells, separated by tabs. Numbers and
//! dates are as stored, because their formats are not read.

use super::xml::{self, Piece};
use super::{Archive, MAX_TEXT_BYTES, OfficeError};
use std::fmt::Write as _;

/// Maximum number of tabs for one gap between cells.
const MAX_GAP: usize = 64;
/// The maximum number of sheets that are read.
const MAX_SHEETS: usize = 256;

/// The strings that cells refer to: all strings in one, with the end of each.
#[derive(Default)]
struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    fn get(&self, index: usize) -> Option<&str> {
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..*self.ends.get(index)?)
    }
}

/// Appends the text of all sheets.
pub(super) fn read(
    archive: &mut Archive<'_>,
    workbook: &str,
    out: &mut String,
) -> Result<(), OfficeError> {
    let folder = workbook.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = workbook.rsplit('/').next().unwrap_or_default();
    let relations = archive.relations(&format!("{folder}/_rels/{file}.rels"))?;
    let path_of = |target: &str| match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let strings = relations
        .iter()
        .find(|relation| relation.kind.ends_with("/sharedStrings"));
    let strings = match strings {
        Some(relation) => strings_of(archive, &path_of(&relation.target))?,
        None => Strings::default(),
    };
    for (name, id) in sheets_of(archive, workbook)? {
        let _ = writeln!(out, "\n[sheet {name}]");
        if let Some(sheet) = relations.iter().find(|relation| relation.id == id) {
            read_sheet(archive, &path_of(&sheet.target), &strings, out)?;
        }
        if out.len() >= MAX_TEXT_BYTES {
            break;
        }
    }
    Ok(())
}

/// Returns the names of the sheets and the IDs of their relations, in their order.
fn sheets_of(
    archive: &mut Archive<'_>,
    workbook: &str,
) -> Result<Vec<(String, String)>, OfficeError> {
    let mut sheets = Vec::new();
    let part = archive.part(workbook)?.ok_or(OfficeError::Unreadable)?;
    xml::walk(part, |piece| {
        if let Piece::Start("sheet", about) = piece {
            let of = |name| xml::attribute(about, name).unwrap_or_default();
            sheets.push((of("name"), of("id")));
        }
        sheets.len() < MAX_SHEETS
    })?;
    Ok(sheets)
}

fn strings_of(archive: &mut Archive<'_>, name: &str) -> Result<Strings, OfficeError> {
    let mut strings = Strings::default();
    let Some(part) = archive.part(name)? else {
        return Ok(strings);
    };
    let (mut is_text, mut phonetic) = (false, false);
    xml::walk(part, |piece| {
        match piece {
            // The text in this element is the pronunciation, which is skipped.
            Piece::Start("rPh", _) => phonetic = true,
            Piece::End("rPh") => phonetic = false,
            Piece::Start("t", _) => is_text = true,
            Piece::End("t") => is_text = false,
            Piece::End("si") => strings.ends.push(strings.text.len()),
            Piece::Text(text) if is_text && !phonetic => strings.text.push_str(text),
            _ => {}
        }
        true
    })?;
    Ok(strings)
}

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    /// The column, counted from 1.
    column: usize,
    is_shared: bool,
    has_value: bool,
    value: String,
}

fn read_sheet(
    archive: &mut Archive<'_>,
    name: &str,
    strings: &Strings,
    out: &mut String,
) -> Result<(), OfficeError> {
    let Some(part) = archive.part(name)? else {
        return Ok(());
    };
    let mut cell = Cell::default();
    let mut written = 1;
    xml::walk(part, |piece| {
        match piece {
            Piece::Start("row", _) => written = 1,
            Piece::Start("c", about) => {
                let column = xml::attribute(about, "r").and_then(|place| column_of(&place));
                cell = Cell {
                    column: column.unwrap_or(cell.column + 1),
                    is_shared: xml::attribute(about, "t").as_deref() == Some("s"),
                    ..Cell::default()
                };
            }
            Piece::Start("v" | "t", _) => cell.has_value = true,
            Piece::End("v" | "t") => cell.has_value = false,
            Piece::Text(text) if cell.has_value => cell.value.push_str(text),
            Piece::End("c") => {
                let value = if cell.is_shared {
                    let index = cell.value.trim().parse().ok();
                    index
                        .and_then(|index| strings.get(index))
                        .unwrap_or_default()
                } else {
                    &cell.value
                };
                if !value.is_empty() {
                    let gap = cell.column.saturating_sub(written).min(MAX_GAP);
                    out.extend(std::iter::repeat_n('\t', gap));
                    written = cell.column;
                    // A line break in a cell must not begin a new row.
                    out.push_str(&value.replace(['\n', '\t'], " "));
                }
            }
            Piece::End("row") => {
                cell.column = 0;
                out.push('\n');
            }
            _ => {}
        }
        out.len() < MAX_TEXT_BYTES
    })
}

/// Returns the column of a cell reference such as `AB12`.
fn column_of(place: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in place.bytes().take_while(u8::is_ascii_alphabetic) {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        column = column.checked_mul(26)?.checked_add(digit)?;
    }
    (column > 0).then_some(column)
}
