//! Tests for subtitle files, cues of words, and invalid times.

use super::{cues, srt, vtt};
use crate::stt::{Segment, Word};
use proptest::prelude::*;

fn cue(text: &str, start: f64, end: f64) -> Segment {
    Segment {
        text: text.to_owned(),
        start,
        end,
    }
}

fn word(word: &str, start: f64, end: f64) -> Word {
    Word {
        word: word.to_owned(),
        start,
        end,
    }
}

/// Words of half a second each, without pauses.
fn spoken(text: &str) -> Vec<Word> {
    let words = text.split(' ').enumerate();
    let at = |number: usize| f64::from(u32::try_from(number).unwrap()) / 2.0;
    words
        .map(|(n, text)| word(text, at(n), at(n + 1)))
        .collect()
}

fn texts(cues: &[Segment]) -> Vec<&str> {
    cues.iter().map(|cue| cue.text.as_str()).collect()
}

#[test]
fn both_formats_are_written() {
    let all = [
        cue("Hello.", 0.0, 1.5),
        cue("Two\nlines", 61.0404, 3661.0406),
    ];
    assert_eq!(
        srt(&all),
        "1\n00:00:00,000 --> 00:00:01,500\nHello.\n\n2\n00:01:01,040 --> 01:01:01,041\nTwo\nlines\n\n"
    );
    assert_eq!(
        vtt(&all),
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello.\n\n00:01:01.040 --> 01:01:01.041\nTwo\nlines\n\n"
    );
    assert_eq!(
        (srt(&[]), vtt(&[])),
        (String::new(), "WEBVTT\n\n".to_owned())
    );
    assert!(srt(&[cue("x", 360_000.0, 360_001.0)]).contains("100:00:00,000 --> 100:00:01,000"));
}

#[test]
fn texts_cannot_break_a_file() {
    let all = [
        cue("a < b && c > d\n\n\r\n --> e\u{0}f \n", 0.0, 1.0),
        cue(" \n ", 1.0, 2.0),
    ];
    assert_eq!(
        vtt(&all),
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na &lt; b &amp;&amp; c &gt; d\n--&gt; e f\n\n"
    );
    assert_eq!(
        srt(&all),
        "1\n00:00:00,000 --> 00:00:01,000\na < b && c > d\n-> e f\n\n"
    );
}

#[test]
fn times_are_made_sane() {
    for (times, expected) in [
        // The words overlap. The earlier word ends when the later word begins.
        ([(0.0, 3.0), (2.0, 4.0)], [(0, 2000), (2000, 4000)]),
        // The times are reversed.
        ([(3.0, 1.0), (4.0, 5.0)], [(1000, 3000), (4000, 5000)]),
        // Invalid.
        (
            [(f64::NAN, f64::INFINITY), (f64::NAN, 5.0)],
            [(0, 1000), (1000, 5000)],
        ),
        (
            [(-1.0, 2.0), (f64::NEG_INFINITY, 1.0)],
            [(0, 2000), (2000, 3000)],
        ),
        // The words are out of order and simultaneous.
        ([(5.0, 6.0), (1.0, 2.0)], [(5000, 6000), (6000, 7000)]),
        ([(1.0, 2.0), (1.0, 3.0)], [(1000, 2000), (2000, 3000)]),
        ([(1.0, 1.0), (1.2, 9.0)], [(1000, 1200), (1200, 9000)]),
        // The times are beyond the maximum.
        ([(1e300, 2e300), (4.0, 5.0)], [(0, 1000), (4000, 5000)]),
    ] {
        let all = times.map(|(start, end)| cue("x", start, end));
        let lines = expected.map(|(start, end): (u32, u32)| {
            let clock = |millis: u32| format!("00:00:{:02}.{:03}", millis / 1000, millis % 1000);
            format!("{} --> {}\nx\n\n", clock(start), clock(end))
        });
        assert_eq!(
            vtt(&all),
            format!("WEBVTT\n\n{}", lines.concat()),
            "{times:?}"
        );
    }
}

#[test]
fn segments_that_can_be_read_are_the_cues() {
    let short = [cue("Hello, you.", 0.0, 2.0), cue("And you.", 2.0, 9.0)];
    assert_eq!(cues(&spoken("Hello you"), &short, "", 9.0), short);
    let long = [cue("Hello, you.", 0.0, 7.1)];
    assert_eq!(
        texts(&cues(&spoken("Hello you"), &long, "", 9.0)),
        ["Hello you"]
    );
    let wordy = [cue(&"x".repeat(85), 0.0, 2.0)];
    assert_eq!(texts(&cues(&spoken("Hello"), &wordy, "", 9.0)), ["Hello"]);
    let full = [cue(&"x".repeat(84), 0.0, 7.0)];
    assert_eq!(cues(&spoken("Hello"), &full, "", 9.0), full);
    // There is no better division.
    assert_eq!(cues(&[], &long, "", 9.0), long);
}

#[test]
fn without_times_the_text_is_one_cue() {
    assert_eq!(
        cues(&[], &[], " All of it. ", 12.5),
        [cue("All of it.", 0.0, 12.5)]
    );
    assert_eq!(cues(&[], &[], "  ", 12.5), []);
    for unknown in [0.0, f64::NAN, -1.0] {
        assert_eq!(cues(&[], &[], "Hi", unknown), [cue("Hi", 0.0, 1.0)]);
        let long = "x".repeat(150);
        assert_eq!(cues(&[], &[], &long, unknown), [cue(&long, 0.0, 10.0)]);
    }
}

#[test]
fn words_become_cues_at_sentences_and_pauses() {
    assert_eq!(
        texts(&cues(&spoken("Hello there. How are you?"), &[], "", 9.0)),
        ["Hello there.", "How are you?"]
    );
    let paused = [
        word("one", 0.0, 0.5),
        word("two", 1.3, 1.5),
        word("three", 2.299, 2.5),
    ];
    assert_eq!(
        cues(&paused, &[], "", 9.0),
        [cue("one", 0.0, 0.5), cue("two three", 1.3, 2.5)]
    );
    let wide = [
        word("今日", 0.0, 0.5),
        word("は", 0.5, 0.6),
        word("。", 0.6, 0.7),
        word("はい", 0.7, 1.0),
    ];
    assert_eq!(texts(&cues(&wide, &[], "", 9.0)), ["今日は。", "はい"]);
    assert_eq!(
        texts(&cues(&spoken("well , then"), &[], "", 9.0)),
        ["well, then"]
    );
}

#[test]
fn a_cue_has_two_lines_of_42_characters_and_seven_seconds() {
    let quick = |text: &str| -> Vec<Word> {
        let words = text.split(' ');
        words.map(|text| word(text, 0.0, 0.1)).collect()
    };
    let line = format!("{} {}", "a".repeat(20), "b".repeat(21));
    let both = format!("{line} {line}");
    assert_eq!(
        texts(&cues(&quick(&both), &[], "", 1.0)),
        [format!("{line}\n{line}")]
    );
    assert_eq!(
        texts(&cues(&quick(&format!("{both} c")), &[], "", 1.0)),
        [format!("{line}\n{line}"), "c".to_owned()]
    );
    let endless = "x".repeat(100);
    let lines = format!("{}\n{}", "x".repeat(42), "x".repeat(42));
    assert_eq!(
        texts(&cues(&quick(&endless), &[], "", 1.0)),
        [lines, "x".repeat(16)]
    );
    // Fourteen words of half a second, then one more.
    let all = cues(&spoken("a b c d e f g h i j k l m n o"), &[], "", 9.0);
    assert_eq!(
        all,
        [
            cue("a b c d e f g h i j k l m n", 0.0, 7.0),
            cue("o", 7.0, 7.5)
        ]
    );
    assert_eq!(
        cues(&[word("ah", 1.0, 30.0)], &[], "", 30.0),
        [cue("ah", 1.0, 8.0)]
    );
}

fn any_time() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.0..60.0, 1 => any::<f64>()]
}

proptest! {
    #[test]
    fn what_is_written_is_in_order_and_lasts(
        words in proptest::collection::vec(("\\PC{0,12}", any_time(), any_time()), 0..40)
    ) {
        let all: Vec<Word> = words.iter().map(|(text, start, end)| word(text, *start, *end)).collect();
        let file = vtt(&cues(&all, &[], "", 60.0));
        let mut before = String::new();
        for line in file.lines().filter(|line| line.contains("-->")) {
            let (start, end) = line.split_once(" --> ").unwrap();
            // Pads all times to equal length, for any number of hours.
            let padded = |time: &str| format!("{time:0>16}");
            prop_assert!(before <= padded(start) && padded(start) < padded(end), "{}", file);
            before = padded(end);
        }
        for block in file.split("\n\n") {
            prop_assert!(block.lines().count() <= 3);
        }
        let said: String = all.iter().flat_map(|w| w.word.split_whitespace()).collect();
        let said: String = said.chars().filter(|c| !c.is_control()).collect();
        let shown: String = srt(&cues(&all, &[], "", 60.0))
            .split("\n\n")
            .flat_map(|block| block.lines().skip(2))
            .flat_map(str::split_whitespace)
            .collect();
        prop_assert_eq!(shown.replace("-->", "->"), said.replace("-->", "->"));
    }
}
