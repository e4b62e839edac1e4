//! Encodes native FLAC (RFC 9639): 16 bits, mono, with the fixed predictors and one Rice parameter per partition. The
//! linked libraries can only decode FLAC.

mod bits;

use crate::sample::wide;
use bits::{Bits, crc8, crc16};

/// Blocks per second: the first samples of a stream are encoded after 100 ms.
const BLOCKS_A_SECOND: u32 = 10;
/// The smallest block size (RFC 9639, section 8.2).
const MIN_BLOCK: u32 = 16;
/// The largest block size of the streamable subset up to 48 kHz (section 7).
const MAX_BLOCK: u32 = 4_608;
/// The highest order of the fixed predictors (section 9.2.5).
const MAX_ORDER: usize = 4;
/// The maximum number of partitions, as a power of two. More partitions improve speech only a
/// little.
const MAX_PARTITION_ORDER: usize = 4;
/// The highest Rice parameter of four bits (section 9.2.7.1). The next value is an escape.
const MAX_RICE: u32 = 14;
/// The highest number of samples that the header can declare.
const MAX_SAMPLES: u64 = (1 << 36) - 1;

/// An encoder with its container.
pub struct FlacEncode {
    /// The bytes before the first frame, until they are written.
    header: Vec<u8>,
    /// Samples that do not fill a block yet.
    waiting: Vec<i16>,
    /// Samples per block.
    block: usize,
    /// The number of blocks that are encoded.
    blocks: u32,
}

impl FlacEncode {
    /// Creates an encoder for samples at `rate`, below 2^20 per second. `samples` is the length of the sound, if known.
    pub fn new(rate: u32, samples: Option<usize>) -> Self {
        let block = (rate / BLOCKS_A_SECOND).clamp(MIN_BLOCK, MAX_BLOCK);
        let samples = samples.map_or(0, wide);
        Self {
            header: header(rate, block, if samples > MAX_SAMPLES { 0 } else { samples }),
            waiting: Vec::new(),
            block: usize::try_from(block).unwrap_or_default(),
            blocks: 0,
        }
    }

    /// Encodes samples. Returns the bytes that are ready.
    pub fn push(&mut self, samples: &[i16]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.header);
        self.waiting.extend_from_slice(samples);
        let waiting = std::mem::take(&mut self.waiting);
        let mut blocks = waiting.chunks_exact(self.block);
        for block in blocks.by_ref() {
            bytes.extend(self.frame(block));
        }
        self.waiting = blocks.remainder().to_vec();
        bytes
    }

    /// Returns the remaining bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.header);
        let last = std::mem::take(&mut self.waiting);
        if !last.is_empty() {
            bytes.extend(self.frame(&last));
        }
        bytes
    }

    /// Returns a frame (section 9) of one subframe.
    fn frame(&mut self, samples: &[i16]) -> Vec<u8> {
        let mut bits = Bits::default();
        // The sync code for fixed block sizes; a block size of 16 bits at the end of the header, the rate of
        // STREAMINFO; one channel, 16 bits per sample.
        bits.put(0xFFF8, 16);
        bits.put(0b0111_0000, 8);
        bits.put(0b0000_1000, 8);
        for byte in coded_number(self.blocks) {
            bits.put(byte.into(), 8);
        }
        bits.put(wide(samples.len()).saturating_sub(1), 16);
        let checksum = crc8(&bits.bytes);
        bits.put(checksum.into(), 8);
        subframe(samples, &mut bits);
        bits.align();
        let checksum = crc16(&bits.bytes);
        bits.put(checksum.into(), 16);
        self.blocks = self.blocks.wrapping_add(1) & 0x7FFF_FFFF;
        bits.bytes
    }
}

/// Returns the marker and STREAMINFO (sections 6 and 8.2). 0 means that the length, frame size or checksum is unknown.
fn header(rate: u32, block: u32, samples: u64) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.bytes.extend_from_slice(b"fLaC");
    // The last metadata block, of type STREAMINFO, with 34 bytes.
    bits.put(0x80, 8);
    bits.put(34, 24);
    bits.put(block.into(), 16);
    bits.put(block.into(), 16);
    bits.put(0, 48);
    bits.put(rate.into(), 20);
    // One channel; 16 bits per sample.
    bits.put(0, 3);
    bits.put(15, 5);
    bits.put(samples, 36);
    bits.bytes.extend_from_slice(&[0; 16]);
    bits.bytes
}

/// Returns the number of a frame, extended from UTF-8 (section 9.1.5).
fn coded_number(number: u32) -> Vec<u8> {
    let low = |value: u32| {
        let [.., byte] = value.to_be_bytes();
        byte
    };
    if number < 0x80 {
        return vec![low(number)];
    }
    let (mut rest, mut most) = (number, 0x3F_u32);
    let mut bytes = Vec::new();
    while rest > most {
        bytes.push(low(0x80 | (rest & 0x3F)));
        rest >>= 6;
        most >>= 1;
    }
    bytes.push(low(!((most << 1) | 1) | rest));
    bytes.reverse();
    bytes
}

/// Writes the smallest of a constant, a predicted and a verbatim subframe (section 9.2).
fn subframe(samples: &[i16], bits: &mut Bits) {
    if let Some(first) = samples.first()
        && samples.iter().all(|other| other == first)
    {
        bits.put(0, 8);
        bits.put_sample(*first);
        return;
    }
    let (order, residual) = predicted(samples);
    let residual = coded(&residual, samples.len(), order);
    if residual.len() < samples.len().saturating_mul(16) {
        bits.put(0b0001_0000 | (wide(order) << 1), 8);
        for sample in samples.iter().take(order) {
            bits.put_sample(*sample);
        }
        bits.append(&residual);
    } else {
        bits.put(0b0000_0010, 8);
        for sample in samples {
            bits.put_sample(*sample);
        }
    }
}

/// Returns the order of the best fixed predictor, and the residual after its warm-up samples (section 9.2.5): the
/// differences of that order.
fn predicted(samples: &[i16]) -> (usize, Vec<i32>) {
    let mut differences: Vec<i32> = samples.iter().copied().map(i32::from).collect();
    let mut best = (0, differences.clone());
    let mut least = cost(&differences, MAX_ORDER);
    for order in 1..=MAX_ORDER.min(samples.len().saturating_sub(1)) {
        let pairs = differences.iter().zip(differences.iter().skip(1));
        differences = pairs.map(|(before, after)| after - before).collect();
        let cost = cost(&differences, MAX_ORDER - order);
        if cost < least {
            least = cost;
            best = (order, differences.clone());
        }
    }
    best
}

/// Returns the sum of the magnitudes. Skips the first `skip` samples, which only some of the
/// predictors predict.
fn cost(residual: &[i32], skip: usize) -> u64 {
    let rest = residual.iter().skip(skip);
    rest.map(|value| u64::from(value.unsigned_abs())).sum()
}

/// Returns the coded residual (section 9.2.7) of a block of `length` samples.
fn coded(residual: &[i32], length: usize, order: usize) -> Bits {
    let mut bits = Bits::default();
    let fits = |power: &usize| {
        length.is_multiple_of(1 << power) && (length >> power) > order.max(MAX_ORDER)
    };
    let power = (0..=MAX_PARTITION_ORDER).rev().find(fits).unwrap_or(0);
    // Rice codes with a parameter of four bits.
    bits.put(0, 2);
    bits.put(wide(power), 4);
    // The first partition lacks the warm-up samples.
    let size = length >> power;
    let (first, rest) = residual
        .split_at_checked(size.saturating_sub(order))
        .unwrap_or((residual, &[]));
    for partition in std::iter::once(first).chain(rest.chunks(size.max(1))) {
        partition_of(partition, &mut bits);
    }
    bits
}

fn partition_of(residual: &[i32], bits: &mut Bits) {
    // Signs alternate: 0, -1, 1, -2, …
    let folded = |value: &i32| u64::from(((value << 1) ^ (value >> 31)).cast_unsigned());
    let size = |rice: &u32| -> u64 {
        let codes = residual.iter().map(|value| folded(value) >> rice);
        codes.sum::<u64>() + wide(residual.len()) * u64::from(rice + 1)
    };
    let rice = (0..=MAX_RICE).min_by_key(size).unwrap_or(MAX_RICE);
    bits.put(rice.into(), 4);
    for value in residual.iter().map(folded) {
        bits.put_zeros(value >> rice);
        bits.put((1 << rice) | (value & ((1 << rice) - 1)), rice + 1);
    }
}

#[cfg(test)]
mod tests;
