//! Vorbis codebooks (Vorbis I specification, 3.2.1): estimates the cost of a decoder's tables without
//! building them.

use super::bits::Bits;
use super::ilog;

/// The maximum number of entries and dimensions that the decoder accepts.
const MAX_ENTRIES: u32 = 128 * 1024;
const MAX_DIMENSIONS: u32 = 32;

/// The longest codeword, in bits.
const LONGEST: usize = 32;

/// The minimum and maximum number of codeword bits that the decoder looks up at a time.
const STEPS: (usize, usize) = (4, 8);

/// Bytes per table slot, including spare capacity of a growing table.
const PLACE: u64 = 16;

/// Bytes per entry while the table is built.
const ENTRY: u64 = 48;

/// Skips a codebook and returns an upper bound of its tables in bytes. Returns `None` if the
/// codebook is broken.
pub(super) fn cost(bits: &mut Bits<'_>) -> Option<u64> {
    bits.take(24).filter(|sync| *sync == 0x56_4342)?;
    let dimensions = bits.take(16)?;
    let entries = bits.take(24)?;
    if dimensions == 0 || dimensions > MAX_DIMENSIONS || entries > MAX_ENTRIES {
        return None;
    }
    let lengths = Lengths::read(bits, entries)?;
    let vectors = lookup(bits, entries, dimensions)?;
    let places = lengths.places()?;
    Some(places * PLACE + u64::from(entries) * ENTRY + vectors)
}

/// The number of codewords of each length.
struct Lengths([u64; LONGEST + 1]);

impl Lengths {
    fn read(bits: &mut Bits<'_>, entries: u32) -> Option<Self> {
        let mut counts = Self([0; LONGEST + 1]);
        if bits.take(1)? == 1 {
            let mut length = bits.take(5)? + 1;
            let mut entry = 0;
            while entry < entries {
                let count = bits.take(ilog(entries - entry))?;
                entry += count;
                if entry > entries {
                    return None;
                }
                counts.add(length, count)?;
                length += 1;
            }
        } else {
            let sparse = bits.take(1)? == 1;
            for _ in 0..entries {
                if !sparse || bits.take(1)? == 1 {
                    let length = bits.take(5)? + 1;
                    counts.add(length, 1)?;
                }
            }
        }
        Some(counts)
    }

    fn add(&mut self, length: u32, count: u32) -> Option<()> {
        if count > 0 {
            *self.0.get_mut(usize::try_from(length).ok()?)? += u64::from(count);
        }
        Some(())
    }

    fn used(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the number of prefixes of this length that are not complete codewords. The codewords fill the tree, so
    /// these are the prefixes that shorter codewords leave free. Returns `None` if there are more codewords than fit.
    fn open(&self, depth: usize) -> Option<u64> {
        let taken: u64 = (0..=depth)
            .zip(self.0)
            .map(|(length, count)| count << (depth - length))
            .sum();
        (1_u64 << depth).checked_sub(taken)
    }

    /// Returns the number of slots in the table. Returns `None` if the codewords do not fill the
    /// tree exactly.
    fn places(&self) -> Option<u64> {
        let used = self.used();
        let single = used == 1 && self.0.get(1) == Some(&1);
        if used > 0 && !single && self.open(LONGEST)? > 0 {
            return None;
        }
        let longest = self.0.iter().rposition(|count| *count > 0).unwrap_or(0);
        let step = longest.clamp(STEPS.0, STEPS.1);
        let mut blocks = 1;
        for depth in (step..longest).step_by(step) {
            blocks += self.open(depth)?;
        }
        // Each block costs about 32 slots of overhead.
        Some(blocks * ((1 << step) + 32))
    }
}

/// Skips the vectors and returns their size in bytes.
fn lookup(bits: &mut Bits<'_>, entries: u32, dimensions: u32) -> Option<u64> {
    let kind = bits.take(4)?;
    if kind == 0 {
        return Some(0);
    }
    bits.skip(32 + 32)?;
    let width = u64::from(bits.take(4)?) + 1;
    bits.skip(1)?;
    let all = u64::from(entries) * u64::from(dimensions);
    let values = match kind {
        1 => u64::from(root(entries, dimensions)?),
        2 => all,
        _ => return None,
    };
    bits.skip(values * width)?;
    Some(all * 4 + values * 4)
}

/// Returns the largest integer whose power is at most `entries` (9.2.3). The decoder uses rounding. Returns `None` if
/// its result would differ, because the decoder would then misread the following data.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "entries have 17 bits and dimensions 6: all are exact, and the root is positive"
)]
fn root(entries: u32, dimensions: u32) -> Option<u32> {
    let power = |value: u32| value.checked_pow(dimensions).unwrap_or(u32::MAX);
    let rounded = (entries as f32).powf(1.0 / dimensions as f32).floor() as u32;
    let exact = power(rounded) <= entries && power(rounded + 1) > entries;
    exact.then_some(rounded)
}
