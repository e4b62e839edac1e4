//! Tests for tables with false values.

use super::*;

const FILE: &[u8] = include_bytes!("../../tests/fixtures/front_stereo_48000.m4a");
const FRAGMENTS: &[u8] = include_bytes!("../../tests/fixtures/fragments_44100.mp4");

fn place(bytes: &[u8], name: [u8; 4]) -> usize {
    bytes.windows(4).position(|word| *word == name).unwrap()
}

/// Returns the file with bytes overwritten at an offset after the name of a box.
fn changed(file: &[u8], name: [u8; 4], behind: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let at = place(file, name) + behind;
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

#[test]
fn the_edit_list_cuts_exactly() {
    assert_eq!(duration_ms(FILE).unwrap(), 2_000);
    // Without the edit list, the encoder's silence and the rest of the last packet count too.
    let bytes = changed(FILE, *b"edts", 0, b"free");
    assert!(duration_ms(&bytes).unwrap() > 2_015);
    // An edit longer than the track yields the whole track.
    let bytes = changed(FILE, *b"elst", 12, &u32::MAX.to_be_bytes());
    let ms = duration_ms(&bytes).unwrap();
    assert!((2_000..2_030).contains(&ms), "{ms}");
}

#[test]
fn a_table_of_endless_packets_ends() {
    // One byte per packet, and 2^32 - 1 packets per chunk.
    let with = [1_u32.to_be_bytes(), u32::MAX.to_be_bytes()].concat();
    let bytes = changed(FILE, *b"stsz", 8, &with);
    let bytes = changed(&bytes, *b"stsc", 16, &u32::MAX.to_be_bytes());
    let most = u64::try_from(bytes.len()).unwrap() * 1024 / 48;
    assert!(duration_ms(&bytes).unwrap_or_default() <= most);
}

#[test]
fn a_run_of_endless_packets_ends() {
    let bytes = changed(FRAGMENTS, *b"trun", 8, &u32::MAX.to_be_bytes());
    let ms = duration_ms(&bytes).unwrap();
    assert!(ms < 60_000, "{ms}");
}

#[test]
fn a_box_without_length_or_with_too_much_is_no_trouble() {
    for length in [0_u32, 1, 7, 8, u32::MAX] {
        let mut bytes = FILE.to_vec();
        let at = place(FILE, *b"stbl") - 4;
        bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
        let _measured = duration_ms(&bytes);
    }
    let parts: Vec<_> = children(&[
        0, 0, 0, 1, b'm', b'd', b'a', b't', 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 5,
    ])
    .map(|part| part.content.to_vec())
    .collect();
    assert_eq!(parts, [vec![5]]);
}

#[test]
fn fragments_are_counted_as_far_as_they_are_there() {
    let whole = duration_ms(FRAGMENTS).unwrap();
    let half = duration_ms(&FRAGMENTS[..FRAGMENTS.len() / 2]).unwrap();
    assert!(
        half > whole / 3 && half < whole * 2 / 3,
        "{half} of {whole}"
    );
}

fn boxed(name: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 8).unwrap();
    [&length.to_be_bytes()[..], &name, content].concat()
}

fn numbers(list: &[u32]) -> Vec<u8> {
    list.iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

#[test]
fn the_same_bytes_are_not_packets_again_and_again() {
    // A thousand chunks of 100 bytes at the same offset.
    let places = [&[0, 1_000][..], &[0; 1_000]].concat();
    let table = [
        boxed(*b"stsz", &numbers(&[0, 100, u32::MAX])),
        boxed(*b"stsc", &numbers(&[0, 1, 1, 1, 1])),
        boxed(*b"stco", &numbers(&places)),
    ]
    .concat();
    for length in [999, 1_000] {
        let bytes = vec![1; length];
        let mut count = 0;
        samples::in_table(&mut File::new(&bytes), &table, &mut |packet| {
            assert_eq!(packet.len(), 100);
            count += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, length / 100);
    }
}

#[test]
fn fragments_do_not_name_the_same_bytes_again_and_again() {
    let head = boxed(*b"tfhd", &numbers(&[0x11, 1, 0, 0, 50]));
    let runs = boxed(*b"trun", &numbers(&[1, 1, 0])).repeat(500);
    let track = boxed(*b"traf", &[head, runs].concat());
    let bytes = boxed(*b"moof", &track);
    let mut count = 0;
    samples::in_fragments(&mut File::new(&bytes), &[], 1, &mut |_| {
        count += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(count, bytes.len() / 50);
    assert!(count < 500);
}

#[test]
fn an_edit_behind_the_end_is_no_sound() {
    let bytes = changed(FILE, *b"elst", 16, &0x7FFF_FFFF_u32.to_be_bytes());
    assert_eq!(duration_ms(&bytes), Err(AudioError::Empty));
    let result = crate::decode(&bytes, crate::Kind::M4a, 10);
    assert_eq!(result, Err(AudioError::Empty));
}
