//! Parses boxes of any type (ISO 14496-12, 4.2).

use crate::read::big;
use crate::sample::narrow;

#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: [u8; 4],
    /// Offset of the box in the bytes it was read from.
    pub(super) at: usize,
    /// The content, which is shorter than declared when the file is truncated.
    pub(super) content: &'a [u8],
}

/// Returns the boxes in `bytes`, in order.
pub(super) fn children(bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..)?;
        let short = big(rest, 0, 4)?;
        let name = *rest.get(4..)?.first_chunk()?;
        let (head, length) = match short {
            // The box extends to the end.
            0 => (8, rest.len()),
            1 => (16, narrow(big(rest, 8, 8)?)),
            length => (8, narrow(length)),
        };
        if length < head {
            return None;
        }
        let part = Part {
            name,
            at,
            content: rest.get(head..length.min(rest.len()))?,
        };
        at = at.saturating_add(length);
        Some(part)
    })
}

/// Returns the content of the first box of this name.
pub(super) fn child(bytes: &[u8], name: [u8; 4]) -> Option<&[u8]> {
    children(bytes)
        .find(|part| part.name == name)
        .map(|part| part.content)
}
