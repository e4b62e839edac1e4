//! Tests of the parent module.

use super::*;

#[test]
fn what_comes_back_is_audio_or_nothing_in_particular() {
    assert_eq!(
        kind_of(b"RIFF\x24\0\0\0WAVEfmt ", None),
        ("wav", "audio/wav")
    );
    // The content takes precedence over the declared format.
    assert_eq!(kind_of(b"fLaC\0\0\0\x22", Some("mp3")).1, "audio/flac");
    assert_eq!(kind_of(b"????", Some("m4a")), ("m4a", "audio/mp4"));
    assert_eq!(kind_of(b"????", Some("pcm")), ("pcm", "audio/pcm"));
    for declared in [None, Some("text/html"), Some("html")] {
        let octets = ("bin", "application/octet-stream");
        assert_eq!(kind_of(b"<html>", declared), octets);
    }
}

#[test]
fn durations_are_rounded_and_never_negative() {
    assert_eq!(milliseconds(1.2345), 1235);
    assert_eq!(milliseconds(0.0), 0);
    assert_eq!(milliseconds(-1.0), 0);
    assert_eq!(milliseconds(f64::NAN), 0);
}
