//! Locates the packets of a track: in its table (ISO 14496-12, 8.7) or in fragments (8.8).
//!
//! A table can declare the same few bytes as millions of packets. The total size of all packets is therefore limited to
//! the size of the file, and the number of packets to its number of bytes.

mod fragments;

use super::boxes::child;
use crate::AudioError;
use crate::read::{big, big32};
use crate::sample::{narrow, wide};
pub(super) use fragments::in_fragments;

/// Receives a packet.
type Each<'e> = dyn FnMut(&[u8]) -> Result<(), AudioError> + 'e;

/// A file, with limits for further reads.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    /// The number of further packets that may be read.
    packets: usize,
    /// The number of bytes that further packets may have in total.
    left: u64,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            packets: bytes.len(),
            left: wide(bytes.len()),
        }
    }

    /// Returns the packet at `place`, which is empty if it is incomplete. Returns `None` after a
    /// limit is reached.
    fn packet(&mut self, place: u64, size: u64) -> Option<&'a [u8]> {
        self.packets = self.packets.checked_sub(1)?;
        let end = place.saturating_add(size);
        let packet = self.bytes.get(narrow(place)..narrow(end));
        let packet = packet.unwrap_or_default();
        self.left = self.left.checked_sub(wide(packet.len()))?;
        Some(packet)
    }
}

/// Reports the packets of a table that are in the file.
pub(super) fn in_table(
    file: &mut File<'_>,
    table: &[u8],
    each: &mut Each<'_>,
) -> Result<(), AudioError> {
    let (Some(sizes), Some(runs), Some(chunks)) = (
        child(table, *b"stsz").and_then(Sizes::read),
        child(table, *b"stsc").and_then(|runs| runs.get(8..)),
        Chunks::read(table),
    ) else {
        return Ok(());
    };
    let mut runs = runs.chunks_exact(12).peekable();
    let mut in_chunk = 0;
    let mut number = 0_usize;
    for (chunk, place) in (1_u32..).zip(chunks) {
        while let Some(run) = runs.next_if(|run| big32(run, 0).is_some_and(|from| from <= chunk)) {
            in_chunk = big32(run, 4).unwrap_or_default();
        }
        let mut place = place;
        for _ in 0..in_chunk {
            let Some(size) = sizes.get(number) else {
                return Ok(());
            };
            let Some(packet) = file.packet(place, size) else {
                return Ok(());
            };
            number += 1;
            if !packet.is_empty() {
                each(packet)?;
            }
            place = place.saturating_add(size);
        }
    }
    Ok(())
}

/// Packet sizes: one size for all packets, or a list.
struct Sizes<'a> {
    all: u32,
    count: usize,
    list: &'a [u8],
}

impl<'a> Sizes<'a> {
    fn read(content: &'a [u8]) -> Option<Self> {
        Some(Self {
            all: big32(content, 4)?,
            count: narrow(big(content, 8, 4)?),
            list: content.get(12..)?,
        })
    }

    fn get(&self, number: usize) -> Option<u64> {
        if number >= self.count {
            None
        } else if self.all > 0 {
            Some(u64::from(self.all))
        } else {
            big(self.list, number.checked_mul(4)?, 4)
        }
    }
}

/// Chunk offsets, in 32 or 64 bits.
struct Chunks<'a> {
    width: usize,
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn read(table: &'a [u8]) -> Option<Self> {
        let (width, content) = match (child(table, *b"stco"), child(table, *b"co64")) {
            (Some(content), _) => (4, content),
            (None, content) => (8, content?),
        };
        Some(Self {
            width,
            rest: content.get(8..)?,
        })
    }
}

impl Iterator for Chunks<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let place = big(self.rest, 0, self.width)?;
        self.rest = self.rest.get(self.width..)?;
        Some(place)
    }
}
