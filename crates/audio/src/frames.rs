//! Streams of frames that contain their own length. Finds the first frame and resynchronizes after broken bytes. The
//! codecs implement [`Framed`].

use crate::AudioError;
use crate::read::big;

/// The header of a frame.
pub(crate) trait Framed: Copy {
    /// Size of the header in bytes.
    const HEADER: usize;
    /// The longest frame with one or two channels, in bytes.
    const LONGEST: usize;
    /// Parses the header at the start of `bytes`.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Bytes of the frame, including its header. Greater than 0.
    fn length(&self) -> usize;
    /// Returns whether both headers can belong to the same stream.
    fn is_like(&self, other: &Self) -> bool;
}

/// Returns the number of bytes of the `ID3v2` tag at the start, or 0 if there is none ("ID3 tag version 2.4.0, main
/// structure", sections 3.1 and 3.4). The tag may be longer than `bytes`.
pub(crate) fn id3_length(bytes: &[u8]) -> usize {
    let Some([b'I', b'D', b'3', major, revision, flags, a, b, c, d]) = bytes.first_chunk() else {
        return 0;
    };
    let size = [*a, *b, *c, *d];
    if !(2..=4).contains(major) || *revision == 0xFF || size.iter().any(|byte| *byte >= 0x80) {
        return 0;
    }
    let body = size
        .iter()
        .fold(0_usize, |length, byte| (length << 7) | usize::from(*byte));
    let footer = if flags & 0x10 == 0 { 0 } else { 10 };
    body.saturating_add(10 + footer)
}

/// Returns whether a frame starts at `at`: it must be complete and followed by another frame of its stream, a tag or
/// the end.
fn stands<F: Framed>(bytes: &[u8], at: usize, frame: &F) -> bool {
    let next = at.saturating_add(frame.length());
    match bytes.get(next..) {
        None => false,
        Some(rest) => {
            rest.is_empty()
                || F::read(rest).is_some_and(|next| frame.is_like(&next))
                || matches!(big(rest, 0, 3), Some(0x54_41_47 | 0x49_44_33 | 0x41_50_45))
        }
    }
}

/// Returns whether a frame of any stream starts at `at`, as in [`stands`].
pub(crate) fn stands_at<F: Framed>(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    F::read(rest).is_some_and(|frame| stands(bytes, at, &frame))
}

/// Returns whether `bytes` begin with frames. Two consecutive frames are required. One frame is enough if the bytes end
/// before a second header.
pub(crate) fn begins<F: Framed>(bytes: &[u8]) -> bool {
    let Some(first) = F::read(bytes) else {
        return false;
    };
    match bytes.get(first.length()..) {
        Some(rest) if rest.len() >= F::HEADER => stands(bytes, 0, &first),
        _ => first.length() <= F::LONGEST,
    }
}

/// Receives a header and its whole frame.
pub(crate) type Each<'e, F> = dyn FnMut(F, &[u8]) -> Result<(), AudioError> + 'e;

/// Calls `each` for every complete frame, in order. The first complete frame defines the stream. Skips
/// anything between frames, such as tags and broken bytes.
pub(crate) fn walk<F: Framed>(bytes: &[u8], each: &mut Each<'_, F>) -> Result<(), AudioError> {
    let mut like: Option<F> = None;
    let mut in_step = false;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let tag = id3_length(rest);
        if tag > 0 {
            at = at.saturating_add(tag);
            continue;
        }
        let frame = F::read(rest)
            .filter(|frame| like.is_none_or(|like| like.is_like(frame)))
            .filter(|frame| in_step || stands(bytes, at, frame));
        let body = frame.and_then(|frame| Some((frame, rest.get(..frame.length())?)));
        if let Some((frame, body)) = body {
            like = like.or(Some(frame));
            in_step = true;
            at = at.saturating_add(frame.length().max(1));
            each(frame, body)?;
        } else {
            in_step = false;
            let skip = rest
                .iter()
                .skip(1)
                .position(|byte| matches!(byte, 0xFF | b'I'));
            match skip {
                Some(skip) => at = at.saturating_add(skip + 1),
                None => break,
            }
        }
    }
    Ok(())
}
