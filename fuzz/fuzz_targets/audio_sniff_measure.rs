//! Detects the kind and measures the duration of untrusted audio, as its own kind and as every other. Where
//! the duration is computed rather than declared, it cannot exceed the maximum for the number of bytes.
#![no_main]

use gatehouse_audio::{Kind, duration_ms, sniff};
use gatehouse_fuzz::SOUNDS;
use libfuzzer_sys::fuzz_target;

/// The slowest of these formats has 1,000 samples per second of at least one bit each.
fn longest_ms(bytes: &[u8]) -> u64 {
    8 * u64::try_from(bytes.len()).unwrap()
}

fuzz_target!(|bytes: &[u8]| {
    let sniffed = sniff(bytes);
    assert_eq!(sniffed, sniff(bytes));
    // The kind is recognizable from the beginning: further bytes change nothing once there are enough.
    assert!(!matches!(sniffed, Some(Kind::Pcm { .. })), "raw samples have no mark");
    for kind in SOUNDS {
        let measured = duration_ms(bytes, kind);
        assert_eq!(measured, duration_ms(bytes, kind));
        if let (Ok(ms), Kind::Pcm { rate }) = (&measured, kind) {
            assert!(rate > 0 && *ms <= longest_ms(bytes));
        }
        if let (Ok(ms), Kind::Wav) = (measured, kind) {
            assert!(ms <= longest_ms(bytes), "{ms} ms of {} bytes", bytes.len());
        }
    }
});
