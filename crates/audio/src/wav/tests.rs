//! Tests for headers as streams and studios write them, and samples of every width.

use proptest::prelude::*;

use super::*;

/// Returns a chunk with the correct length.
fn chunk(name: [u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap();
    let mut bytes = [&name[..], &length.to_le_bytes(), body].concat();
    if body.len() % 2 == 1 {
        bytes.push(0);
    }
    bytes
}

fn format(tag: u16, channels: u16, rate: u32, bits: u16) -> Vec<u8> {
    let frame = channels * bits.div_ceil(8);
    [
        &tag.to_le_bytes()[..],
        &channels.to_le_bytes(),
        &rate.to_le_bytes(),
        &(rate * u32::from(frame)).to_le_bytes(),
        &frame.to_le_bytes(),
        &bits.to_le_bytes(),
    ]
    .concat()
}

fn wave(chunks: &[Vec<u8>]) -> Vec<u8> {
    [&b"RIFF\xFF\xFF\xFF\xFFWAVE"[..], &chunks.concat()].concat()
}

fn with_length(length: u32, data: &[u8]) -> Vec<u8> {
    [b"data", &length.to_le_bytes()[..], data].concat()
}

fn read(bytes: &[u8]) -> Result<Vec<i16>, AudioError> {
    let mut stream = WavStream::new();
    let mut samples = stream.push(bytes)?;
    samples.extend(stream.finish()?);
    Ok(samples)
}

#[test]
fn each_width_is_read() {
    let cases: [(u16, u16, &[u8], &[i16]); 6] = [
        (1, 8, &[0, 128, 255], &[-32_768, 0, 32_512]),
        (1, 16, &[0, 0x80, 1, 0, 0xFF, 0x7F], &[-32_768, 1, 32_767]),
        (
            1,
            24,
            &[0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0, 2, 0],
            &[-32_768, 32_767, 2],
        ),
        (
            1,
            32,
            &[0, 0, 0, 0x80, 0, 0, 3, 0, 0xFF, 0xFF, 0xFF, 0x7F],
            &[-32_768, 3, 32_767],
        ),
        (3, 32, &[], &[]),
        (1, 12, &[0x10, 0], &[16]),
    ];
    for (tag, bits, data, samples) in cases {
        let bytes = wave(&[
            chunk(*b"fmt ", &format(tag, 1, 8_000, bits)),
            chunk(*b"data", data),
        ]);
        let wanted = if samples.is_empty() {
            Err(AudioError::Empty)
        } else {
            Ok(samples.to_vec())
        };
        assert_eq!(read(&bytes), wanted, "{tag} {bits}");
    }
}

#[test]
fn floats_are_clipped_and_no_number_is_silence() {
    let values = [0.0, 0.5, -1.0, 1.0, 7.0, -7.0, f64::NAN, f64::INFINITY];
    let wanted = [0, 16_384, -32_768, 32_767, 32_767, -32_768, 0, 32_767];
    let long: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    #[expect(clippy::cast_possible_truncation, reason = "exact for these")]
    let short: Vec<u8> = values
        .iter()
        .flat_map(|value| (*value as f32).to_le_bytes())
        .collect();
    for (bits, data) in [(64, long), (32, short)] {
        let bytes = wave(&[
            chunk(*b"fmt ", &format(3, 1, 8_000, bits)),
            chunk(*b"data", &data),
        ]);
        assert_eq!(read(&bytes).unwrap(), wanted, "{bits}");
    }
}

#[test]
fn channels_are_averaged() {
    let data: Vec<u8> = [100_i16, 300, -32_768, -32_768, 32_767, 32_767]
        .iter()
        .flat_map(|sample| sample.to_le_bytes())
        .collect();
    let bytes = wave(&[
        chunk(*b"fmt ", &format(1, 2, 8_000, 16)),
        chunk(*b"data", &data),
    ]);
    assert_eq!(read(&bytes).unwrap(), [200, -32_768, 32_767]);
    let bytes = wave(&[
        chunk(*b"fmt ", &format(1, 3, 8_000, 16)),
        chunk(*b"data", &data),
    ]);
    assert_eq!(read(&bytes).unwrap().len(), 2);
}

#[test]
fn lengths_that_writers_leave_open_mean_to_the_end() {
    let fmt = chunk(*b"fmt ", &format(1, 1, 8_000, 16));
    let data = [1, 0, 2, 0, 3, 0, 9];
    for length in [0, u32::MAX, 0x7FFF_FFFF, 1_000_000] {
        let bytes = wave(&[fmt.clone(), with_length(length, &data)]);
        assert_eq!(read(&bytes).unwrap(), [1, 2, 3], "{length}");
    }
}

#[test]
fn what_follows_the_sound_is_no_sound() {
    let fmt = chunk(*b"fmt ", &format(1, 1, 8_000, 16));
    let bytes = wave(&[
        fmt.clone(),
        chunk(*b"data", &[1, 0, 2, 0]),
        chunk(*b"LIST", &[7; 100]),
    ]);
    assert_eq!(read(&bytes).unwrap(), [1, 2]);
    // A partial sample at the end is dropped.
    let bytes = wave(&[fmt, chunk(*b"data", &[1, 0, 2]), chunk(*b"LIST", &[7; 100])]);
    assert_eq!(read(&bytes).unwrap(), [1]);
}

#[test]
fn other_chunks_are_passed_over() {
    let mut extensible = format(0xFFFE, 1, 8_000, 16);
    extensible.extend([22, 0, 16, 0, 4, 0, 0, 0, 1, 0]);
    extensible.extend(*b"\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71");
    let bytes = wave(&[
        chunk(*b"LIST", &[7; 9_001]),
        chunk(*b"fmt ", &extensible),
        chunk(*b"fact", &[7; 4]),
        chunk(*b"data", &[5, 0]),
    ]);
    assert_eq!(read(&bytes).unwrap(), [5]);
}

#[test]
fn the_rate_is_known_once_the_header_was_read() {
    let bytes = wave(&[
        chunk(*b"fmt ", &format(1, 1, 22_050, 16)),
        chunk(*b"data", &[5, 0]),
    ]);
    let mut stream = WavStream::new();
    let head = bytes.len() - 2;
    assert_eq!(stream.push(&bytes[..head - 1]).unwrap(), []);
    assert_eq!(stream.rate(), None);
    assert_eq!(stream.push(&bytes[head - 1..head]).unwrap(), []);
    assert_eq!(stream.rate(), Some(22_050));
    assert_eq!(stream.push(&bytes[head..]).unwrap(), [5]);
    assert_eq!(stream.push(&[9, 9]).unwrap(), []);
    assert_eq!(stream.finish().unwrap(), []);
}

#[test]
fn what_is_no_wave_is_refused() {
    let data = chunk(*b"data", &[5, 0]);
    let fmt = |tag, channels, rate, bits| chunk(*b"fmt ", &format(tag, channels, rate, bits));
    let cases = [
        b"R".to_vec(),
        b"RIFX".to_vec(),
        b"RIFF\0\0\0\0AVI ".to_vec(),
        wave(&[]),
        wave(&[fmt(1, 1, 8_000, 16)]),
        wave(&[data.clone(), fmt(1, 1, 8_000, 16)]),
        wave(&[fmt(0x55, 1, 8_000, 16), data.clone()]),
        wave(&[fmt(1, 0, 8_000, 16), data.clone()]),
        wave(&[fmt(1, 1, 8_000, 40), data.clone()]),
        wave(&[fmt(3, 1, 8_000, 16), data.clone()]),
        wave(&[fmt(1, 1, 999, 16), data.clone()]),
        wave(&[fmt(1, 1, 384_001, 16), data.clone()]),
        wave(&[chunk(*b"fmt ", &[0; 5_000]), data.clone()]),
        wave(&[chunk(*b"fmt ", &[0; 4]), data.clone()]),
    ];
    for bytes in cases {
        assert_eq!(read(&bytes), Err(AudioError::Unreadable), "{bytes:?}");
    }
    for rate in [1_000, 384_000] {
        assert!(read(&wave(&[fmt(1, 1, rate, 16), data.clone()])).is_ok());
    }
    // The input is rejected at the first wrong byte, not at the end.
    assert_eq!(WavStream::new().push(b"X"), Err(AudioError::Unreadable));
    assert_eq!(WavStream::new().push(b"RI"), Ok(Vec::new()));
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_the_same(
        sizes in prop::collection::vec(1_usize..50, 1..200),
        channels in 1_u16..4,
        bits in prop::sample::select(vec![8_u16, 16, 24, 32]),
        data in prop::collection::vec(any::<u8>(), 20..500),
        open in any::<bool>(),
    ) {
        let data = if open { with_length(u32::MAX, &data) } else { chunk(*b"data", &data) };
        let bytes = wave(&[
            chunk(*b"JUNK", &[7; 11]),
            chunk(*b"fmt ", &format(1, channels, 8_000, bits)),
            data,
            if open { Vec::new() } else { chunk(*b"LIST", &[7; 40]) },
        ]);
        let whole = read(&bytes).unwrap();
        let mut stream = WavStream::new();
        let mut samples = Vec::new();
        let mut rest = bytes.as_slice();
        for size in sizes.into_iter().chain(std::iter::repeat(64)) {
            let (piece, next) = rest.split_at(size.min(rest.len()));
            samples.extend(stream.push(piece).unwrap());
            rest = next;
            if rest.is_empty() {
                break;
            }
        }
        stream.finish().unwrap();
        prop_assert_eq!(samples, whole);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _read = read(&wave(std::slice::from_ref(&bytes)));
        let _read = read(&bytes);
    }
}

#[test]
fn tiny_chunks_in_great_number_are_passed_over() {
    let mut bytes = b"RIFF\0\0\0\0WAVE".to_vec();
    bytes.extend(b"junk\0\0\0\0".repeat(200_000));
    let mut stream = WavStream::new();
    for piece in bytes.chunks(64 * 1024) {
        assert!(stream.push(piece).unwrap().is_empty());
        // All parsed bytes are removed at once.
        assert!(stream.waiting.len() < 8);
        assert_eq!(stream.read, 0);
    }
    let fmt = b"fmt \x10\0\0\0\x01\0\x01\0\x40\x1F\0\0\x80\x3E\0\0\x02\0\x10\0";
    let rest = [&fmt[..], b"data\x02\0\0\0\x05\0"].concat();
    assert_eq!(stream.push(&rest).unwrap(), [5]);
}
