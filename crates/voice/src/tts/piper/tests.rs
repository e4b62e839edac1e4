//! Tests of the parent module.

use super::*;

#[test]
fn a_paragraph_is_a_line() {
    assert_eq!(lines("one\ntwo\r\nthree"), "one two three\n");
    assert_eq!(lines("  one  \n\n \t \n two\u{0}2 "), "one\ntwo 2\n");
    assert_eq!(
        lines("-f /etc/passwd $(reboot) `x` \"'"),
        "-f /etc/passwd $(reboot) `x` \"'\n"
    );
    assert_eq!(lines("\n \n"), "");
    assert_eq!(lines("a\u{2028}b\u{85}c"), "a b c\n");
}

#[test]
fn the_description_lies_beside_the_model() {
    assert_eq!(beside(Path::new("/a/x.onnx")), Path::new("/a/x.onnx.json"));
}
