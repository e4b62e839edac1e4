//! Recognizes, measures, decodes, truncates and corrupts real files of every kind. `fixtures/README.md`
//! describes them.

use gatehouse_audio::{AudioError, Kind, decode, duration_ms, sniff, to_wav};
use proptest::prelude::*;

/// A file and its properties.
struct File {
    name: &'static str,
    bytes: &'static [u8],
    kind: Kind,
    rate: u32,
    /// Duration in milliseconds.
    ms: u64,
    /// Amplitude of the tone with the channels averaged.
    level: f64,
}

const HALF: f64 = 16_384.0;
const QUARTER: f64 = 8_192.0;

macro_rules! files {
    ($($name:literal $kind:ident $rate:literal $ms:literal $level:ident;)*) => {
        const FILES: &[File] = &[$(File {
            name: $name,
            bytes: include_bytes!(concat!("fixtures/", $name)),
            kind: Kind::$kind,
            rate: $rate,
            ms: $ms,
            level: $level,
        }),*];
    };
}

files! {
    "cbr_44100.mp3" Mp3 44_100 2_000 HALF;
    "bare_44100.mp3" Mp3 44_100 2_037 HALF;
    "vbr_stereo_48000.mp3" Mp3 48_000 2_000 QUARTER;
    "vbr_22050.mp3" Mp3 22_050 2_000 HALF;
    "cbr_8000.mp3" Mp3 8_000 2_000 HALF;
    "mono_44100.aac" Aac 44_100 2_043 HALF;
    "stereo_22050.aac" Aac 22_050 2_090 QUARTER;
    "end_44100.m4a" M4a 44_100 2_000 HALF;
    "front_stereo_48000.m4a" M4a 48_000 2_000 QUARTER;
    "fragments_44100.mp4" M4a 44_100 2_043 HALF;
    "opus.mp4" M4a 48_000 2_000 HALF;
    "int16_8000.wav" Wav 8_000 1_000 HALF;
    "int8_8000.wav" Wav 8_000 1_000 HALF;
    "int24_6000.wav" Wav 6_000 1_000 HALF;
    "int32_4800.wav" Wav 4_800 1_000 HALF;
    "float32_4800.wav" Wav 4_800 1_000 HALF;
    "stereo_4000.wav" Wav 4_000 1_000 QUARTER;
    "stream_8000.wav" Wav 8_000 1_000 HALF;
    "rf64_8000.wav" Wav 8_000 1_000 HALF;
    "mono_44100.ogg" Ogg 44_100 2_000 HALF;
    "stereo_22050.ogg" Ogg 22_050 2_000 QUARTER;
    "flac_8000.ogg" Ogg 8_000 1_000 HALF;
    "mono.opus" OggOpus 48_000 2_000 HALF;
    "stereo_60ms.opus" OggOpus 48_000 2_000 QUARTER;
    "mono_44100.flac" Flac 44_100 200 HALF;
    "stream_stereo_8000.flac" Flac 8_000 800 QUARTER;
    "whole.webm" Webm 48_000 2_000 HALF;
    "live.webm" Webm 48_000 2_000 HALF;
    "vorbis_44100.webm" Webm 44_100 2_000 HALF;
}

/// Returns the amplitude of a 1,000 Hz tone, and that of the whole signal as if it were one tone.
fn tone(samples: &[i16], rate: u32) -> (f64, f64) {
    let count = u32::try_from(samples.len()).map_or(f64::NAN, f64::from);
    let step = std::f64::consts::TAU * 1_000.0 / f64::from(rate);
    let (mut cosine, mut sine, mut power) = (0.0, 0.0, 0.0);
    for (index, sample) in (0_u32..).zip(samples) {
        let angle = step * f64::from(index);
        let sample = f64::from(*sample);
        cosine += sample * angle.cos();
        sine += sample * angle.sin();
        power += sample * sample;
    }
    let tone = (cosine * cosine + sine * sine).sqrt() * 2.0 / count;
    (tone, (power * 2.0 / count).sqrt())
}

/// Asserts that the middle half contains only the tone, at the right level.
fn assert_tone(name: &str, samples: &[i16], rate: u32, level: f64) {
    let quarter = samples.len() / 4;
    let middle = samples.get(quarter..quarter * 3).unwrap_or_default();
    let (tone, all) = tone(middle, rate);
    assert!(
        (tone / level - 1.0).abs() < 0.08,
        "{name}: {tone} of {level}"
    );
    // The AAC encoder adds a little noise.
    assert!(tone / all > 0.96, "{name}: {tone} of {all}");
}

fn assert_near(name: &str, ms: u64, truth: u64) {
    assert!(
        ms.abs_diff(truth) * 50 <= truth,
        "{name}: {ms} ms, not {truth}"
    );
}

#[test]
fn each_file_is_recognised() {
    for file in FILES {
        assert_eq!(sniff(file.bytes), Some(file.kind), "{}", file.name);
    }
}

#[test]
fn each_file_is_measured() {
    for file in FILES {
        let ms = duration_ms(file.bytes, file.kind);
        let ms = ms.unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert_near(file.name, ms, file.ms);
    }
}

#[test]
fn each_file_is_decoded() {
    for file in FILES {
        let sound = decode(file.bytes, file.kind, 10);
        let sound = sound.unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert_eq!(sound.rate, file.rate, "{}", file.name);
        assert_near(file.name, sound.duration_ms(), file.ms);
        assert_tone(file.name, &sound.samples, sound.rate, file.level);
    }
}

#[test]
fn each_file_becomes_a_plain_wave() {
    for file in FILES {
        let wav = to_wav(file.bytes, file.kind, 16_000, 10).unwrap();
        let mut reader = hound::WavReader::new(wav.as_slice()).unwrap();
        let spec = reader.spec();
        assert_eq!(
            (spec.channels, spec.sample_rate, spec.bits_per_sample),
            (1, 16_000, 16)
        );
        let samples: Vec<i16> = reader.samples().map(Result::unwrap).collect();
        assert_near(file.name, samples.len() as u64 * 1000 / 16_000, file.ms);
        assert_tone(file.name, &samples, 16_000, file.level);
    }
}

#[test]
fn what_is_cut_off_gives_what_is_there() {
    for file in FILES {
        let mut longest = 0;
        for part in 0..16 {
            let bytes = &file.bytes[..file.bytes.len() * part / 16];
            let _kind = sniff(bytes);
            let ms = duration_ms(bytes, file.kind).unwrap_or_default();
            let decoded = decode(bytes, file.kind, 10).map_or(0, |sound| sound.duration_ms());
            assert!(ms <= file.ms * 102 / 100, "{} {part}/16: {ms}", file.name);
            assert!(
                ms.abs_diff(decoded) <= 60,
                "{} {part}/16: {ms} ms, but {decoded} decoded",
                file.name
            );
            longest = longest.max(ms);
        }
        // The packet table follows the packets, so a truncated file is unreadable.
        if !matches!(file.name, "end_44100.m4a" | "opus.mp4") {
            assert!(
                longest * 100 >= file.ms * 75,
                "{}: {longest} of {}",
                file.name,
                file.ms
            );
        }
    }
}

#[test]
fn a_limit_is_a_limit() {
    for file in FILES.iter().filter(|file| file.ms >= 1_900) {
        let error = decode(file.bytes, file.kind, 1).unwrap_err();
        assert_eq!(
            error,
            AudioError::TooLong { max_seconds: 1 },
            "{}",
            file.name
        );
    }
    // Exactly at the limit, and one sample longer.
    let pcm = Kind::Pcm { rate: 8_000 };
    assert_eq!(decode(&[1; 16_000], pcm, 1).unwrap().samples.len(), 8_000);
    assert_eq!(
        decode(&[1; 16_002], pcm, 1),
        Err(AudioError::TooLong { max_seconds: 1 })
    );
    assert_eq!(
        to_wav(&[1; 16_002], pcm, 16_000, 1),
        Err(AudioError::TooLong { max_seconds: 1 })
    );
    assert_eq!(
        to_wav(&[1; 16_000], pcm, 16_000, 1).unwrap().len(),
        44 + 32_000
    );
}

#[test]
fn nothing_is_empty_and_no_sound_is_unreadable() {
    for file in FILES {
        assert_eq!(duration_ms(&[], file.kind), Err(AudioError::Empty));
        assert_eq!(decode(&[], file.kind, 10), Err(AudioError::Empty));
        let text = b"It is only text, and a good deal of it, but no sound at all. ".repeat(50);
        assert_eq!(
            duration_ms(&text, file.kind),
            Err(AudioError::Unreadable),
            "{:?}",
            file.kind
        );
        assert_eq!(
            decode(&text, file.kind, 10),
            Err(AudioError::Unreadable),
            "{:?}",
            file.kind
        );
        assert_eq!(
            to_wav(&text, file.kind, 16_000, 10),
            Err(AudioError::Unreadable)
        );
    }
    assert_eq!(
        duration_ms(&[1], Kind::Pcm { rate: 8_000 }),
        Err(AudioError::Empty)
    );
    assert_eq!(
        duration_ms(&[1; 8], Kind::Pcm { rate: 0 }),
        Err(AudioError::Unreadable)
    );
    assert_eq!(
        decode(&[1; 8], Kind::Pcm { rate: 0 }, 10),
        Err(AudioError::Unreadable)
    );
}

#[test]
fn one_kind_is_not_another() {
    for file in FILES {
        for other in FILES {
            let same = file.kind == other.kind
                || matches!(
                    (file.kind, other.kind),
                    (Kind::Ogg, Kind::OggOpus) | (Kind::OggOpus, Kind::Ogg)
                );
            if !same {
                assert_eq!(
                    duration_ms(file.bytes, other.kind),
                    Err(AudioError::Unreadable),
                    "{} as {:?}",
                    file.name,
                    other.kind
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn broken_files_are_read_or_refused(
        index in 0..FILES.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        zone in prop::sample::select(vec![100_usize, 600, 5_000, usize::MAX]),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let file = &FILES[index];
        let mut bytes = file.bytes.to_vec();
        for (place, value) in flips {
            let place = place.index(bytes.len().min(zone));
            bytes[place] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        let begun = std::time::Instant::now();
        let _kind = sniff(&bytes);
        let _measured = duration_ms(&bytes, file.kind);
        if let Ok(sound) = decode(&bytes, file.kind, 5) {
            prop_assert!(sound.samples.len() <= 5 * sound.rate as usize);
        }
        prop_assert!(begun.elapsed().as_secs() < 10, "{} took {:?}", file.name, begun.elapsed());
    }

    #[test]
    fn random_bytes_are_no_sound(bytes in prop::collection::vec(any::<u8>(), 0..8192)) {
        // Shorter inputs have no space for a second frame, and one in thousands looks like a first frame.
        if bytes.len() > 2_000 {
            prop_assert_eq!(sniff(&bytes), None);
        }
        for file in FILES {
            let _measured = duration_ms(&bytes, file.kind);
            let _decoded = decode(&bytes, file.kind, 5);
        }
    }

    #[test]
    fn text_is_no_sound(text in ".{0,2000}") {
        prop_assert_eq!(sniff(text.as_bytes()), None);
        for mark in [Some(0xFEFF_u16), None] {
            let units: Vec<u16> = mark.into_iter().chain(text.encode_utf16()).collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            prop_assert_eq!(sniff(&little), None);
            prop_assert_eq!(sniff(&big), None);
        }
    }
}
