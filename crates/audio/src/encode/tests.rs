#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "tones are computed as floats, and fit in 16 bits"
)]

use opus_pure::{MAX_PACKET_SAMPLES, OggOpusReader, Trim};
use proptest::prelude::*;

use super::*;
use crate::sample::{scale, wide};
use crate::{Kind, samples_of_pcm};

const RATES: [u32; 8] = [
    8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];
const FORMATS: [Format; 6] = [
    Format::Mp3,
    Format::Opus,
    Format::Ogg,
    Format::Pcm,
    Format::Wav,
    Format::Flac,
];

/// Returns a sine of `hertz` at three quarters of full scale.
fn tone(rate: u32, hertz: f64, count: usize) -> Sound {
    let samples = (0..count)
        .map(|at| {
            let turns = hertz * at as f64 / f64::from(rate);
            (24_000.0 * (turns * std::f64::consts::TAU).sin()).round() as i16
        })
        .collect();
    Sound { rate, samples }
}

/// Returns a sweep from 100 Hz to a third of the rate.
fn sweep(rate: u32, count: usize) -> Sound {
    let mut turns = 0.0;
    let samples = (0..count)
        .map(|at| {
            let part = at as f64 / count as f64;
            turns += (100.0 + part * f64::from(rate) / 3.0) / f64::from(rate);
            (16_000.0 * (turns * std::f64::consts::TAU).sin()).round() as i16
        })
        .collect();
    Sound { rate, samples }
}

/// Decodes Ogg Opus without delay and padding, like a player.
fn heard_opus(bytes: &[u8]) -> Sound {
    let mut reader = OggOpusReader::new(bytes).unwrap();
    let head = reader.head().clone();
    assert_eq!((head.channel_count, head.mapping_family), (1, 0));
    let mut decoder = head.decoder(48_000).unwrap();
    let mut trim = Trim::new(&head, 48_000, 1).unwrap();
    let mut block = vec![0; MAX_PACKET_SAMPLES];
    let mut samples = Vec::new();
    for packet in reader.packets() {
        let packet = packet.unwrap();
        let count = decoder
            .decode_s16(&packet.data, MAX_PACKET_SAMPLES, &mut block)
            .unwrap();
        samples.extend_from_slice(trim.keep(&packet, &block[..count]));
    }
    Sound {
        rate: 48_000,
        samples,
    }
}

fn packets(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = OggOpusReader::new(bytes).unwrap();
    let packets = reader.packets();
    packets.map(|packet| packet.unwrap().data).collect()
}

/// Returns the flags, the granule position and the number of packet ends of each page.
fn pages(mut bytes: &[u8]) -> Vec<(u8, i64, usize)> {
    let mut pages = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(&bytes[..5], b"OggS\0");
        let laces = &bytes[27..27 + usize::from(bytes[26])];
        let ends = laces.iter().filter(|lace| **lace < 255).count();
        let granule = i64::from_le_bytes(bytes[6..14].try_into().unwrap());
        pages.push((bytes[5], granule, ends));
        let payload: usize = laces.iter().copied().map(usize::from).sum();
        bytes = &bytes[27 + laces.len() + payload..];
    }
    pages
}

/// Decodes a WAV and checks its sizes.
fn heard_wav(bytes: &[u8]) -> Sound {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(usize::try_from(number(4)).unwrap(), bytes.len() - 8);
    assert_eq!(usize::try_from(number(40)).unwrap(), bytes.len() - 44);
    Sound {
        rate: number(24),
        samples: samples_of_pcm(&bytes[44..]),
    }
}

#[cfg(feature = "mp3")]
mod mp3 {
    use super::*;

    /// Returns the rate and length of a frame according to its header (ISO/IEC 11172-3 and 13818-3, 2.4.2.3).
    fn frame(header: &[u8]) -> (u32, usize) {
        let first = header[0] == 0xff && header[1] & 0xf7 == 0xf3;
        assert!(first, "no frame of Layer III without a checksum");
        assert_eq!(header[3] >> 6, 3, "one channel");
        let one = header[1] & 8 != 0;
        let rate = [44_100, 48_000, 32_000][usize::from(header[2] >> 2 & 3)];
        let table = if one {
            [0, 32, 40, 48, 56, 64, 80, 96]
        } else {
            [0, 8, 16, 24, 32, 40, 48, 56]
        };
        let kilobits: usize = match header[2] >> 4 {
            8 if !one => 64,
            index => table[usize::from(index)],
        };
        let rate = if one { rate } else { rate / 2 };
        let bytes = if one { 144_000 } else { 72_000 } * kilobits / rate;
        let padding = usize::from(header[2] >> 1 & 1);
        (u32::try_from(rate).unwrap(), bytes + padding)
    }

    /// Returns the lengths of all frames.
    fn frames(mut bytes: &[u8]) -> Vec<usize> {
        let mut lengths = Vec::new();
        while !bytes.is_empty() {
            let (_, length) = frame(bytes);
            lengths.push(length);
            bytes = &bytes[length..];
        }
        lengths
    }

    /// Returns the rate, and the number of samples without delay and padding, according to the LAME header (LAME, "Mp3
    /// Info Tag revision 1").
    pub fn declared(bytes: &[u8]) -> (u32, u64) {
        let (rate, length) = frame(bytes);
        let one = bytes[1] & 8 != 0;
        let tag = &bytes[if one { 21 } else { 13 }..length];
        assert_eq!(&tag[..4], b"Info");
        let number = |at: usize| u32::from_be_bytes(tag[at..at + 4].try_into().unwrap());
        assert_eq!(number(4), 0b1111, "frames, bytes, table, quality");
        let count = u64::from(number(8));
        assert_eq!(count, wide(frames(bytes).len()) - 1);
        assert_eq!(usize::try_from(number(12)).unwrap(), bytes.len());
        let [a, b, c] = [141, 142, 143].map(|at| u64::from(tag[at]));
        let (delay, padding) = (a << 4 | b >> 4, (b & 15) << 8 | c);
        assert_eq!(delay, 576);
        let samples = count * if one { 1_152 } else { 576 };
        (rate, samples - delay - padding)
    }

    #[test]
    fn live_is_the_whole_without_the_first_frame() {
        let sound = sweep(24_000, 30_000);
        let whole = encode(&sound, Format::Mp3).unwrap();
        let live = streamed(&sound, Format::Mp3, &[777]);
        let (_, first) = frame(&whole);
        assert!(live == whole[first..]);
    }

    #[test]
    fn rates_that_players_know() {
        let cases = [
            (1_000, 16_000),
            (8_000, 16_000),
            (11_025, 22_050),
            (12_000, 24_000),
            (15_999, 16_000),
            (16_000, 16_000),
            (16_001, 22_050),
            (24_000, 24_000),
            (44_100, 44_100),
            (48_000, 48_000),
            (48_001, 48_000),
            (96_000, 48_000),
        ];
        for (rate, expected) in cases {
            assert_eq!(Mp3Encode::rate_for(rate), expected, "{rate}");
        }
        assert!(Mp3Encode::new(8_000, true).is_err());
    }
}

/// Encodes the sound in pieces of these lengths, repeated in a cycle.
fn streamed(sound: &Sound, format: Format, pieces: &[usize]) -> Vec<u8> {
    let mut encoder = Encoder::new(format, sound.rate).unwrap();
    let mut bytes = Vec::new();
    let mut rest = &sound.samples[..];
    for piece in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (now, later) = rest.split_at((*piece).clamp(1, rest.len()));
        bytes.extend(encoder.push(now).unwrap());
        rest = later;
    }
    bytes.extend(encoder.finish().unwrap());
    bytes
}

/// Returns the rate and number of audible samples.
fn length(bytes: &[u8], format: Format) -> (u32, u64) {
    let of = |sound: &Sound| (sound.rate, wide(sound.samples.len()));
    match format {
        Format::Pcm => (Format::PCM_RATE, wide(bytes.len()) / 2),
        Format::Wav => of(&heard_wav(bytes)),
        Format::Flac => of(&crate::decode(bytes, Kind::Flac, 100).unwrap()),
        #[cfg(feature = "mp3")]
        Format::Mp3 => mp3::declared(bytes),
        _ => of(&heard_opus(bytes)),
    }
}

fn formats() -> impl Iterator<Item = Format> {
    let left_out = (!cfg!(feature = "mp3")).then_some(Format::Mp3);
    FORMATS
        .into_iter()
        .filter(move |format| Some(*format) != left_out)
}

/// Returns the rising zero crossings per second, ignoring both ends.
fn hertz(sound: &Sound) -> f64 {
    let tenth = sound.samples.len() / 10;
    let middle = &sound.samples[tenth..sound.samples.len() - tenth];
    let rises: Vec<usize> = (1..middle.len())
        .filter(|at| middle[at - 1] < 0 && middle[*at] >= 0)
        .collect();
    let (first, last) = (rises[0], rises[rises.len() - 1]);
    (rises.len() - 1) as f64 * f64::from(sound.rate) / (last - first) as f64
}

/// Returns the RMS level, ignoring both ends.
fn level(sound: &Sound) -> f64 {
    let tenth = sound.samples.len() / 10;
    let middle = &sound.samples[tenth..sound.samples.len() - tenth];
    let sum: f64 = middle.iter().map(|sample| f64::from(*sample).powi(2)).sum();
    (sum / middle.len() as f64).sqrt()
}

/// Asserts exactly the same length in samples and the same tone. LAME scales everything by 0.95, which prevents
/// clipping by its rounding.
fn is_the_tone(format: Format, heard: &Sound, sound: &Sound) {
    let due = scale(
        wide(sound.samples.len()),
        u64::from(heard.rate),
        u64::from(sound.rate),
    );
    assert!(wide(heard.samples.len()).abs_diff(due) <= 1, "{heard:?}");
    let kept = if format == Format::Mp3 { 0.95 } else { 1.0 };
    let (high, loud) = (hertz(heard), level(heard) / level(sound) / kept);
    assert!((high - 440.0).abs() < 1.0, "{high} Hz of {heard:?}");
    assert!((0.97..1.03).contains(&loud), "{loud} of {heard:?}");
}

#[test]
fn every_rate_and_length_is_kept() {
    for format in formats() {
        for rate in RATES {
            for hundredths in [2, 100, 250] {
                let count = usize::try_from(rate * hundredths / 100).unwrap();
                let bytes = encode(&sweep(rate, count), format).unwrap();
                let (to, samples) = length(&bytes, format);
                let due = scale(wide(count), u64::from(to), u64::from(rate));
                let declared = format!("{format:?} {rate} {hundredths}");
                assert!(samples.abs_diff(due) <= 1, "{declared}: {samples}, {due}");
            }
        }
    }
}

#[test]
fn the_same_tone_comes_out() {
    for rate in RATES {
        let sound = tone(rate, 440.0, usize::try_from(rate).unwrap());
        let bytes = encode(&sound, Format::Opus).unwrap();
        is_the_tone(Format::Opus, &heard_opus(&bytes), &sound);
        let bytes = encode(&sound, Format::Wav).unwrap();
        assert!(heard_wav(&bytes) == sound);
        let bytes = encode(&sound, Format::Pcm).unwrap();
        let heard = Sound {
            rate: Format::PCM_RATE,
            samples: samples_of_pcm(&bytes),
        };
        is_the_tone(Format::Pcm, &heard, &sound);
    }
}

#[test]
fn our_own_reader_hears_it() {
    for format in formats() {
        for (rate, seconds) in [(24_000, 61), (22_050, 1), (8_000, 1), (48_000, 2)] {
            let sound = tone(rate, 440.0, usize::try_from(rate * seconds).unwrap());
            let bytes = encode(&sound, format).unwrap();
            assert_eq!(
                crate::sniff(&bytes),
                (format != Format::Pcm).then_some(format.kind())
            );
            let declared = crate::duration_ms(&bytes, format.kind()).unwrap();
            assert_eq!(declared, u64::from(seconds) * 1_000, "{format:?} {rate}");
            is_the_tone(
                format,
                &crate::decode(&bytes, format.kind(), 100).unwrap(),
                &sound,
            );
        }
    }
}

#[test]
fn our_own_reader_hears_what_is_live() {
    let sound = tone(24_000, 440.0, 48_000);
    for format in formats() {
        let bytes = streamed(&sound, format, &[1_000, 240]);
        let declared = crate::duration_ms(&bytes, format.kind()).unwrap();
        let heard = crate::decode(&bytes, format.kind(), 100).unwrap();
        if format == Format::Mp3 {
            // A live MP3 does not declare the encoder's delay and padding: at most three frames of 24 ms.
            assert!((2_000..2_000 + 100).contains(&declared), "{declared} ms");
            assert!((hertz(&heard) - 440.0).abs() < 1.0);
        } else {
            assert_eq!(declared, 2_000, "{format:?}");
            is_the_tone(format, &heard, &sound);
        }
    }
}

#[test]
fn a_minute_and_a_second() {
    for format in formats() {
        let bytes = encode(&sweep(24_000, 61 * 24_000), format).unwrap();
        let (rate, samples) = length(&bytes, format);
        assert_eq!(samples, 61 * u64::from(rate), "{format:?}");
    }
}

#[test]
fn nothing_and_one_sample() {
    for format in formats() {
        let sound = |count| tone(24_000, 440.0, count);
        assert_eq!(encode(&sound(0), format), Err(AudioError::Empty));
        let bytes = encode(&sound(1), format).unwrap();
        let (rate, samples) = length(&bytes, format);
        assert_eq!(samples, u64::from(rate / 24_000), "{format:?}");
        let mut live = Encoder::new(format, 24_000).unwrap();
        assert!(live.push(&[]).is_ok());
        assert!(live.finish().is_ok());
    }
    assert!(
        heard_opus(&streamed(&tone(24_000, 440.0, 0), Format::Opus, &[]))
            .samples
            .is_empty()
    );
    assert_eq!(
        streamed(&tone(24_000, 440.0, 0), Format::Wav, &[]).len(),
        44
    );
    assert!(streamed(&tone(24_000, 440.0, 0), Format::Pcm, &[]).is_empty());
}

#[test]
fn what_cannot_be_written() {
    let aac = Encoder::new(Format::Aac, 24_000).err();
    assert_eq!(aac, Some(AudioError::NoEncoder("aac")));
    if !cfg!(feature = "mp3") {
        let mp3 = Encoder::new(Format::Mp3, 24_000).err();
        assert_eq!(mp3, Some(AudioError::NoEncoder("mp3")));
    }
    for format in formats() {
        let cases = [
            (0, false),
            (999, false),
            (1_000, true),
            (384_000, true),
            (384_001, false),
        ];
        for (rate, taken) in cases {
            let encoder = Encoder::new(format, rate);
            assert_eq!(encoder.is_ok(), taken, "{format:?} {rate}");
        }
    }
}

#[test]
fn pages_of_opus() {
    let sound = tone(24_000, 440.0, 24_000);
    let (end, packets) = (48_000 + 312, 51);
    let live = pages(&streamed(&sound, Format::Opus, &[240]));
    // The head, the tags, one packet, then five packets per page.
    let starts = [(2, 0, 1), (0, 0, 1), (0, 960, 1), (0, 960 * 6, 5)];
    assert_eq!(live[..4], starts);
    assert!(live[3..live.len() - 1].iter().all(|page| page.2 == 5));
    assert_eq!(live.iter().map(|page| page.2).sum::<usize>(), packets + 2);
    assert_eq!(live.last().map(|page| (page.0, page.1)), Some((4, end)));
    let whole = pages(&encode(&sound, Format::Opus).unwrap());
    let expected = [(2, 0, 1), (0, 0, 1), (0, 48_000, 50), (4, end, 1)];
    assert_eq!(whole, expected);
}

#[test]
fn the_first_bytes_come_soon() {
    for format in formats() {
        // PCM has a fixed rate, so 16,000 Hz is resampled.
        for rate in [16_000, 24_000, 48_000] {
            let sound = tone(rate, 440.0, usize::try_from(rate / 10).unwrap());
            let mut encoder = Encoder::new(format, rate).unwrap();
            let bytes = encoder.push(&sound.samples).unwrap();
            // The headers, which need no samples.
            let mut silent = Encoder::new(format, rate).unwrap();
            let head = silent.push(&[]).unwrap();
            assert!(bytes.len() > head.len() + 50, "{format:?} {rate}");
        }
    }
}

#[test]
fn encoders_may_move_between_threads() {
    fn moves<T: Send + 'static>() {}
    moves::<Encoder>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn however_it_is_cut_it_sounds_the_same(
        rate in prop::sample::select(&RATES[..]),
        count in 0_usize..20_000,
        pieces in prop::collection::vec(1_usize..4_000, 1..8),
    ) {
        let sound = sweep(rate, count + 1);
        let whole = |format| encode(&sound, format).unwrap();
        let live = |format| streamed(&sound, format, &pieces);
        prop_assert!(live(Format::Pcm) == whole(Format::Pcm));
        prop_assert!(live(Format::Wav)[44..] == whole(Format::Wav)[44..]);
        prop_assert!(live(Format::Flac)[42..] == whole(Format::Flac)[42..]);
        let (one, other) = (live(Format::Opus), whole(Format::Opus));
        prop_assert!(packets(&one) == packets(&other));
        prop_assert!(heard_opus(&one) == heard_opus(&other));
        #[cfg(feature = "mp3")]
        prop_assert!(whole(Format::Mp3).ends_with(&live(Format::Mp3)));
    }
}

/// Prints the speed without asserting it. Run with `cargo nextest run --release -p gatehouse-audio
/// --run-ignored all -E 'test(speed)' --no-capture`.
#[test]
#[ignore = "prints how fast the encoders are; only worth something in a release build"]
fn speed_of_the_encoders() {
    for rate in [22_050, 24_000] {
        let sound = sweep(rate, usize::try_from(60 * rate).unwrap());
        for format in formats() {
            let start = std::time::Instant::now();
            let bytes = encode(&sound, format).unwrap();
            let times = 60.0 / start.elapsed().as_secs_f64();
            let kilobits = bytes.len() as f64 * 8e-3 / 60.0;
            println!("{rate} {format:?}: {times:.0} times as fast, {kilobits:.1} kbit/s");
        }
    }
}
