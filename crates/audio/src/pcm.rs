//! Raw samples without a header: signed, 16 bits, little-endian, mono, at any rate.

/// Decodes raw little-endian bytes. Drops half a sample at the end.
pub fn samples_of_pcm(bytes: &[u8]) -> Vec<i16> {
    let (whole, _half) = bytes.as_chunks::<2>();
    whole.iter().copied().map(i16::from_le_bytes).collect()
}

/// Encodes samples as raw little-endian bytes.
pub fn pcm_of_samples(samples: &[i16]) -> Vec<u8> {
    samples
        .iter()
        .flat_map(|sample| sample.to_le_bytes())
        .collect()
}

/// Decodes raw bytes that arrive in pieces. A piece may end in the middle of a sample.
#[derive(Debug, Default)]
pub struct PcmStream {
    half: Option<u8>,
}

impl PcmStream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the samples that this piece completes. An odd byte is kept for the next piece.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<i16> {
        let mut samples = Vec::with_capacity(bytes.len() / 2 + 1);
        let mut rest = bytes;
        if let (Some(low), Some((high, after))) = (self.half, bytes.split_first()) {
            samples.push(i16::from_le_bytes([low, *high]));
            self.half = None;
            rest = after;
        }
        let (whole, half) = rest.as_chunks::<2>();
        samples.extend(whole.iter().copied().map(i16::from_le_bytes));
        if let Some(low) = half.first() {
            self.half = Some(*low);
        }
        samples
    }

    /// Ends the stream. Half a sample that is still waiting is dropped.
    pub fn finish(self) {
        let Self { half: _ } = self;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn little_endian() {
        assert_eq!(
            samples_of_pcm(&[1, 0, 0xff, 0xff, 0, 0x80]),
            [1, -1, i16::MIN]
        );
        assert_eq!(
            pcm_of_samples(&[1, -1, i16::MIN]),
            [1, 0, 0xff, 0xff, 0, 0x80]
        );
        assert_eq!(samples_of_pcm(&[1, 0, 7]), [1]);
        assert!(samples_of_pcm(&[7]).is_empty());
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            cuts in prop::collection::vec(0_usize..9, 1..40),
        ) {
            let mut stream = PcmStream::new();
            let mut samples = Vec::new();
            let mut rest = &bytes[..];
            for cut in cuts.iter().cycle().take(cuts.len() + 200) {
                let (piece, after) = rest.split_at((*cut).min(rest.len()));
                samples.extend(stream.push(piece));
                rest = after;
            }
            samples.extend(stream.push(rest));
            stream.finish();
            prop_assert_eq!(&samples, &samples_of_pcm(&bytes));
            prop_assert_eq!(&pcm_of_samples(&samples)[..], &bytes[..bytes.len() / 2 * 2]);
        }
    }
}
