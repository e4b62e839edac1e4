//! Splits a block that contains several packets (RFC 9559, 10.3). Also splits the three Vorbis headers, which use the
//! same lacing (RFC 9559's codec mappings).

use super::ebml::vint;
use crate::AudioError;
use crate::sample::{narrow, wide};

/// Reports the packets of a block with these flags. Reports nothing for invalid lacing.
pub(super) fn packets(
    data: &[u8],
    flags: u8,
    each: &mut dyn FnMut(&[u8]) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
    let kind = (flags >> 1) & 3;
    if kind == 0 {
        return each(data);
    }
    let Some((count, rest)) = data.split_first() else {
        return Ok(());
    };
    let count = usize::from(*count) + 1;
    let laced = match kind {
        1 => xiph(rest, count),
        // There cannot be more packets than bytes. Otherwise, a few bytes could become hundreds of
        // packets.
        2 if rest.len() < count => None,
        2 => Some((vec![rest.len() / count; count - 1], rest)),
        _ => ebml(rest, count),
    };
    let Some((lengths, mut rest)) = laced else {
        return Ok(());
    };
    for length in lengths {
        let Some((packet, next)) = rest.split_at_checked(length) else {
            return Ok(());
        };
        each(packet)?;
        rest = next;
    }
    each(rest)
}

/// Returns the three Vorbis headers.
pub(super) fn vorbis_headers(private: &[u8]) -> Option<[&[u8]; 3]> {
    let rest = private.strip_prefix(&[2])?;
    let (lengths, rest) = xiph(rest, 3)?;
    let (first, rest) = rest.split_at_checked(*lengths.first()?)?;
    let (second, third) = rest.split_at_checked(*lengths.get(1)?)?;
    Some([first, second, third])
}

/// Returns the lengths of all packets but the last. Each length is a sum of bytes.
fn xiph(bytes: &[u8], count: usize) -> Option<(Vec<usize>, &[u8])> {
    let mut lengths = Vec::with_capacity(count);
    let mut rest = bytes;
    while lengths.len() + 1 < count {
        let mut length = 0_usize;
        loop {
            let (byte, next) = rest.split_first()?;
            rest = next;
            length += usize::from(*byte);
            if *byte < 255 {
                break;
            }
        }
        lengths.push(length);
    }
    Some((lengths, rest))
}

/// Returns the lengths of all packets but the last. The first is stored as a value, the others as
/// differences.
fn ebml(bytes: &[u8], count: usize) -> Option<(Vec<usize>, &[u8])> {
    let mut lengths = Vec::with_capacity(count);
    let mut rest = bytes;
    let mut last = 0_u64;
    while lengths.len() + 1 < count {
        let (value, taken) = vint(rest)?;
        let value = value?;
        rest = rest.get(taken..)?;
        last = if lengths.is_empty() {
            value
        } else {
            // A signed number is stored with an offset of half its range.
            let half = (1_u64 << (7 * wide(taken) - 1)) - 1;
            last.checked_add(value)?.checked_sub(half)?
        };
        lengths.push(narrow(last));
    }
    Some((lengths, rest))
}
