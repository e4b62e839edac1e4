//! Parses EBML elements (RFC 8794, 4 to 6), limited to the Matroska elements that audio needs (RFC 9559, 5).
//!
//! The parser ignores the length of container elements and reads their children as part of the parent. The unknown
//! lengths of a live recording are therefore harmless.

use crate::AudioError;
use crate::read::{big, find};
use crate::sample::{narrow, wide};

pub(super) struct Track<'a> {
    pub(super) number: u64,
    /// The codec ID.
    pub(super) codec: &'a [u8],
    /// The codec's parameters, which come before the first packet.
    pub(super) private: &'a [u8],
}

/// Packets of one track.
pub(super) struct Block<'a> {
    pub(super) track: u64,
    /// The timestamp in ticks.
    pub(super) time: i64,
    pub(super) flags: u8,
    pub(super) data: &'a [u8],
}

/// An event of `walk`.
pub(super) enum Event<'a> {
    Track(Track<'a>),
    /// Nanoseconds per tick.
    Tick(u64),
    Block(Block<'a>),
    /// Nanoseconds to cut from the end of the last block.
    Discard(u64),
}

mod id {
    pub(super) const SEGMENT: u64 = 0x1853_8067;
    pub(super) const INFO: u64 = 0x1549_A966;
    pub(super) const TIMESTAMP_SCALE: u64 = 0x2A_D7B1;
    pub(super) const TRACKS: u64 = 0x1654_AE6B;
    pub(super) const TRACK_ENTRY: u64 = 0xAE;
    pub(super) const TRACK_NUMBER: u64 = 0xD7;
    pub(super) const CODEC_ID: u64 = 0x86;
    pub(super) const CODEC_PRIVATE: u64 = 0x63A2;
    pub(super) const CLUSTER: u64 = 0x1F43_B675;
    pub(super) const TIMESTAMP: u64 = 0xE7;
    pub(super) const SIMPLE_BLOCK: u64 = 0xA3;
    pub(super) const BLOCK_GROUP: u64 = 0xA0;
    pub(super) const BLOCK: u64 = 0xA1;
    pub(super) const DISCARD_PADDING: u64 = 0x75A2;
}

/// The start of a cluster, used to resynchronize after broken bytes.
const CLUSTER_MARK: [u8; 4] = [0x1F, 0x43, 0xB6, 0x75];

/// Reports the elements in order. After an unreadable element it continues at the next cluster.
pub(super) fn walk(
    bytes: &[u8],
    each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
    if !bytes.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]) {
        return Err(AudioError::Unreadable);
    }
    let mut cluster_time = 0;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(element) = Element::read(rest) else {
            match find(bytes, at.saturating_add(1), CLUSTER_MARK) {
                Some(next) => at = next,
                None => break,
            }
            continue;
        };
        at = at.saturating_add(element.length);
        match element.id {
            id::TIMESTAMP => cluster_time = number(element.content),
            id::TIMESTAMP_SCALE => each(Event::Tick(number(element.content)))?,
            id::TRACK_ENTRY => each(Event::Track(track(element.content)))?,
            id::SIMPLE_BLOCK | id::BLOCK => {
                if let Some(block) = block(element.content, cluster_time) {
                    each(Event::Block(block))?;
                }
            }
            id::DISCARD_PADDING => each(Event::Discard(number(element.content)))?,
            _ => {}
        }
    }
    Ok(())
}

struct Element<'a> {
    id: u64,
    /// Empty for a container element, whose children are read as part of the parent.
    content: &'a [u8],
    /// Bytes to the next element.
    length: usize,
}

impl<'a> Element<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let id_length = vint_length(*bytes.first()?).filter(|length| *length <= 4)?;
        let id = big(bytes, 0, id_length)?;
        let (size, size_length) = vint(bytes.get(id_length..)?)?;
        let head = id_length + size_length;
        let holds_others = matches!(
            id,
            id::SEGMENT | id::INFO | id::TRACKS | id::CLUSTER | id::BLOCK_GROUP
        );
        let size = if holds_others { 0 } else { narrow(size?) };
        let length = head.checked_add(size)?;
        Some(Self {
            id,
            content: bytes.get(head..length)?,
            length,
        })
    }
}

fn track(content: &[u8]) -> Track<'_> {
    let mut track = Track {
        number: 0,
        codec: &[],
        private: &[],
    };
    let mut rest = content;
    while let Some(element) = Element::read(rest) {
        match element.id {
            id::TRACK_NUMBER => track.number = number(element.content),
            id::CODEC_ID => track.codec = element.content,
            id::CODEC_PRIVATE => track.private = element.content,
            _ => {}
        }
        rest = rest.get(element.length.max(1)..).unwrap_or_default();
    }
    track
}

fn block(content: &[u8], cluster_time: u64) -> Option<Block<'_>> {
    let (track, length) = vint(content)?;
    let head = content.get(length..)?;
    let [high, low, flags] = *head.first_chunk()?;
    let time = i64::from(i16::from_be_bytes([high, low]));
    Some(Block {
        track: track?,
        time: i64::try_from(cluster_time).ok()?.checked_add(time)?,
        flags,
        data: head.get(3..)?,
    })
}

/// Returns an unsigned integer of up to eight bytes. A positive signed integer has the same
/// encoding.
fn number(content: &[u8]) -> u64 {
    big(content, 0, content.len().min(8)).unwrap_or_default()
}

/// Returns the length in bytes of the variable-length integer that starts with this byte (RFC 8794,
/// 4).
fn vint_length(first: u8) -> Option<usize> {
    let zeros = usize::try_from(first.leading_zeros()).ok()?;
    (zeros < 8).then_some(zeros + 1)
}

/// Returns a variable-length integer without its marker bit, and its length in bytes. The value is `None` if all its
/// bits are set, which means "unknown".
pub(super) fn vint(bytes: &[u8]) -> Option<(Option<u64>, usize)> {
    let length = vint_length(*bytes.first()?)?;
    let largest = u64::MAX >> (64 - 7 * wide(length));
    let value = big(bytes, 0, length)? & largest;
    Some(((value != largest).then_some(value), length))
}
