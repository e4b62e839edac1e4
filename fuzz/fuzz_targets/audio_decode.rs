//! Decodes untrusted audio: never more samples than requested, always at a usable rate, and the same samples
//! after a round trip through WAV.
#![no_main]

use gatehouse_audio::{AudioError, Format, Kind, decode, encode, sniff};
use gatehouse_fuzz::SOUNDS;
use libfuzzer_sys::fuzz_target;

const SECONDS: u32 = 2;

fn read(bytes: &[u8], kind: Kind) {
    match decode(bytes, kind, SECONDS) {
        Ok(sound) => {
            assert!((1_000..=384_000).contains(&sound.rate), "{sound:?}");
            assert!(!sound.samples.is_empty());
            assert!(sound.duration_ms() <= u64::from(SECONDS) * 1_000 + 1, "{sound:?}");
            let wav = encode(&sound, Format::Wav).unwrap();
            assert_eq!(sniff(&wav), Some(Kind::Wav));
            assert!(decode(&wav, Kind::Wav, SECONDS + 1).unwrap() == sound);
        }
        Err(AudioError::TooLong { max_seconds }) => assert_eq!(max_seconds, SECONDS),
        Err(AudioError::Unreadable | AudioError::Empty) => {}
        Err(error) => panic!("{error:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(kind) = sniff(bytes) {
        read(bytes, kind);
    }
    // Also decode as another kind.
    read(bytes, SOUNDS[bytes.len() % SOUNDS.len()]);
});
