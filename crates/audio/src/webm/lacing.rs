//! Several packets in one block (RFC 9559, 10.3), and the three headers of Vorbis in one piece (RFC 9559's
//! codec mappings), which are laced the same way. It knows no codec.

use super::ebml::vint;
use crate::AudioError;
use crate::sample::{narrow, wide};

/// Gives the packets of a block with these flags. Nothing comes of what is laced wrongly.
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
        // More packets than bytes are no packets: a few bytes must not become hundreds of them.
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

/// The three headers of Vorbis.
pub(super) fn vorbis_headers(private: &[u8]) -> Option<[&[u8]; 3]> {
    let rest = private.strip_prefix(&[2])?;
    let (lengths, rest) = xiph(rest, 3)?;
    let (first, rest) = rest.split_at_checked(*lengths.first()?)?;
    let (second, third) = rest.split_at_checked(*lengths.get(1)?)?;
    Some([first, second, third])
}

/// Lengths of all packets but the last, as sums of bytes.
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

/// Lengths of all packets but the last: the first as it is, the others as what they differ by.
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
            // A signed number is shifted by half of its range.
            let half = (1_u64 << (7 * wide(taken) - 1)) - 1;
            last.checked_add(value)?.checked_sub(half)?
        };
        lengths.push(narrow(last));
    }
    Some((lengths, rest))
}
