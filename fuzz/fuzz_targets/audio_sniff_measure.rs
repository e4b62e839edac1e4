//! Sounds of strangers: which kind they are and how long they last, as their kind and as every other. No
//! bytes last longer than bytes of their number can, where the length is counted and not claimed.
#![no_main]

use gatehouse_audio::{Kind, duration_ms, sniff};
use gatehouse_fuzz::SOUNDS;
use libfuzzer_sys::fuzz_target;

/// The slowest of these formats has 1,000 samples a second of at least one bit each.
fn longest_ms(bytes: &[u8]) -> u64 {
    8 * u64::try_from(bytes.len()).unwrap()
}

fuzz_target!(|bytes: &[u8]| {
    let sniffed = sniff(bytes);
    assert_eq!(sniffed, sniff(bytes));
    // What it is stands in front: what comes after changes nothing once there is enough of it.
    assert!(!matches!(sniffed, Some(Kind::Pcm { .. })), "raw samples have no mark");
    for kind in SOUNDS {
        let measured = duration_ms(bytes, kind);
        assert_eq!(measured, duration_ms(bytes, kind));
        if let (Ok(ms), Kind::Pcm { rate }) = (measured, kind) {
            assert!(rate > 0 && ms <= longest_ms(bytes));
        }
        if let (Ok(ms), Kind::Wav) = (measured, kind) {
            assert!(ms <= longest_ms(bytes), "{ms} ms of {} bytes", bytes.len());
        }
    }
});
