//! Samples in movie fragments.

use super::{Each, File};
use crate::AudioError;
use crate::mp4::boxes::{child, children};
use crate::read::{big, big32};
use crate::sample::wide;

/// Reports the packets in the fragments of this track.
pub(in super::super) fn in_fragments(
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
    /// The offset of the next packet, unless a run sets another offset.
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
