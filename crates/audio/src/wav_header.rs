//! The 44-byte WAV header. The samples that follow are encoded by [`crate::pcm_of_samples`].

/// `WAVE_FORMAT_PCM`.
const PCM: u16 = 1;
const CHANNELS: u16 = 1;
const BYTES_A_SAMPLE: u16 = 2;
/// Bytes between the RIFF size and the samples: `WAVE`, the names and sizes of two chunks, and the 16 bytes
/// of the format.
const BETWEEN: u32 = 36;

/// The number of sample bytes that follow the header.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Bytes(u32),
    /// The length is unknown. Both sizes are 0xFFFFFFFF, which readers interpret as "until the
    /// end".
    Unknown,
}

/// Returns the RIFF, `fmt ` and `data` headers (Microsoft and IBM, "Multimedia Programming Interface and Data
/// Specifications 1.0", 1991) for mono 16-bit samples.
pub fn wav_header(rate: u32, length: Length) -> Vec<u8> {
    let (riff, data) = match length {
        Length::Bytes(bytes) => (bytes.saturating_add(BETWEEN), bytes),
        Length::Unknown => (u32::MAX, u32::MAX),
    };
    let frame = CHANNELS * BYTES_A_SAMPLE;
    let mut header = Vec::with_capacity(44);
    header.extend_from_slice(b"RIFF");
    header.extend_from_slice(&riff.to_le_bytes());
    header.extend_from_slice(b"WAVEfmt ");
    header.extend_from_slice(&16_u32.to_le_bytes());
    header.extend_from_slice(&PCM.to_le_bytes());
    header.extend_from_slice(&CHANNELS.to_le_bytes());
    header.extend_from_slice(&rate.to_le_bytes());
    header.extend_from_slice(&rate.saturating_mul(u32::from(frame)).to_le_bytes());
    header.extend_from_slice(&frame.to_le_bytes());
    header.extend_from_slice(&(BYTES_A_SAMPLE * 8).to_le_bytes());
    header.extend_from_slice(b"data");
    header.extend_from_slice(&data.to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_for_byte() {
        let header = wav_header(24_000, Length::Bytes(1_000));
        let expected = b"RIFF\x0c\x04\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data\xe8\x03\0\0";
        assert_eq!(header, expected);
        let header = wav_header(24_000, Length::Unknown);
        assert_eq!(
            (&header[4..8], &header[40..]),
            (&[0xff; 4][..], &[0xff; 4][..])
        );
    }
}
