//! Splits a text at a vendor's size limit. Parts that consist only of white space are dropped, because vendors refuse
//! them. A code block stays in one part if it fits. Otherwise it is closed at the end of a part and reopened in the
//! next part. Apart from that, the concatenated parts equal the text.

use crate::fences::{Block, blocks};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// The maximum size of a message and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Unlimited.
    None,
    /// UTF-16 code units.
    Utf16(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
    /// Bytes of the text as a JSON string.
    JsonBytes(usize),
}

impl Limit {
    const fn max(self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Utf16(max) | Self::Bytes(max) | Self::JsonBytes(max) => max,
        }
    }

    /// Returns the limit, reduced by this weight.
    const fn less(self, weight: usize) -> Self {
        match self {
            Self::None => Self::None,
            Self::Utf16(max) => Self::Utf16(max.saturating_sub(weight)),
            Self::Bytes(max) => Self::Bytes(max.saturating_sub(weight)),
            Self::JsonBytes(max) => Self::JsonBytes(max.saturating_sub(weight)),
        }
    }

    /// Returns whether the text fits into one part.
    pub(crate) fn admits(self, text: &str) -> bool {
        self.weigh(text) <= self.max()
    }

    fn weigh(self, text: &str) -> usize {
        let of = |c: char| match self {
            Self::None => 0,
            Self::Utf16(_) => c.len_utf16(),
            Self::Bytes(_) => c.len_utf8(),
            Self::JsonBytes(_) => match c {
                '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
                '\0'..='\u{1f}' => 6,
                other => other.len_utf8(),
            },
        };
        text.chars().map(of).sum()
    }
}

/// Splits a text into parts within the limit. Cuts after a line if the part is then at least half full, otherwise after
/// a word, otherwise between grapheme clusters. Without a limit there is one part, even if it is blank.
pub(crate) fn split(text: &str, limit: Limit) -> Vec<Cow<'_, str>> {
    if limit == Limit::None {
        return vec![text.into()];
    }
    let blocks = blocks(text);
    let mut parts = Vec::new();
    let (mut at, mut reopened) = (0, None);
    while at < text.len() {
        let next = next_part(text, at, reopened, &blocks, limit);
        if !next.text.trim().is_empty() {
            parts.push(next.text);
        }
        (at, reopened) = (next.end, next.reopened);
    }
    parts
}

/// A part, and the position where the next part begins.
struct Next<'t, 'b> {
    text: Cow<'t, str>,
    end: usize,
    /// The block that the next part continues.
    reopened: Option<&'b Block<'t>>,
}

fn next_part<'t, 'b>(
    text: &'t str,
    at: usize,
    reopened: Option<&'b Block<'t>>,
    blocks: &'b [Block<'t>],
    limit: Limit,
) -> Next<'t, 'b> {
    let rest = text.get(at..).unwrap_or_default();
    let opening = reopened.map_or(String::new(), |block| format!("{}\n", block.opening));
    let part = |end: usize, closing: &str, reopened| {
        let piece = text.get(at..end).unwrap_or_default();
        let text = if opening.is_empty() && closing.is_empty() {
            piece.into()
        } else {
            let line_break = if closing.is_empty() || piece.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            format!("{opening}{piece}{line_break}{closing}").into()
        };
        Next {
            text,
            end,
            reopened,
        }
    };
    let opening_weight = limit.weigh(&opening);
    if opening_weight.saturating_add(limit.weigh(rest)) <= limit.max() {
        return part(text.len(), "", None);
    }
    let line_break = limit.weigh("\n");
    let closing_weight = blocks
        .iter()
        .filter(|block| block.end > at)
        .map(|block| line_break + limit.weigh(&block.close))
        .max()
        .unwrap_or(0);
    let added = opening_weight.saturating_add(closing_weight);
    if added > limit.max() / 2 {
        // The added fences leave too little space, so the block is cut without them.
        let end = at + cut(rest, limit);
        return Next {
            text: text.get(at..end).unwrap_or_default().into(),
            end,
            reopened: None,
        };
    }
    let mut end = at + cut(rest, limit.less(added));
    // A part must not end right after the line that opens a block.
    if let Some(block) = blocks.iter().find(|it| it.start == at && end <= it.body) {
        let head = text.get(at..block.body).unwrap_or_default();
        let taken = added.saturating_add(limit.weigh(head));
        if taken <= limit.max() / 4 * 3 {
            let body = text.get(block.body..).unwrap_or_default();
            end = block.body + cut(body, limit.less(taken));
        }
    }
    let Some(block) = blocks.iter().find(|it| it.start < end && end < it.end) else {
        return part(end, "", None);
    };
    let whole = text.get(block.start..block.end).unwrap_or_default();
    if block.start > at && (limit.weigh(whole) <= limit.max() || end <= block.body) {
        return part(block.start, "", None);
    }
    if end < block.body {
        return part(end, "", None);
    }
    let body = end.min(block.closing);
    let left = text.get(body..block.closing).unwrap_or_default();
    if left.trim().is_empty() && block.closing < block.end {
        // Only the closing line of the block remains. It may be longer than the added closing line.
        return Next {
            end: block.end,
            ..part(body, &block.close, None)
        };
    }
    part(end, &block.close, Some(block))
}

/// Returns the length of the first part in bytes, which is never 0.
fn cut(text: &str, limit: Limit) -> usize {
    let max = limit.max();
    let (mut weight, mut line, mut word, mut character) = (0_usize, None, None, None);
    for (at, grapheme) in text.grapheme_indices(true) {
        weight = weight.saturating_add(limit.weigh(grapheme));
        if weight > max {
            let full_enough = |(end, weight): &(usize, usize)| *end > 0 && *weight >= max / 2;
            return line
                .filter(full_enough)
                .or(word)
                .map(|(end, _)| end)
                .or_else(|| character.map(|end| mend(text, end)))
                .unwrap_or_else(|| scalars(text, limit));
        }
        let end = at + grapheme.len();
        character = Some(end);
        if grapheme.ends_with('\n') {
            line = Some((end, weight));
        }
        if grapheme.chars().all(char::is_whitespace) {
            word = Some((end, weight));
        }
    }
    text.len()
}

/// Moves a cut that is inside a word to the start of an escape that [`crate::Markup`] wrote.
fn mend(text: &str, end: usize) -> usize {
    let head = text.get(..end).unwrap_or_default();
    let backslashes = head.len() - head.trim_end_matches('\\').len();
    let earlier = if backslashes % 2 == 1 {
        end - 1
    } else {
        match head.rfind('&') {
            Some(at) if end - at < 6 && !head.get(at..).unwrap_or_default().contains(';') => at,
            _ => end,
        }
    };
    if earlier == 0 { end } else { earlier }
}

/// Cuts between code points when a single grapheme cluster exceeds the limit. Keeps at least one code point.
fn scalars(text: &str, limit: Limit) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if end > 0 && limit.weigh(text.get(..next).unwrap_or_default()) > limit.max() {
            break;
        }
        end = next;
    }
    end
}

#[cfg(test)]
mod tests;
