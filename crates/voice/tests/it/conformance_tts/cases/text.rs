//! Cases about the spoken text.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::vendor::tone;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::SpeechRequest;

pub async fn what_is_written_is_what_is_said(bench: Bench) {
    let (_, sent) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert_eq!(sent.text, TEXT);
}

pub async fn letters_of_all_alphabets_arrive(bench: Bench) {
    let text = "Grüße aus Köln, 你好, Привет, مرحبا, 👋🏽!";
    let (_, sent) = bench.heard(SpeechRequest::new(text)).await;
    for word in ["Grüße", "Köln", "你好", "Привет", "مرحبا"] {
        assert!(sent.text.contains(word), "{}", sent.text);
    }
}

pub async fn marks_of_json_and_urls_arrive(bench: Bench) {
    let text = r#"She said "no" & left: 100% + 1 = all; why? \o/ {x}"#;
    let (_, sent) = bench.heard(SpeechRequest::new(text)).await;
    assert!(
        sent.text.contains(r#""no" & left: 100% + 1 = all; why?"#),
        "{}",
        sent.text
    );
}

pub async fn markdown_is_not_said(bench: Bench) {
    let (_, sent) = bench
        .heard(SpeechRequest::new("# Title\n\nThis is **bold**."))
        .await;
    assert!(sent.text.contains("Title") && sent.text.contains("This is bold."));
    assert!(!sent.text.contains(['#', '*']), "{}", sent.text);
}

pub async fn an_empty_text_is_refused(bench: Bench) {
    for text in ["", " \n\t "] {
        let problem = bench.problem_of(bench.say(SpeechRequest::new(text)).await.unwrap_err());
        assert_eq!(problem.code, ErrorCode::InvalidParams);
        assert_eq!(problem.details["field"], "text");
    }
    assert!(bench.is_untouched());
}

pub async fn the_longest_text_is_taken(mut bench: Bench) {
    bench.settings.speaking.max_text_length = TEXT.chars().count();
    bench.heard(SpeechRequest::new(TEXT)).await;
}

pub async fn one_character_more_is_refused(mut bench: Bench) {
    bench.settings.speaking.max_text_length = TEXT.chars().count() - 1;
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "text");
    assert!(bench.is_untouched());
}

/// Sentences with exactly this many characters.
fn long(characters: usize) -> String {
    let sentences = "All is well here. ".repeat(characters / 18 + 1);
    let mut text = sentences[..characters - 3].trim_end().to_owned();
    while text.len() < characters - 1 {
        text.push('o');
    }
    text.push('.');
    text
}

fn wav(text: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some("wav".to_owned()),
        ..SpeechRequest::new(text)
    }
}

pub async fn a_text_at_the_providers_limit_is_one_request(bench: Bench) {
    let text = long(bench.facts().most);
    let (_, sent) = bench.heard(wav(&text)).await;
    assert_eq!(sent.text, text);
}

pub async fn a_longer_one_is_two_and_sounds_as_one(bench: Bench) {
    let text = long(bench.facts().most + 1);
    let result = bench.say(wav(&text)).await;
    assert_eq!(bench.complaints(), Vec::<String>::new());
    let converted = result.unwrap();
    let sent = bench.all_sent();
    assert_eq!(sent.len(), 2);
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let all: String = sent.iter().map(|sent| letters(&sent.text)).collect();
    assert_eq!(all, letters(&text));
    assert!(
        sent.iter().all(|sent| sent.text.trim_end().ends_with('.')),
        "split within a sentence"
    );
    let expected: usize = sent.iter().map(|sent| tone::duration_ms(&sent.text)).sum();
    let measured = usize::try_from(converted.duration_ms).unwrap();
    assert!(
        measured.abs_diff(expected) <= 50,
        "{measured} ms instead of {expected}"
    );
}
