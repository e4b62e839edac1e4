//! Validates Vorbis headers before a decoder is created (Vorbis I specification, 3.2.1 and 4.2). This module estimates
//! the memory for the decoder's tables. Otherwise, a few hundred bytes could request gigabytes. It also reports the
//! samples per packet, so that measuring does not need to decode.
//!
//! The time is linear in the size of the headers. The memory is constant.

mod bits;
mod books;

use bits::Bits;

/// The maximum number of bytes that the decoder's tables may take. Real files need a few million.
const MAX_TABLES: u64 = 64 * 1024 * 1024;

/// Facts from the first and the third header.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    channels: u8,
    /// Samples per channel in a short and in a long block.
    blocks: [u64; 2],
    /// Whether each mode uses long blocks.
    modes: Vec<bool>,
    /// Upper bound of the memory for the decoder's tables, in bytes.
    tables: u64,
    /// The cost of a packet, relative to a packet with the usual floor.
    weight: u64,
}

impl Setup {
    /// Parses the headers. `None` when they are broken or request tables that no real file needs.
    pub(crate) fn read(identification: &[u8], setup: &[u8]) -> Option<Self> {
        let body = identification.strip_prefix(b"\x01vorbis")?;
        let channels = *body.get(4)?;
        let sizes = *body.get(21)?;
        let (short, long) = (sizes & 0xF, sizes >> 4);
        if channels == 0 || short > long || !(6..=13).contains(&short) || long > 13 {
            return None;
        }
        let mut bits = Bits::new(setup.strip_prefix(b"\x05vorbis")?);
        let mut tables = 0_u64;
        for _ in 0..=bits.take(8)? {
            tables = tables.saturating_add(books::cost(&mut bits)?);
            if tables > MAX_TABLES {
                return None;
            }
        }
        for _ in 0..=bits.take(6)? {
            bits.take(16).filter(|zero| *zero == 0)?;
        }
        let mut weight = 1;
        for _ in 0..=bits.take(6)? {
            weight = weight.max(floor(&mut bits)?);
        }
        for _ in 0..=bits.take(6)? {
            residue(&mut bits)?;
        }
        for _ in 0..=bits.take(6)? {
            mapping(&mut bits, channels)?;
        }
        let mut modes = Vec::new();
        for _ in 0..=bits.take(6)? {
            modes.push(bits.take(1)? == 1);
            bits.skip(16 + 16 + 8)?;
        }
        // The framing bit ends the header. It is always set.
        bits.take(1).filter(|end| *end == 1)?;
        Some(Self {
            channels,
            blocks: [1 << short, 1 << long],
            modes,
            tables,
            weight,
        })
    }

    /// Upper bound of the memory for the decoder's tables, in bytes.
    pub(crate) fn tables(&self) -> u64 {
        self.tables
    }

    /// Returns the cost of a packet, relative to a packet with the usual floor.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Returns the maximum number of samples in a packet, over all channels.
    pub(crate) fn most(&self) -> u64 {
        self.blocks[1] / 2 * u64::from(self.channels)
    }

    /// Samples per channel in the block of a packet, which overlaps with the next (4.3.1). `None` for a
    /// packet without audio.
    pub(crate) fn block(&self, packet: &[u8]) -> Option<u64> {
        let mut bits = Bits::new(packet);
        bits.take(1).filter(|kind| *kind == 0)?;
        let highest = u32::try_from(self.modes.len()).ok()?.checked_sub(1)?;
        let mode = usize::try_from(bits.take(ilog(highest))?).ok()?;
        let [short, long] = self.blocks;
        self.modes
            .get(mode)
            .map(|is_long| if *is_long { long } else { short })
    }
}

/// Returns the number of bits needed for a number, and 0 for 0 (9.2.1).
fn ilog(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

/// Skips a floor (6.2.1, 7.2.2) and returns its relative cost.
fn floor(bits: &mut Bits<'_>) -> Option<u64> {
    if bits.take(16)? == 0 {
        let order = bits.take(8)?;
        bits.skip(16 + 16 + 6 + 8)?;
        let books = bits.take(4)? + 1;
        bits.skip(u64::from(books) * 8)?;
        // A floor of type 0 multiplies `order` factors per sample.
        return Some(1 + u64::from(order) / 8);
    }
    let mut of_partition = Vec::new();
    for _ in 0..bits.take(5)? {
        of_partition.push(usize::try_from(bits.take(4)?).ok()?);
    }
    let mut dimensions = Vec::new();
    for _ in 0..of_partition.iter().max().map_or(0, |most| most + 1) {
        dimensions.push(bits.take(3)? + 1);
        let subclasses = bits.take(2)?;
        if subclasses > 0 {
            bits.skip(8)?;
        }
        bits.skip(8 << subclasses)?;
    }
    bits.skip(2)?;
    let width = bits.take(4)?;
    for class in of_partition {
        bits.skip(u64::from(dimensions.get(class)? * width))?;
    }
    Some(1)
}

/// Skips a residue (8.6.1).
fn residue(bits: &mut Bits<'_>) -> Option<()> {
    bits.skip(16 + 24 + 24 + 24)?;
    let classes = bits.take(6)? + 1;
    bits.skip(8)?;
    let mut books = 0;
    for _ in 0..classes {
        books += bits.take(3)?.count_ones();
        if bits.take(1)? == 1 {
            books += bits.take(5)?.count_ones();
        }
    }
    bits.skip(u64::from(books) * 8)
}

/// Skips a mapping (4.2.4).
fn mapping(bits: &mut Bits<'_>, channels: u8) -> Option<()> {
    bits.skip(16)?;
    let submaps = if bits.take(1)? == 1 {
        bits.take(4)? + 1
    } else {
        1
    };
    if bits.take(1)? == 1 {
        let steps = u64::from(bits.take(8)?) + 1;
        let width = u64::from(ilog(u32::from(channels) - 1));
        bits.skip(steps * width * 2)?;
    }
    bits.skip(2)?;
    if submaps > 1 {
        bits.skip(u64::from(channels) * 4)?;
    }
    bits.skip(u64::from(submaps) * 24)
}

#[cfg(test)]
pub(crate) mod tests;
