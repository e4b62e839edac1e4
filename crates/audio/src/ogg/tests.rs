//! Tests for streams that are concatenated, cut out of longer ones, or have broken or false pages.

use super::*;

const OPUS: &[u8] = include_bytes!("../../tests/fixtures/stereo_60ms.opus");
const VORBIS: &[u8] = include_bytes!("../../tests/fixtures/mono_44100.ogg");
const FLAC: &[u8] = include_bytes!("../../tests/fixtures/flac_8000.ogg");

/// Splits a file into pages.
fn pages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut pages = Vec::new();
    let mut walk = page::Pages::new(bytes);
    let mut at = 0;
    while walk.next().is_some() {
        pages.push(bytes[at..walk.at()].to_vec());
        at = walk.at();
    }
    pages
}

/// Corrects the checksum of a page.
fn sealed(mut page: Vec<u8>) -> Vec<u8> {
    let sum = page::checksum(&page);
    page[22..26].copy_from_slice(&sum.to_le_bytes());
    page
}

#[test]
fn lengths_are_exact() {
    assert_eq!(duration_ms(OPUS).unwrap(), 2_000);
    assert_eq!(duration_ms(VORBIS).unwrap(), 2_000);
    assert_eq!(duration_ms(FLAC).unwrap(), 1_000);
}

#[test]
fn streams_one_after_the_other_add_up() {
    assert_eq!(duration_ms(&[OPUS, OPUS].concat()).unwrap(), 4_000);
    assert_eq!(duration_ms(&[VORBIS, VORBIS].concat()).unwrap(), 4_000);
    let both = crate::decode(&[OPUS, OPUS].concat(), crate::Kind::OggOpus, 10).unwrap();
    assert_eq!(both.samples.len(), 4 * 48_000);
}

#[test]
fn a_stream_cut_out_of_a_longer_one_counts_from_its_first_page() {
    for (file, rate) in [(OPUS, 48_000), (VORBIS, 44_100), (FLAC, 8_000)] {
        let whole = duration_ms(file).unwrap();
        let mut moved = pages(file);
        // Shift all positions by one hour.
        for page in &mut moved {
            let position = u64::from_le_bytes(page[6..14].try_into().unwrap());
            if position > 0 && position != u64::MAX {
                let later = position + 3_600 * rate;
                page[6..14].copy_from_slice(&later.to_le_bytes());
                *page = sealed(std::mem::take(page));
            }
        }
        let ms = duration_ms(&moved.concat()).unwrap();
        assert!(ms.abs_diff(whole) <= 60, "{ms} of {whole}");
    }
}

#[test]
fn a_position_that_lies_is_bounded() {
    for file in [OPUS, VORBIS, FLAC] {
        let mut pages = pages(file);
        let mut last = pages.pop().unwrap();
        last[6..14].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        pages.push(sealed(last));
        let ms = duration_ms(&pages.concat()).unwrap();
        assert!(ms < 120_000, "{ms}");
    }
}

#[test]
fn a_broken_page_is_left_out() {
    let mut pages = pages(OPUS);
    assert!(pages.len() > 8);
    let middle = pages.len() / 2;
    let end = pages[middle].len() - 1;
    pages[middle][end] ^= 1;
    let bytes = pages.concat();
    // The positions around the broken page still give the length.
    assert_eq!(duration_ms(&bytes).unwrap(), 2_000);
    let sound = crate::decode(&bytes, crate::Kind::OggOpus, 10).unwrap();
    assert!(
        (1_600..1_900).contains(&sound.duration_ms()),
        "{}",
        sound.duration_ms()
    );
}

#[test]
fn the_checksum_is_that_of_ogg() {
    // libogg wrote the checksums in the file. Another polynomial, bit order or initial value would not match.
    for page in pages(VORBIS) {
        let stated = u32::from_le_bytes(page[22..26].try_into().unwrap());
        assert_eq!(page::checksum(&page), stated);
    }
}

#[test]
fn many_streams_are_not_read_for_ever() {
    let short: Vec<u8> = pages(OPUS).into_iter().take(3).flatten().collect();
    let once = duration_ms(&short).unwrap();
    let many = duration_ms(&short.repeat(300)).unwrap();
    assert_eq!(many, once * 100);
}

#[test]
fn headers_alone_are_empty() {
    let heads: Vec<u8> = pages(OPUS).into_iter().take(2).flatten().collect();
    assert!(matches!(
        duration_ms(&heads),
        Err(AudioError::Empty | AudioError::Unreadable)
    ));
}

/// Returns a page with these packets. Each but the last is shorter than 255 bytes.
fn page_of(flags: u8, number: u32, position: u64, packets: &[&[u8]]) -> Vec<u8> {
    let mut lengths = Vec::new();
    for packet in packets {
        lengths.extend(vec![255; packet.len() / 255]);
        lengths.push(u8::try_from(packet.len() % 255).unwrap());
    }
    let mut page = b"OggS\0".to_vec();
    page.push(flags);
    page.extend(position.to_le_bytes());
    page.extend(7_u32.to_le_bytes());
    page.extend(number.to_le_bytes());
    page.extend([0; 4]);
    page.push(u8::try_from(lengths.len()).unwrap());
    page.extend(lengths);
    page.extend(packets.concat());
    sealed(page)
}

fn vorbis_with(setup: &[u8]) -> Vec<u8> {
    let first = crate::vorbis::tests::identification();
    [
        page_of(2, 0, 0, &[&first]),
        page_of(0, 1, 0, &[b"\x03vorbis\0\0\0\0\0\0\0\0\x01", setup]),
        page_of(0, 2, 1_000, &[&[0; 50], &[0; 50], &[0; 50]]),
    ]
    .concat()
}

#[test]
fn vorbis_that_asks_for_gigabytes_is_refused() {
    let bomb = vorbis_with(&crate::vorbis::tests::with_books(64, 131_072));
    assert!(bomb.len() < 4_000);
    assert_eq!(duration_ms(&bomb), Err(AudioError::Empty));
    let result = crate::decode(&bomb, crate::Kind::Ogg, 10);
    assert!(matches!(
        result,
        Err(AudioError::Empty | AudioError::Unreadable)
    ));
    // The same stream with small tables is measured.
    let small = vorbis_with(&crate::vorbis::tests::with_books(2, 256));
    assert!(duration_ms(&small).unwrap() > 0);
}

#[test]
fn false_pages_end_the_walk_before_they_become_dear() {
    let mut bytes = pages(OPUS).concat();
    let whole = bytes.len();
    let found = pages(&bytes).len();
    // Each false page claims to be 32 kB long.
    bytes.extend(b"OggS\0\xFF\xFF".repeat(100_000));
    let mut walk = page::Pages::new(&bytes);
    assert_eq!(walk.by_ref().count(), found);
    let tried = (walk.at() - whole) / 7;
    assert!(tried * 31_000 < bytes.len() * 6 + 2_000_000, "{tried}");
    assert_eq!(duration_ms(&bytes), Ok(2_000));
    // A few false pages do not affect what follows.
    let few = [&b"OggS\0\xFF\xFF".repeat(10)[..], OPUS, &vec![0; 70_000]].concat();
    assert_eq!(duration_ms(&few), Ok(2_000));
}

#[test]
fn streams_that_are_not_measured_are_not_decoded() {
    let short: Vec<u8> = pages(OPUS).into_iter().take(3).flatten().collect();
    let spent = |count: usize| {
        let mut take = |_: u32, _: &[i16]| Ok(());
        let mut output = Output::new(7_200, &mut take);
        let before = output.work();
        decode(&short.repeat(count), &mut output).unwrap();
        before - output.work()
    };
    assert_eq!(spent(MAX_STREAMS), spent(MAX_STREAMS + 200));
    assert!(spent(MAX_STREAMS - 1) < spent(MAX_STREAMS));
}
