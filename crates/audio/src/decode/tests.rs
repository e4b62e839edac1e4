//! Tests for decompression bombs, false tags, concatenated files and invalid packets.

use proptest::prelude::*;

use super::*;

const MP3: &[u8] = include_bytes!("../../tests/fixtures/cbr_44100.mp3");
const SLOW_MP3: &[u8] = include_bytes!("../../tests/fixtures/vbr_22050.mp3");
const ADTS: &[u8] = include_bytes!("../../tests/fixtures/mono_44100.aac");
const FLAC_BOMB: &[u8] = include_bytes!("../../tests/fixtures/silence_600s.flac");
const OPUS_BOMB: &[u8] = include_bytes!("../../tests/fixtures/silence_60s.opus");

#[test]
fn a_bomb_is_stopped_at_the_limit() {
    for (bytes, kind, rate, seconds) in [
        (FLAC_BOMB, Kind::Flac, 8_000, 600),
        (OPUS_BOMB, Kind::OggOpus, 48_000, 60),
    ] {
        assert!(bytes.len() < 20_000);
        let ms = crate::duration_ms(bytes, kind).unwrap();
        assert_eq!(ms, seconds * 1_000);
        let mut given = 0;
        let result = stream(bytes, kind, 5, &mut |_, samples| {
            given += samples.len();
            Ok(())
        });
        assert_eq!(result, Err(AudioError::TooLong { max_seconds: 5 }));
        assert!(given <= 5 * rate, "{given}");
        let wav = to_wav(bytes, kind, 16_000, 5);
        assert_eq!(wav, Err(AudioError::TooLong { max_seconds: 5 }));
    }
}

#[test]
fn a_file_may_last_exactly_as_long_as_is_taken() {
    assert!(decode(OPUS_BOMB, Kind::OggOpus, 60).is_ok());
    let error = decode(OPUS_BOMB, Kind::OggOpus, 59).unwrap_err();
    assert_eq!(error, AudioError::TooLong { max_seconds: 59 });
}

/// Returns the file with this number of frames in its tag.
fn with_frames(bytes: &[u8], frames: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let tag = bytes
        .windows(4)
        .position(|word| word == b"Info" || word == b"Xing")
        .unwrap();
    bytes[tag + 8..tag + 12].copy_from_slice(&frames.to_be_bytes());
    bytes
}

#[test]
fn an_mp3_lasts_as_long_as_its_frames_whatever_its_tag_says() {
    assert_eq!(crate::duration_ms(MP3, Kind::Mp3), Ok(2_000));
    for frames in [0, 1, 10_000, u32::MAX] {
        let ms = crate::duration_ms(&with_frames(MP3, frames), Kind::Mp3).unwrap();
        assert!(ms.abs_diff(2_000) <= 40, "{frames}: {ms}");
    }
    // Half of the file lasts half as long.
    let half = crate::duration_ms(&MP3[..MP3.len() / 2], Kind::Mp3).unwrap();
    assert!(half.abs_diff(1_000) <= 60, "{half}");
}

#[test]
fn mp3_files_put_together_add_up() {
    for file in [MP3, SLOW_MP3] {
        let both = [file, file].concat();
        assert_eq!(crate::duration_ms(&both, Kind::Mp3), Ok(4_000));
        let sound = decode(&both, Kind::Mp3, 10).unwrap();
        assert!(sound.duration_ms().abs_diff(4_000) <= 1);
    }
}

#[test]
fn tags_and_rubbish_around_and_between_frames_are_passed_over() {
    let tag = |length: usize| {
        let size = u8::try_from(length % 128).unwrap();
        let high = u8::try_from(length / 128).unwrap();
        [&b"ID3\x04\0\0\0\0"[..], &[high, size], &vec![0xFF; length]].concat()
    };
    for (file, kind) in [(MP3, Kind::Mp3), (ADTS, Kind::Aac)] {
        let plain = crate::duration_ms(file, kind).unwrap();
        let old_tag = [&b"TAG"[..], &[b' '; 125]].concat();
        let bytes = [&tag(9_000)[..], &tag(300), file, &old_tag].concat();
        assert_eq!(crate::duration_ms(&bytes, kind), Ok(plain));
        assert_eq!(crate::sniff(&bytes), Some(kind));
        let middle = file.len() / 2;
        let bytes = [&file[..middle], &[0xFF; 700], &file[middle..]].concat();
        let ms = crate::duration_ms(&bytes, kind).unwrap();
        assert!(ms.abs_diff(plain) <= 60, "{ms}");
        assert!(
            decode(&bytes, kind, 10)
                .unwrap()
                .duration_ms()
                .abs_diff(plain)
                <= 80
        );
    }
}

#[test]
fn a_tag_longer_than_what_is_there_is_of_an_mp3() {
    let head = b"ID3\x03\0\0\x7F\x7F\x7F\x7F and then a picture";
    assert_eq!(crate::sniff(head), Some(Kind::Mp3));
    assert_eq!(
        crate::sniff(b"ID3\x03\0\0\0\0\0\x02aaText and more text"),
        None
    );
    assert_eq!(crate::sniff(b"ID3 is the name of a tag"), None);
}

#[test]
fn one_frame_is_enough_only_where_no_second_fits() {
    let bare = include_bytes!("../../tests/fixtures/bare_44100.mp3");
    assert_eq!(crate::sniff(&bare[..60]), Some(Kind::Mp3));
    let mut frame = bare[..60].to_vec();
    frame.resize(2_000, 0);
    assert_eq!(crate::sniff(&frame), None);
    for length in 0..60 {
        let _kind = crate::sniff(&bare[..length]);
    }
}

/// CRC with this polynomial and width, initial value 0, most significant bit first (RFC 9639, 9.1.8 and 9.3).
fn crc(bytes: &[u8], polynomial: u32, width: u32) -> u32 {
    bytes.iter().fold(0, |sum, byte| {
        let sum = sum ^ u32::from(*byte) << (width - 8);
        (0..8).fold(sum, |sum, _| {
            let over = sum >> (width - 1) & 1 == 1;
            (sum << 1 ^ if over { polynomial } else { 0 }) & ((1 << width) - 1)
        })
    })
}

/// Native FLAC of silence: 384 kHz, 8 channels, frames of 65,535 samples in about 33 bytes.
fn wide_silence(frames: u8) -> Vec<u8> {
    let mut file = b"fLaC\x80\0\0\x22\xFF\xFF\xFF\xFF\0\0\0\0\0\0".to_vec();
    // 384,000 in 20 bits, 8 channels, 16 bits, unknown number of samples.
    file.extend((384_000_u64 << 44 | 7 << 41 | 15 << 36).to_be_bytes());
    file.extend([0; 16]);
    for number in 0..frames {
        let mut frame = vec![0xFF, 0xF8, 0x70, 0x78, number, 0xFF, 0xFE];
        frame.push(u8::try_from(crc(&frame, 0x07, 8)).unwrap());
        frame.extend([0; 3 * 8]);
        let sum = u16::try_from(crc(&frame, 0x8005, 16)).unwrap();
        frame.extend(sum.to_be_bytes());
        file.extend(frame);
    }
    file
}

#[test]
fn channels_and_high_rates_count_as_work() {
    // Less than 4 seconds, but as many samples as 109 seconds of stereo at 48 kHz.
    let file = wide_silence(20);
    assert!(file.len() < 1_000);
    let ms = crate::duration_ms(&file, Kind::Flac).unwrap();
    assert!(ms.abs_diff(20 * 65_535 * 1_000 / 384_000) <= 1, "{ms}");
    let error = decode(&file, Kind::Flac, 60).unwrap_err();
    assert_eq!(error, AudioError::TooLong { max_seconds: 60 });
    let sound = decode(&file, Kind::Flac, 100).unwrap();
    assert_eq!(sound.samples.len(), 20 * 65_535);
}

#[test]
fn places_where_flac_could_begin_are_bounded() {
    let mut file = wide_silence(2);
    let at = file.len();
    file.resize(at + 2 * (256 * 1024 - 2), 0);
    for place in file[at..].chunks_exact_mut(2) {
        place.copy_from_slice(&[0xFF, 0xF8]);
    }
    // The frames themselves account for two positions.
    assert!(crate::duration_ms(&file, Kind::Flac).is_ok());
    file.extend([0xFF, 0xF8]);
    let result = crate::duration_ms(&file, Kind::Flac);
    assert_eq!(result, Err(AudioError::Unreadable));
}

fn decoders() -> Vec<Decoder> {
    let head = crate::opus_decode::Head::read(b"OpusHead\x01\x02\0\0\x80\xBB\0\0\0\0\0").unwrap();
    let surround = b"OpusHead\x01\x06\0\0\x80\xBB\0\0\0\0\x01\x04\x02\0\x04\x01\x02\x03\x05";
    let surround = crate::opus_decode::Head::read(surround).unwrap();
    let flac = include_bytes!("../../tests/fixtures/mono_44100.flac");
    vec![
        Decoder::mp3().unwrap(),
        Decoder::aac(&adts::lc_config(4, 2)).unwrap(),
        Decoder::flac(&flac[8..42]).unwrap(),
        Decoder::opus(&head).unwrap(),
        Decoder::opus(&surround).unwrap(),
    ]
}

proptest! {
    #[test]
    fn packets_of_nonsense_never_panic(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..8),
    ) {
        for mut decoder in decoders() {
            for packet in &packets {
                let _block = decoder.decode(packet);
            }
        }
    }

    #[test]
    fn raw_samples_are_what_they_are(samples in prop::collection::vec(any::<i16>(), 1..3_000)) {
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let sound = decode(&bytes, Kind::Pcm { rate: 24_000 }, 1).unwrap();
        prop_assert_eq!(&sound.samples, &samples);
        let wav = to_wav(&bytes, Kind::Pcm { rate: 24_000 }, 24_000, 1).unwrap();
        prop_assert_eq!(decode(&wav, Kind::Wav, 1).unwrap().samples, samples);
    }
}
