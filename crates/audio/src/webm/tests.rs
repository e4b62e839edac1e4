//! Tests for laced blocks, broken clusters and padding at the end.

use proptest::prelude::*;

use super::*;

const LIVE: &[u8] = include_bytes!("../../tests/fixtures/live.webm");
const WHOLE: &[u8] = include_bytes!("../../tests/fixtures/whole.webm");

fn laced(data: &[u8], flags: u8) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    lacing::packets(data, flags, &mut |packet| {
        packets.push(packet.to_vec());
        Ok(())
    })
    .unwrap();
    packets
}

#[test]
fn each_lacing_is_taken_apart() {
    assert_eq!(laced(b"abc", 0), [b"abc"]);
    // Xiph: 300 is 255 and 45.
    let xiph = [&[2, 255, 45, 1][..], &[b'a'; 300], b"bcc"].concat();
    assert_eq!(
        laced(&xiph, 0b010),
        [vec![b'a'; 300], b"b".to_vec(), b"cc".to_vec()]
    );
    assert_eq!(laced(b"\x02aabbcc", 0b100), [b"aa", b"bb", b"cc"]);
    // EBML, the example of RFC 9559, 10.3.3: 800, 500, 1000.
    let ebml = [
        &[2, 0x43, 0x20, 0x5E, 0xD3][..],
        &[b'a'; 800],
        &[b'b'; 500],
        &[b'c'; 1000],
    ]
    .concat();
    assert_eq!(
        laced(&ebml, 0b110),
        [vec![b'a'; 800], vec![b'b'; 500], vec![b'c'; 1000]]
    );
    // Invalid lacing yields the packets that fit.
    assert_eq!(laced(&[2, 1, 9, b'a', b'b'], 0b010), [b"a"]);
    assert!(laced(&[], 0b010).is_empty());
    assert!(laced(&[255, 255], 0b110).is_empty());
    // More packets than bytes.
    assert!(laced(&[255, 1, 2, 3], 0b100).is_empty());
}

#[test]
fn lengths_are_exact() {
    // The last block declares how much of it to drop.
    assert_eq!(duration_ms(WHOLE).unwrap(), 2_000);
    // The same audio with elements of unknown length.
    assert!(duration_ms(LIVE).unwrap().abs_diff(2_000) <= 20);
}

#[test]
fn broken_bytes_cost_a_cluster_at_most() {
    let clusters: Vec<usize> = LIVE
        .windows(4)
        .enumerate()
        .filter(|(_, word)| word == &[0x1F, 0x43, 0xB6, 0x75])
        .map(|(at, _)| at)
        .collect();
    let first = clusters[0];
    let track = &LIVE[..first];
    // Clusters of two recordings, separated by an invalid element.
    let bytes = [LIVE, &[0; 50], &LIVE[first..]].concat();
    assert!(duration_ms(&bytes).unwrap().abs_diff(4_000) <= 40);
    assert_eq!(duration_ms(track), Err(AudioError::Empty));
}

#[test]
fn numbers_of_variable_length_are_read() {
    assert_eq!(ebml::vint(&[0x81]), Some((Some(1), 1)));
    assert_eq!(ebml::vint(&[0xFF]), Some((None, 1)));
    assert_eq!(ebml::vint(&[0x40, 0x02]), Some((Some(2), 2)));
    assert_eq!(
        ebml::vint(&[0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        Some((None, 8))
    );
    assert_eq!(ebml::vint(&[0x01, 0, 0, 0, 0, 0, 0, 5]), Some((Some(5), 8)));
    assert_eq!(ebml::vint(&[0x00, 1]), None);
    assert_eq!(ebml::vint(&[0x40]), None);
    assert_eq!(ebml::vint(&[]), None);
}

proptest! {
    #[test]
    fn any_lacing_never_panics(data in prop::collection::vec(any::<u8>(), 0..100), flags: u8) {
        let total: usize = laced(&data, flags).iter().map(Vec::len).sum();
        prop_assert!(total <= data.len());
    }
}
