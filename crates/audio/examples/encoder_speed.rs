//! How fast sounds are encoded on one core: `cargo run --release -p gatehouse-audio --example encoder_speed
//! FILE.wav [SECONDS OF SOUND]`. Also writes what came out beside it.
use std::time::Instant;

use gatehouse_audio::{Encoder, Format, Sound, encode, samples_of_pcm};

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let wav = std::fs::read(&path).unwrap();
    let rate = u32::from_le_bytes(wav[24..28].try_into().unwrap());
    let sound = Sound {
        rate,
        samples: samples_of_pcm(&wav[44..]),
    };
    let seconds = sound.samples.len() as f64 / f64::from(rate);
    for format in [Format::Mp3, Format::Opus, Format::Pcm, Format::Wav] {
        let start = Instant::now();
        let bytes = encode(&sound, format).unwrap();
        let took = start.elapsed().as_secs_f64();
        println!(
            "{:5} {seconds:7.2} s in {took:.3} s: {:6.0} x, {:.1} kbit/s",
            format.as_str(),
            seconds / took,
            bytes.len() as f64 * 8e-3 / seconds
        );
        std::fs::write(format!("{path}.{}", format.as_str()), bytes).unwrap();
        let mut encoder = Encoder::new(format, rate).unwrap();
        let mut live = Vec::new();
        let mut first = None;
        for (at, piece) in sound.samples.chunks(rate as usize / 100).enumerate() {
            let more = encoder.push(piece).unwrap();
            live.extend(more);
            if live.len() > 600 && first.is_none() {
                first = Some((at + 1) * 10);
            }
        }
        live.extend(encoder.finish().unwrap());
        println!("      live: first after {first:?} ms");
        std::fs::write(format!("{path}.live.{}", format.as_str()), live).unwrap();
    }
}
