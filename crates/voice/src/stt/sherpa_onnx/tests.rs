use super::*;
use crate::stt::Word;
use proptest::prelude::*;

/// Output of sherpa-onnx 2.0.
const SAID: &str = r#"/tmp/x/audio.wav
{"lang": "<|en|>", "emotion": "", "event": "", "text": " hello real", "timestamps": [0.10, 0.20, 0.30, 3.00, 3.25], "durations": [], "tokens":["<|en|>", " he", "llo", "▁re", "al"], "ys_log_probs": [], "words": []}
----
num threads: 2
"#;

fn shown(words: &[Word]) -> Vec<(&str, f64, f64)> {
    words
        .iter()
        .map(|word| (word.word.as_str(), word.start, word.end))
        .collect()
}

#[test]
fn the_result_is_found_among_other_lines() {
    let recognized = recognized(SAID.as_bytes(), 3.5).unwrap();
    assert_eq!(recognized.text, "hello real");
    assert_eq!(recognized.language.as_deref(), Some("en"));
    // A word ends before the silence after it and before the end of the audio.
    let words = [("hello", 0.2, 0.8), ("real", 3.0, 3.5)];
    assert_eq!(shown(&recognized.words), words);
}

#[test]
fn durations_and_other_joints_count() {
    let said = br#"{"text":"hello world","timestamps":[0.0,0.5,1.0],"durations":[0.1,0.2,0.3],"tokens":["hel@@","lo","world"]}"#;
    let recognized = recognized(said, 9.0).unwrap();
    let words = [("hello", 0.0, 0.7), ("world", 1.0, 1.3)];
    assert_eq!(shown(&recognized.words), words);
}

#[test]
fn without_times_there_are_no_words() {
    let said = br#"{"lang":"","text":" Hello.","timestamps":[],"tokens":["Hello","."]}"#;
    let recognized = recognized(said, 9.0).unwrap();
    assert_eq!(
        (recognized.text.as_str(), recognized.words),
        ("Hello.", vec![])
    );
}

#[test]
fn silence_is_an_empty_text_and_rubbish_is_none() {
    assert_eq!(recognized(br#"{"text":""}"#, 9.0).unwrap().text, "");
    for rubbish in [
        "",
        "{}",
        "\n\n",
        "{\"text\":1}",
        "Killed",
        "{\"text\":\"a\"",
    ] {
        assert_eq!(recognized(rubbish.as_bytes(), 9.0), None, "{rubbish}");
    }
}

proptest! {
    #[test]
    fn no_output_makes_it_fall_over(at in 0..SAID.len(), byte: u8, cut in 0..SAID.len()) {
        let mut said = SAID.as_bytes().to_vec();
        said[at] = byte;
        said.truncate(cut);
        let _ = recognized(&said, 9.0);
    }

    #[test]
    fn any_text_and_tokens_are_taken(text: String, tokens: Vec<String>, times: Vec<f64>) {
        let said = serde_json::json!({"text": text, "tokens": tokens, "timestamps": times});
        let recognized = recognized(said.to_string().as_bytes(), 9.0);
        prop_assert_eq!(recognized.unwrap().text, text.trim());
    }
}
