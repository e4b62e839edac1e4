//! Tests of the parent module.

use super::*;

#[test]
fn a_sentence_is_a_line() {
    let lines = sentences("Well, hello. How are you? ...\nThe end\n");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(lines, ["Well, hello.\n", "How are you? ...\n", "The end\n"]);
    assert!(sentences("").is_empty());
    assert_eq!(sentences("***\n").len(), 1);
}

#[test]
fn both_programs_name_the_file() {
    let place = Path::new("/a b/.tmp1");
    let file = Some(PathBuf::from("/a b/.tmp1/12.wav"));
    assert_eq!(named(b"/a b/.tmp1/12.wav\n", place), file);
    assert_eq!(
        named(b"INFO:__main__:Wrote /a b/.tmp1/12.wav\r\n", place),
        file
    );
    for other in [
        "/etc/12.wav\n",
        "/a b/.tmp1/x/12.wav",
        "[info] Output directory: /a b/.tmp1\n",
        "\u{0}",
    ] {
        assert_eq!(named(other.as_bytes(), place), None, "{other}");
    }
}

#[test]
fn a_file_is_whole_when_it_is_as_long_as_it_says() {
    let wav = b"RIFF\x06\0\0\0WAVEfm";
    assert!(is_whole(wav));
    assert!(!is_whole(&wav[..13]) && !is_whole(b"RIFF") && !is_whole(b""));
}
