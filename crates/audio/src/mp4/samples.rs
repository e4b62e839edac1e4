//! Locates the packets of a track: in its table (ISO 14496-12, 8.7) or in fragments (8.8).
//!
//! A table can declare the same few bytes as millions of packets. The packets together may therefore have at
//! most as many bytes as the file, and there may be at most as many packets as the file has bytes.

use super::boxes::{child, children};
use crate::AudioError;
use crate::read::{big, big32};
use crate::sample::{narrow, wide};

/// Receives a packet.
type Each<'e> = dyn FnMut(&[u8]) -> Result<(), AudioError> + 'e;

/// A file, with limits on what may still be read from it.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    /// The number of packets that may still be read.
    packets: usize,
    /// The number of bytes that those packets may have.
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

    /// Returns the packet at `place`, empty if it is incomplete. `None` after a limit is reached.
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

/// Packet sizes: one for all, or a list.
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

/// Reports the packets in the fragments of this track.
pub(super) fn in_fragments(
    file: &mut File<'_>,
    movie: &[u8],
    track: u32,
    each: &mut Each<'_>,
) -> Result<(), AudioError> {
    let default_size = child(movie, *b"mvex")
        .into_iter()
        .flat_map(children)
        .filter(|part| &part.name == b"trex")
        .find(|part| big32(part.content, 4) == Some(track))
        .and_then(|part| big32(part.content, 16))
        .unwrap_or_default();
    for fragment in children(file.bytes).filter(|part| &part.name == b"moof") {
        for part in children(fragment.content).filter(|part| &part.name == b"traf") {
            let head = child(part.content, *b"tfhd")
                .and_then(|head| Head::read(head, fragment.at, default_size));
            let Some(mut head) = head.filter(|head| head.track == track) else {
                continue;
            };
            for run in children(part.content).filter(|part| &part.name == b"trun") {
                in_run(file, run.content, &mut head, each)?;
            }
        }
    }
    Ok(())
}

/// The header that applies to all packets of a track in a fragment.
struct Head {
    track: u32,
    /// The base of all offsets.
    base: u64,
    /// Offset of the next packet, unless a run sets another.
    place: u64,
    size: u32,
}

impl Head {
    fn read(content: &[u8], fragment: usize, default_size: u32) -> Option<Self> {
        let flags = big32(content, 0)?;
        let track = big32(content, 4)?;
        let mut at = 8;
        let mut base = wide(fragment);
        if flags & 1 != 0 {
            base = big(content, at, 8)?;
            at += 8;
        }
        at += [2, 8]
            .iter()
            .filter(|flag| flags & **flag != 0)
            .count()
            .saturating_mul(4);
        let size = if flags & 0x10 == 0 {
            default_size
        } else {
            big32(content, at)?
        };
        Some(Self {
            track,
            base,
            place: base,
            size,
        })
    }
}

/// Reports the packets of one run.
fn in_run(
    file: &mut File<'_>,
    run: &[u8],
    head: &mut Head,
    each: &mut Each<'_>,
) -> Result<(), AudioError> {
    let (Some(flags), Some(count)) = (big32(run, 0), big32(run, 4)) else {
        return Ok(());
    };
    let mut at = 8;
    if flags & 1 != 0 {
        let offset = big32(run, at).unwrap_or_default().cast_signed();
        head.place = head.base.saturating_add_signed(i64::from(offset));
        at += 4;
    }
    if flags & 4 != 0 {
        at += 4;
    }
    let fields = [0x100, 0x200, 0x400, 0x800];
    let width = fields.iter().filter(|flag| flags & **flag != 0).count() * 4;
    let size_at = if flags & 0x100 == 0 { 0 } else { 4 };
    for _ in 0..count {
        let size = if flags & 0x200 == 0 {
            Some(head.size)
        } else {
            big32(run, at + size_at)
        };
        let Some(size) = size.map(u64::from) else {
            return Ok(());
        };
        let Some(packet) = file.packet(head.place, size) else {
            return Ok(());
        };
        at += width;
        if !packet.is_empty() {
            each(packet)?;
        }
        head.place = head.place.saturating_add(size);
    }
    Ok(())
}
