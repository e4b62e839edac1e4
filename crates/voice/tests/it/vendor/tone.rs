//! Audio for the responses of fake vendors: a tone whose duration depends on the length of the text.

use super::fake_server::Verdict;
use gatehouse_audio::{Format, Sound, encode};

/// The default sample rate.
pub const RATE: u32 = 24_000;
/// Duration per character, for the first ones and for the rest. A text at a vendor's limit should not last
/// minutes.
const FIRST_MS: usize = 60;
const LATER_MS: usize = 1;
const FIRST_CHARACTERS: usize = 100;

/// Returns the duration of a text, in milliseconds.
pub fn duration_ms(text: &str) -> usize {
    let characters = text.chars().count();
    let first = characters.min(FIRST_CHARACTERS);
    first * FIRST_MS + (characters - first) * LATER_MS
}

/// Signed 16-bit samples of 440 Hz.
pub fn samples(text: &str, rate: u32) -> Vec<i16> {
    let count = duration_ms(text) * rate as usize / 1000;
    let wave = |index: usize| {
        let turns = index as f64 / f64::from(rate) * 440.0 * std::f64::consts::TAU;
        (turns.sin() * 8000.0) as i16
    };
    (0..count).map(wave).collect()
}

pub fn pcm(text: &str, rate: u32) -> Vec<u8> {
    let samples = samples(text, rate);
    samples.into_iter().flat_map(i16::to_le_bytes).collect()
}

pub fn wav(text: &str, rate: u32) -> Vec<u8> {
    let data = pcm(text, rate);
    let bytes = u32::try_from(data.len()).unwrap();
    let mut wav = Vec::with_capacity(44 + data.len());
    wav.extend(b"RIFF");
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend(1_u16.to_le_bytes());
    wav.extend(1_u16.to_le_bytes());
    wav.extend(rate.to_le_bytes());
    wav.extend((rate * 2).to_le_bytes());
    wav.extend(2_u16.to_le_bytes());
    wav.extend(16_u16.to_le_bytes());
    wav.extend(b"data");
    wav.extend(bytes.to_le_bytes());
    wav.extend(data);
    wav
}

pub fn mp3(text: &str) -> Vec<u8> {
    encoded(text, Format::Mp3)
}

/// Ogg Opus, 48 kHz.
pub fn opus(text: &str) -> Vec<u8> {
    encoded(text, Format::Opus)
}

fn encoded(text: &str, format: Format) -> Vec<u8> {
    let samples = samples(text, RATE);
    let sound = Sound {
        rate: RATE,
        samples,
    };
    encode(&sound, format).unwrap()
}

/// AAC in ADTS with whole seconds, because its frames can be repeated.
pub fn aac(text: &str) -> Vec<u8> {
    let seconds = duration_ms(text).div_ceil(1000).max(1);
    include_bytes!("../../fixtures/tone.aac").repeat(seconds)
}

/// Returns the response in a format, by its name at `OpenAI` and compatible servers.
pub fn named(format: &str, text: &str) -> Option<Verdict> {
    Some(match format {
        "mp3" => Verdict::Fine("audio/mpeg", mp3(text)),
        "opus" => Verdict::Fine("audio/opus", opus(text)),
        "aac" => Verdict::Fine("audio/aac", aac(text)),
        "wav" => Verdict::Fine("audio/wav", wav(text, RATE)),
        "flac" => Verdict::Fine("audio/flac", encoded(text, Format::Flac)),
        "pcm" => Verdict::Fine("audio/pcm", pcm(text, RATE)),
        _ => return None,
    })
}
