//! The description of a program: the list of its voices, and the check of the settings.

use super::{Bench, failed};
use crate::harness::problem;
use crate::vendor::wyoming::{Behavior, MODEL, OTHER_VOICE, SPEAKER, VOICE, event, info};
use gatehouse_voice::{OfferedVoice, SttId, TtsId, VoiceError};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn each_voice_and_speaker_that_is_listed_can_be_named() {
    let bench = Bench::new().await;
    let listed = bench.voices().await.unwrap();
    bench.assert_no_complaints();
    let voice = |id: &str, name: &str| OfferedVoice {
        id: id.to_owned(),
        name: name.to_owned(),
    };
    let of_speaker = format!("{OTHER_VOICE}#{SPEAKER}");
    let expected = [
        voice(VOICE, &format!("The {VOICE}")),
        voice(OTHER_VOICE, &format!("The {OTHER_VOICE}")),
        voice(
            &format!("{OTHER_VOICE}#1724"),
            &format!("The {OTHER_VOICE}, 1724"),
        ),
        voice(&of_speaker, &format!("The {OTHER_VOICE}, {SPEAKER}")),
    ];
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_list_as_long_as_pipers_is_read() {
    let bench = Bench::new().await;
    let mut many = info();
    let one = many["tts"][0]["voices"][1].clone();
    let voices = (0..2_000).map(|index| {
        let mut voice = one.clone();
        voice["name"] = json!(format!("voice-{index}"));
        voice
    });
    many["tts"][0]["voices"] = voices.collect();
    assert!(many.to_string().len() > 256 << 10);
    bench.program.set_info(many);
    assert_eq!(bench.voices().await.unwrap().len(), 6_000);
}

#[tokio::test]
async fn a_check_says_what_the_program_has() {
    let mut bench = Bench::new().await;
    let speaks = "piper 2.5.2 with the voices en_US-lessac-medium, de_DE-mls-medium (de_DE, en_US)";
    let listens = "faster-whisper 2.5.2 with the model base-int8 (de, en)";
    let voice = bench.voice().await;
    assert_eq!(voice.check(TtsId::Coqui).await.unwrap().unwrap(), speaks);
    assert_eq!(voice.check(SttId::Voxtral).await.unwrap().unwrap(), listens);
    bench.tts().model = Some(format!("{OTHER_VOICE}#{SPEAKER}"));
    bench.stt().model = Some(MODEL.to_owned());
    bench.stt().language = Some("de-AT".to_owned());
    let voice = bench.voice().await;
    assert!(voice.check(TtsId::Coqui).await.is_ok());
    assert!(voice.check(SttId::Voxtral).await.is_ok());
    bench.assert_no_complaints();
    // The other servers of these providers are not called.
    bench.tts().base_url = Some("http://127.0.0.1:9".parse().unwrap());
    assert!(
        bench
            .voice()
            .await
            .check(TtsId::Coqui)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_check_finds_what_the_settings_name_and_the_program_lacks() {
    let mut bench = Bench::new().await;
    bench.tts().model = Some("nobody".to_owned());
    bench.stt().language = Some("fr".to_owned());
    let voice = bench.voice().await;
    let shown = |error: VoiceError| {
        let problem = problem(error);
        assert_eq!(problem.code.name(), "NOT_CONFIGURED");
        problem.message
    };
    assert_eq!(
        shown(voice.check(TtsId::Coqui).await.unwrap_err()),
        "`voice.tts.tts_local_2.model` is not a voice of the program, which has en_US-lessac-medium, \
         de_DE-mls-medium."
    );
    assert_eq!(
        shown(voice.check(SttId::Voxtral).await.unwrap_err()),
        "`voice.stt.stt_local_1.language` is not a language of the model, which has en, de."
    );
    bench.stt().model = Some("large".to_owned());
    let voice = bench.voice().await;
    assert_eq!(
        shown(voice.check(SttId::Voxtral).await.unwrap_err()),
        "`voice.stt.stt_local_1.model` is not a model of the program, which has base-int8."
    );
}

#[tokio::test]
async fn a_check_finds_that_there_is_no_such_program() {
    let mut bench = Bench::new().await;
    bench.program.set_info(json!({ "wake": [] }));
    let voice = bench.voice().await;
    let spoken = failed(voice.check(TtsId::Coqui).await.unwrap_err());
    assert_eq!(spoken, "tts_local_2 is a program that does not speak.");
    let heard = failed(voice.check(SttId::Voxtral).await.unwrap_err());
    assert_eq!(heard, "stt_local_1 is a program that does not transcribe.");
    assert!(bench.voices().await.unwrap().is_empty());
    let wrong = event("info", &json!({ "tts": "none" }), b"");
    bench.program.set_behavior(Behavior::Raw(wrong));
    let wrong = failed(voice.check(TtsId::Coqui).await.unwrap_err());
    assert_eq!(wrong, "tts_local_2 returned an invalid response.");
    bench.settings.timeouts.answer = Duration::from_millis(300);
    bench.program.set_behavior(Behavior::Chatty);
    let late = problem(bench.voices().await.unwrap_err());
    assert_eq!(late.code.name(), "TIMEOUT");
    bench.tts().base_url = Some("tcp://127.0.0.1:9".parse().unwrap());
    let gone = bench.voice().await.check(TtsId::Coqui).await;
    assert_eq!(
        failed(gone.unwrap_err()),
        "tts_local_2 could not be reached."
    );
}
