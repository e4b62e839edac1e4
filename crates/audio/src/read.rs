//! Numbers that stand in bytes. It knows no format.

/// A big-endian number of as many bytes as are asked for, at most eight; nothing when they are not all there.
pub(crate) fn big(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let end = at.checked_add(count)?;
    let bytes = bytes.get(at..end)?;
    Some(
        bytes
            .iter()
            .fold(0, |value, byte| (value << 8) | u64::from(*byte)),
    )
}

/// A big-endian number of 32 bits.
pub(crate) fn big32(bytes: &[u8], at: usize) -> Option<u32> {
    u32::try_from(big(bytes, at, 4)?).ok()
}

/// A little-endian number of 16 bits.
pub(crate) fn little16(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

/// A little-endian number of 32 bits.
pub(crate) fn little32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// A little-endian number of 64 bits.
pub(crate) fn little64(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Where this word stands first, at or after `from`.
pub(crate) fn find(bytes: &[u8], from: usize, word: [u8; 4]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let place = rest.windows(4).position(|window| *window == word)?;
    from.checked_add(place)
}
