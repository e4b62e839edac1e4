//! Tests of the parent module.

use super::*;

const SOURCE: &[u8] = b"/CIDInit /ProcSet findresource begin % comment <00>\n\
    1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
    2 beginbfchar <0003> <0020> <0004><00660069> endbfchar\n\
    3 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0061> <D83DDE00>]\n\
    <00100000> <FFFFFFFF> <0000> endbfrange";

fn text(map: &UnicodeMap, code: &[u8]) -> String {
    let mut out = String::new();
    map.write(code, &mut out);
    out
}

#[test]
fn codes_are_mapped_one_by_one_and_in_ranges() {
    let map = UnicodeMap::parse(SOURCE);
    for (code, expected) in [
        ([0, 3], " "),
        ([0, 4], "fi"),
        ([0, 0x10], "A"),
        ([0, 0x12], "C"),
        ([0, 0x13], "\u{fffd}"),
        ([0, 0x20], "a"),
        ([0, 0x21], "😀"),
        ([0, 0x22], "\u{fffd}"),
    ] {
        assert_eq!(text(&map, &code), expected, "{code:?}");
    }
    assert_eq!(map.code_length(&[0, 3, 0]), Some(2));
    assert_eq!(map.code_length(&[0]), None);
}

#[test]
fn nothing_that_is_no_map_is_a_problem() {
    for source in [
        b"beginbfchar <".as_slice(),
        b"beginbfchar <00",
        b"beginbfrange <00> <01> [",
        b"beginbfrange <00> <01> [ <61> 1 ]",
        b"begincodespacerange <> <> <00> <0000>",
        b"<<>>[<",
        b"% no end",
        &[0xff; 100],
    ] {
        let map = UnicodeMap::parse(source);
        assert_eq!(text(&map, &[0]).chars().count(), 1);
    }
}
