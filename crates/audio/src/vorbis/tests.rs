//! Tests with the headers of real files and with oversized tables.

use super::*;

/// Writes integers of a given number of bits, as [`Bits`] reads them.
#[derive(Default)]
struct Writer(Vec<bool>);

impl Writer {
    fn put(&mut self, value: u32, count: u32) {
        self.0
            .extend((0..count).map(|bit| value.checked_shr(bit).unwrap_or(0) & 1 == 1));
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter()
                .zip(0..)
                .fold(0, |byte, (bit, place)| byte | u8::from(*bit) << place)
        };
        self.0.chunks(8).map(byte).collect()
    }
}

/// Returns the first header: mono, 44,100 Hz, blocks of 256 and 2,048.
pub(crate) fn identification() -> Vec<u8> {
    let mut head = b"\x01vorbis\0\0\0\0\x01".to_vec();
    head.extend(44_100_u32.to_le_bytes());
    head.extend([0; 12]);
    head.extend([0xB8, 1]);
    head
}

/// Returns a third header with `books` codebooks of `entries` entries and vectors of 32 dimensions. Nothing else in it
/// is expensive.
pub(crate) fn with_books(books: u32, entries: u32) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(books - 1, 8);
    for _ in 0..books {
        writer.put(0x56_4342, 24);
        writer.put(32, 16);
        writer.put(entries, 24);
        // The flag `ordered`: for each length of a codeword, the number of entries follows. All have the same length.
        writer.put(1, 1);
        writer.put(entries.ilog2() - 1, 5);
        writer.put(entries, ilog(entries));
        writer.put(1, 4);
        writer.put(0, 32);
        writer.put(0, 32);
        writer.put(0, 4);
        writer.put(0, 1);
        // One value: 2 to the power of 32 exceeds the number of entries.
        writer.put(0, 1);
    }
    writer.put(0, 6 + 16);
    // A floor without partitions, a residue of one class without books, a mapping and a mode.
    writer.put(0, 6);
    writer.put(1, 16);
    writer.put(0, 5 + 2 + 4);
    writer.put(0, 6);
    writer.put(0, 16 + 24 + 24);
    writer.put(0, 24 + 6 + 8 + 3 + 1);
    writer.put(0, 6);
    writer.put(0, 16 + 1 + 1 + 2);
    writer.put(0, 24);
    writer.put(0, 6);
    writer.put(0, 1 + 16 + 16 + 8);
    writer.put(1, 1);
    [&b"\x05vorbis"[..], &writer.bytes()].concat()
}

#[test]
fn tables_of_ordinary_size_are_taken_and_bombs_are_not() {
    let small = Setup::read(&identification(), &with_books(2, 256)).unwrap();
    assert!(small.tables() < 1_000_000, "{}", small.tables());
    let each = Setup::read(&identification(), &with_books(1, 16_384)).unwrap();
    let most = u32::try_from(MAX_TABLES / each.tables()).unwrap();
    assert!(most > 10);
    assert!(Setup::read(&identification(), &with_books(most, 16_384)).is_some());
    // Both ways to exceed the limit: many books and large ones.
    let bombs = [
        (most + 1, 16_384),
        (1, 131_072),
        (64, 131_072),
        (256, 65_536),
    ];
    for (books, entries) in bombs {
        let bomb = with_books(books, entries);
        assert!(bomb.len() < 10_000);
        assert!(Setup::read(&identification(), &bomb).is_none());
        assert!(crate::decoder::Decoder::vorbis(&identification(), &bomb).is_err());
    }
}

#[test]
fn what_is_taken_is_taken_by_the_decoder_too() {
    let setup = with_books(2, 256);
    assert!(crate::decoder::Decoder::vorbis(&identification(), &setup).is_ok());
}

#[test]
fn tables_of_real_files_are_far_below_the_limit() {
    for file in [
        &include_bytes!("../../tests/fixtures/mono_44100.ogg")[..],
        &include_bytes!("../../tests/fixtures/stereo_22050.ogg")[..],
    ] {
        let at = |head: &[u8]| file.windows(7).position(|word| word == head).unwrap();
        // The third header spans pages. Remove the page headers inside it.
        let mut setup = file[at(b"\x05vorbis")..].to_vec();
        if let Some(page) = setup.windows(4).position(|word| word == b"OggS") {
            let segments = usize::from(setup[page + 26]);
            setup.drain(page..page + 27 + segments);
        }
        let known = Setup::read(&file[at(b"\x01vorbis")..], &setup).unwrap();
        assert!(known.tables() < MAX_TABLES / 4, "{}", known.tables());
        assert!((1..=2).contains(&known.modes.len()));
        assert!(known.blocks[0] <= known.blocks[1]);
        assert_eq!(known.weight(), 1);
    }
}

#[test]
fn a_header_that_is_cut_off_is_broken() {
    let setup = with_books(2, 256);
    for length in 0..setup.len() {
        assert!(Setup::read(&identification(), &setup[..length]).is_none());
    }
    for length in 0..identification().len() - 1 {
        assert!(Setup::read(&identification()[..length], &setup).is_none());
    }
}

#[test]
fn a_codeword_longer_than_any_is_broken() {
    // 256 entries from length 32 on: the next length would be 33.
    let mut writer = Writer::default();
    writer.put(0, 8);
    writer.put(0x56_4342, 24);
    writer.put(1, 16);
    writer.put(256, 24);
    writer.put(1, 1);
    writer.put(31, 5);
    writer.put(1, 9);
    writer.put(255, 8);
    writer.put(0, 64);
    let setup = [&b"\x05vorbis"[..], &writer.bytes(), &[0; 64]].concat();
    assert!(Setup::read(&identification(), &setup).is_none());
    assert!(crate::decoder::Decoder::vorbis(&identification(), &setup).is_err());
}
