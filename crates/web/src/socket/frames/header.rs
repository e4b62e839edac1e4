//! The header of a frame.

use super::{BINARY, Broken, CLOSE, CONTINUATION, Frame, MAX_CONTROL_BYTES, PING, PONG, TEXT};

/// Parses a frame header. Returns `None` when more bytes are needed.
pub(super) fn header(bytes: &[u8]) -> Result<Option<Frame>, Broken> {
    let [first, second, rest @ ..] = bytes else {
        return Ok(None);
    };
    let (opcode, is_last) = (first & 0x0F, first & 0x80 != 0);
    let is_known = matches!(opcode, CONTINUATION | TEXT | BINARY | CLOSE | PING | PONG);
    let is_masked = second & 0x80 != 0;
    // No extension is negotiated, and clients must mask every frame.
    if !is_known || first & 0x70 != 0 || !is_masked {
        return Err(Broken::Protocol);
    }
    let short = usize::from(second & 0x7F);
    let extended = match short {
        126 => rest
            .split_first_chunk()
            .map(|(length, rest)| (u64::from(u16::from_be_bytes(*length)), rest)),
        127 => rest
            .split_first_chunk()
            .map(|(length, rest)| (u64::from_be_bytes(*length), rest)),
        _ => Some((short as u64, rest)),
    };
    let Some((length, Some((mask, _)))) =
        extended.map(|(length, rest)| (length, rest.split_first_chunk()))
    else {
        return Ok(None);
    };
    let length = usize::try_from(length).map_err(|_| Broken::TooLong)?;
    let frame = Frame {
        opcode,
        is_last,
        mask: *mask,
        read: 0,
        length,
    };
    if frame.is_control() && (length > MAX_CONTROL_BYTES || !is_last) {
        return Err(Broken::Protocol);
    }
    Ok(Some(frame))
}

/// Removes the mask from a part that starts at offset `slot` of its payload (section 5.3).
pub(super) fn unmask(part: &mut [u8], mut mask: [u8; 4], slot: usize) {
    if mask == [0; 4] {
        return;
    }
    mask.rotate_left(slot % 4);
    let [a, b, c, d] = mask;
    let eight = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (whole, rest) = part.as_chunks_mut::<8>();
    for chunk in whole {
        *chunk = (u64::from_ne_bytes(*chunk) ^ eight).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= key;
    }
}

/// The kind of an outgoing frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::socket) enum Kind {
    Text,
    #[cfg(feature = "voice")]
    Binary,
    Ping,
    Pong,
    Close,
}

/// Returns the header for an unfragmented message of this length. Server frames are not masked.
pub(in crate::socket) fn header_of(kind: Kind, length: usize) -> Vec<u8> {
    let opcode = match kind {
        Kind::Text => TEXT,
        #[cfg(feature = "voice")]
        Kind::Binary => BINARY,
        Kind::Ping => PING,
        Kind::Pong => PONG,
        Kind::Close => CLOSE,
    };
    let mut header = vec![0x80 | opcode];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ ..126), _) => header.push(short),
        (_, Ok(length)) => {
            header.push(126);
            header.extend(length.to_be_bytes());
        }
        _ => {
            header.push(127);
            header.extend((length as u64).to_be_bytes());
        }
    }
    header
}
