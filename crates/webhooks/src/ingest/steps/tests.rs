//! Tests of the parent module.

use super::*;

#[test]
fn a_preview_is_at_most_2_kib_of_whole_characters() {
    assert_eq!(preview(b"{\"a\":1}"), "{\"a\":1}");
    assert_eq!(preview(&[b'a'; 2048]).len(), 2048);
    assert_eq!(preview(&[b'a'; 2049]).len(), 2048);
    let mut text = "a".repeat(2047);
    text.push('é');
    assert_eq!(preview(text.as_bytes()), "a".repeat(2047));
    assert_eq!(preview(b"\xff\x00\xfe"), "\u{fffd}\u{fffd}\u{fffd}");
    assert!(preview(&[0xff; 5000]).len() <= 2048);
}
