//! Cases about the results.

use crate::conformance_stt::bench::{Bench, is_program};
use crate::lacks::{Lack, listener_lacks};
use crate::stt_cloud::speech;
use gatehouse_voice::{ProviderId, SttId, TranscribeRequest};
use serde_json::{Value, json};

/// Returns the vendor's response with a plain text.
fn sent(id: SttId, text: &str) -> Value {
    match id {
        SttId::Deepgram => json!({"metadata": {"duration": 1.5}, "results": {"channels": [
            {"alternatives": [{"transcript": text, "confidence": 0.0, "words": []}]}]}}),
        SttId::Google if text.is_empty() => json!({"totalBilledTime": "0s", "requestId": "7"}),
        SttId::Google => json!({"results": [{"alternatives": [{"transcript": text}]}]}),
        SttId::WhisperCli if text.is_empty() => {
            json!({"result": {"language": "en"}, "transcription": []})
        }
        SttId::WhisperCli => json!({"result": {"language": "en"}, "transcription": [
            {"offsets": {"from": 0, "to": 1500}, "text": text}]}),
        SttId::SherpaOnnx => json!({"lang": "", "text": text, "timestamps": [], "tokens": []}),
        _ => json!({"text": text}),
    }
}

async fn of(id: SttId, text: &str) -> gatehouse_voice::Transcript {
    let bench = Bench::with(id, |settings| {
        if id == SttId::Voxtral {
            settings.model = Some("another".to_owned());
        }
    })
    .await;
    bench.answer_with(sent(id, text));
    bench.heard(speech()).await
}

pub async fn the_text_is_without_space_around_it(id: SttId) {
    assert_eq!(of(id, " \n Hello there. \t").await.text, "Hello there.");
}

pub async fn letters_of_all_alphabets_come_back(id: SttId) {
    let text = "Grüße, \"Ωmega\" \\ </p> 世界 مرحبا 👩‍🚀 e\u{301}";
    assert_eq!(of(id, text).await.text, text);
}

pub async fn a_long_text_comes_back_whole(id: SttId) {
    let text = vec!["lorem"; 200_000].join(" ");
    assert_eq!(of(id, &text).await.text, text);
}

pub async fn silence_is_an_empty_text(id: SttId) {
    let heard = of(id, "").await;
    assert_eq!((heard.text.as_str(), heard.confidence), ("", None));
    assert!(heard.words.is_empty() && heard.segments.is_empty());
}

pub async fn words_have_times_in_order(id: SttId) {
    let heard = Bench::with_times(id).await.heard(speech()).await;
    let words: Vec<String> = heard
        .words
        .iter()
        .map(|word| word.word.to_lowercase())
        .collect();
    assert_eq!(words.join(" ").trim_end_matches('.'), "hello real world");
    let times: Vec<f64> = heard
        .words
        .iter()
        .flat_map(|word| [word.start, word.end])
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!((times[0], times[5]), (0.0, 1.4));
}

pub async fn segments_have_times_in_order(id: SttId) {
    let heard = Bench::new(id).await.heard(speech()).await;
    let texts: Vec<&str> = heard
        .segments
        .iter()
        .map(|sent| sent.text.as_str())
        .collect();
    assert_eq!(texts.join(" "), heard.text);
    let times: Vec<f64> = heard
        .segments
        .iter()
        .flat_map(|sent| [sent.start, sent.end])
        .collect();
    assert!(times.is_sorted() && times[0] >= 0.0, "{times:?}");
    assert!((1.3..=1.5).contains(times.last().unwrap()), "{times:?}");
}

pub async fn the_confidence_is_reported(id: SttId) {
    let heard = Bench::new(id).await.heard(speech()).await;
    let confidence = heard.confidence.unwrap();
    assert!((0.7..1.0).contains(&confidence), "{confidence}");
}

pub async fn a_detected_language_is_reported(id: SttId) {
    assert_eq!(Bench::new(id).await.heard(speech()).await.language, "en");
}

pub async fn the_provider_is_reported(id: SttId) {
    let request = TranscribeRequest {
        provider: Some(id.about().alias.to_owned()),
        ..speech()
    };
    assert_eq!(Bench::new(id).await.heard(request).await.provider, id);
}

/// Checks that the declared gaps are real. The cases above check the rest.
pub async fn what_is_lacking_does_not_come(id: SttId) {
    let bench = Bench::with_times(id).await;
    let request = TranscribeRequest {
        prompt: Some("Gatehouse".to_owned()),
        ..speech()
    };
    let heard = bench.heard(request).await;
    assert_eq!(heard.words.is_empty(), listener_lacks(id, Lack::WordTimes));
    assert_eq!(
        heard.segments.is_empty(),
        listener_lacks(id, Lack::SegmentTimes)
    );
    assert_eq!(
        heard.confidence.is_none(),
        listener_lacks(id, Lack::Confidence)
    );
    let heard = Bench::new(id).await.heard(speech()).await;
    assert_eq!(
        heard.language == "und",
        listener_lacks(id, Lack::HeardLanguage)
    );
    let mut sent = String::from_utf8_lossy(&bench.last_body()).into_owned();
    if is_program(id) {
        sent = format!("{:?}", bench.program().runs());
    } else if id == SttId::Deepgram {
        sent = format!("{:?}", bench.sent("keyterm").await);
    }
    assert_eq!(!sent.contains("Gatehouse"), listener_lacks(id, Lack::Hint));
}
