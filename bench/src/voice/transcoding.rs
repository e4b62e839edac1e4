//! The speed of encoding samples to MP3 and Opus on one core, as a multiple of real time.

use crate::table::{Goal, Report};
use anyhow::Result;
use gatehouse_audio::{Format, Kind, Sound, decode, encode};
use std::time::Instant;

const SECONDS: u32 = 60;
const RATE: u32 = 24_000;

/// Measures the speed. Includes decoding the WAV file, because the gateway also decodes a provider's audio.
pub fn measure(report: &mut Report) -> Result<()> {
    let wav = encode(&speech_like(), Format::Wav)?;
    for format in [Format::Mp3, Format::Opus] {
        let begun = Instant::now();
        let sound = decode(&wav, Kind::Wav, 2 * SECONDS)?;
        encode(&sound, format)?;
        let times = f64::from(SECONDS) / begun.elapsed().as_secs_f64();
        let what = format!("WAV to {}, times real time", format.as_str());
        report.value(what, Goal::AtLeast(50.0), times, (0, "×"));
    }
    Ok(())
}

/// Generates a hum with overtones and varying volume, plus noise. Encoders need more time for this sound than for a
/// pure tone.
#[expect(clippy::cast_possible_truncation, reason = "within ±1 before")]
fn speech_like() -> Sound {
    let mut hiss = 1_u32;
    let samples = (0..SECONDS * RATE).map(|index| {
        let at = f64::from(index) / f64::from(RATE);
        let pitch = 120.0 + 30.0 * (at * 2.0).sin();
        let voice: f64 = (1..=12)
            .map(|part| {
                (at * pitch * f64::from(part) * std::f64::consts::TAU).sin() / f64::from(part)
            })
            .sum();
        let loud = (at * 4.0 * std::f64::consts::PI).sin().abs();
        hiss = hiss.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = f64::from(hiss >> 16) / 65_536.0 - 0.5;
        ((voice * 0.25 * loud + noise * 0.05) * 20_000.0) as i16
    });
    Sound {
        rate: RATE,
        samples: samples.collect(),
    }
}
