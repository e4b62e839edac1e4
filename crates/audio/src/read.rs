//! Reads integers from bytes.

/// Returns a big-endian integer of `count` bytes, at most eight. Returns `None` when the bytes are
/// incomplete.
pub(crate) fn big(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let end = at.checked_add(count)?;
    let bytes = bytes.get(at..end)?;
    Some(
        bytes
            .iter()
            .fold(0, |value, byte| (value << 8) | u64::from(*byte)),
    )
}

pub(crate) fn big32(bytes: &[u8], at: usize) -> Option<u32> {
    u32::try_from(big(bytes, at, 4)?).ok()
}

pub(crate) fn little16(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

pub(crate) fn little32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

pub(crate) fn little64(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Returns the position of the first `word` at or after `from`.
pub(crate) fn find(bytes: &[u8], from: usize, word: [u8; 4]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let place = rest.windows(4).position(|window| *window == word)?;
    from.checked_add(place)
}
