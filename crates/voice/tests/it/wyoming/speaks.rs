//! Speech.

use super::{Bench, failed};
use crate::harness::problem;
use crate::vendor::tone;
use crate::vendor::wyoming::{Behavior, OTHER_VOICE, SPEAKER, VOICE, WORDS, event};
use futures_util::StreamExt;
use gatehouse_audio::{Format, decode};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{Attempt, SpeechRequest, TtsId, VoiceError};
use serde_json::json;
use std::time::Duration;

const TEXT: &str = "The gate is open.";

fn request(format: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some(format.to_owned()),
        ..SpeechRequest::new(TEXT)
    }
}

async fn refusal(bench: &Bench) -> VoiceError {
    let spoken = bench.voice().await.convert(request("wav")).await;
    spoken.unwrap_err()
}

#[tokio::test]
async fn a_program_speaks_in_each_format() {
    for format in ["wav", "pcm", "mp3", "opus", "flac"] {
        let bench = Bench::new().await;
        let spoken = bench.voice().await.convert(request(format)).await.unwrap();
        bench.assert_no_complaints();
        assert_eq!(spoken.provider, TtsId::Coqui);
        assert_eq!(
            bench.program.data_of("synthesize"),
            [json!({ "text": TEXT })]
        );
        let kind = Format::parse(format).unwrap().kind();
        let sound = decode(&spoken.audio, kind, 60).unwrap();
        let expected = tone::duration_ms(TEXT) as u64;
        let lasts = sound.duration_ms();
        assert!(lasts.abs_diff(expected) < 100, "{format}: {lasts} ms");
        if format == "wav" {
            assert_eq!(sound.rate, 22_050);
            assert_eq!(sound.samples, tone::samples(TEXT, 22_050));
        }
    }
}

#[tokio::test]
async fn the_voice_is_that_of_the_request_then_that_of_the_settings() {
    let mut bench = Bench::new().await;
    bench.tts().model = Some(VOICE.to_owned());
    let voice = bench.voice().await;
    let with_speaker = format!("{OTHER_VOICE}#{SPEAKER}");
    for voice_id in [None, Some(OTHER_VOICE), Some(&with_speaker)] {
        let request = SpeechRequest {
            voice: voice_id.map(str::to_owned),
            ..request("wav")
        };
        voice.convert(request).await.unwrap();
    }
    bench.assert_no_complaints();
    let sent = bench.program.data_of("synthesize");
    let voices: Vec<_> = sent.iter().map(|data| data["voice"].clone()).collect();
    let expected = [
        json!({ "name": VOICE }),
        json!({ "name": OTHER_VOICE }),
        json!({ "name": OTHER_VOICE, "speaker": SPEAKER }),
    ];
    assert_eq!(voices, expected);
}

#[tokio::test]
async fn a_long_text_is_several_calls_and_one_audio() {
    let bench = Bench::new().await;
    let request = SpeechRequest {
        text: "One two three. ".repeat(100),
        ..request("wav")
    };
    bench.voice().await.convert(request).await.unwrap();
    bench.assert_no_complaints();
    let texts = bench.program.data_of("synthesize");
    assert_eq!(texts.len(), 2);
    assert_eq!(bench.program.connections().len(), 2);
}

#[tokio::test]
async fn audio_is_passed_on_as_it_arrives() {
    for format in ["pcm", "wav", "mp3"] {
        let bench = Bench::new().await;
        bench.program.hold();
        let voice = bench.voice().await;
        // The program waits after its first audio, and so does not end.
        let mut streamed = voice.stream(request(format)).await.unwrap();
        let first = streamed.body.next().await.unwrap().unwrap();
        assert!(!first.is_empty());
        bench.program.release();
        let mut rest = 0;
        while let Some(piece) = streamed.body.next().await {
            rest += piece.unwrap().len();
        }
        assert!(rest > first.len(), "{format}: {rest}");
        bench.assert_no_complaints();
    }
}

#[tokio::test]
async fn a_caller_who_leaves_closes_the_connection() {
    let bench = Bench::new().await;
    bench.program.hold();
    let streamed = bench.voice().await.stream(request("pcm")).await.unwrap();
    drop(streamed);
    assert!(bench.program.was_left().await);
    // Also while it waits for the first audio.
    let bench = Bench::new().await;
    bench.program.set_behavior(Behavior::Raw(Vec::new()));
    let voice = bench.voice().await;
    tokio::select! {
        _ = voice.convert(request("wav")) => panic!("spoken"),
        () = bench.program.asked(1) => {}
    }
    assert!(bench.program.was_left().await);
}

#[tokio::test]
async fn the_programs_words_reach_the_caller_and_no_log() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    let unknown = SpeechRequest {
        voice: Some("nobody".to_owned()),
        ..request("wav")
    };
    let error = voice.convert(unknown).await.unwrap_err();
    let logged = format!("{error} {error:?}");
    assert!(!logged.contains(WORDS), "{logged}");
    let message = format!("tts_local_2 reported: {WORDS}: nobody (ValueError)");
    assert_eq!(failed(error), message);
    // An error in the audio ends it.
    let late = event("error", &json!({ "text": "out of memory" }), b"");
    bench.program.set_behavior(Behavior::RawInAudio(late));
    let mut streamed = voice.stream(request("pcm")).await.unwrap();
    let mut last = None;
    while let Some(piece) = streamed.body.next().await {
        last = Some(piece);
    }
    let error = last.unwrap().unwrap_err();
    assert_eq!(failed(error), "tts_local_2 reported: out of memory");
}

#[tokio::test]
async fn another_provider_speaks_after_an_error() {
    let mut bench = Bench::new().await;
    bench.tts().model = Some("nobody".to_owned());
    bench.settings.tts.fallback = vec![TtsId::Piper];
    let error = refusal(&bench).await;
    let VoiceError::Attempts { attempts, .. } = &error else {
        panic!("{error:?}")
    };
    let shown: Vec<_> = attempts
        .iter()
        .map(|Attempt { provider, code, .. }| (*provider, *code))
        .collect();
    let expected = [
        ("tts_local_2", Some("PROVIDER_FAILED")),
        ("tts_local_1", Some("NOT_CONFIGURED")),
    ];
    assert_eq!(shown, expected);
    let words = attempts[0].message.clone().unwrap();
    assert!(words.contains(WORDS), "{words}");
}

/// Bytes after which nothing follows, and the reported reason.
#[tokio::test]
async fn what_is_no_audio_of_the_protocol_is_an_error() {
    let format = json!({ "rate": 22_050, "width": 2, "channels": 1 });
    let started = event("audio-start", &format, b"");
    let stopped = event("audio-stop", &json!({}), b"");
    let chunk = |data, payload| event("audio-chunk", data, payload);
    let faster = json!({ "rate": 44_100, "width": 2, "channels": 1 });
    let invalid = "returned an invalid response";
    for (bytes, reason) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), invalid),
        (
            b"{\"type\":\"x\",\"payload_length\":8388609}\n".to_vec(),
            invalid,
        ),
        (
            b"{\"type\":\"x\",\"data_length\":4194305}\n".to_vec(),
            invalid,
        ),
        (vec![b' '; 5 << 20], invalid),
        (chunk(&format, &[0; 4]), invalid),
        ([started.clone(), chunk(&faster, &[0; 4])].concat(), invalid),
        (
            [started.clone(), chunk(&json!({}), &[0; 4])].concat(),
            invalid,
        ),
        ([started.clone(), chunk(&format, &[0; 3])].concat(), invalid),
        (stopped.clone(), "returned no audio"),
        ([started.clone(), stopped].concat(), "returned no audio"),
        (
            event("audio-start", &json!({}), b""),
            "returned audio in an unsupported format",
        ),
    ] {
        let bench = Bench::new().await;
        bench.program.set_behavior(Behavior::Raw(bytes));
        let message = failed(refusal(&bench).await);
        assert_eq!(message, format!("tts_local_2 {reason}."));
    }
    for behavior in [Behavior::Leave, Behavior::LeaveInAudio] {
        let bench = Bench::new().await;
        bench.program.set_behavior(behavior);
        let message = failed(refusal(&bench).await);
        assert_eq!(message, "tts_local_2 closed the connection early.");
    }
}

#[tokio::test]
async fn mono_and_stereo_of_16_bits_at_usual_rates_are_understood() {
    for ((rate, width, channels), fits) in [
        ((8_000, 2, 1), true),
        ((48_000, 2, 2), true),
        ((7_999, 2, 1), false),
        ((48_001, 2, 1), false),
        ((16_000, 4, 1), false),
        ((16_000, 2, 3), false),
    ] {
        let bench = Bench::new().await;
        bench
            .program
            .set_behavior(Behavior::Format(rate, width, channels));
        let spoken = bench.voice().await.convert(request("wav")).await;
        if fits {
            let audio = spoken.unwrap().audio;
            let sound = decode(&audio, Format::Wav.kind(), 60).unwrap();
            assert_eq!(sound.rate, rate);
            assert_eq!(sound.samples, tone::samples(TEXT, rate));
        } else {
            let reason = "returned audio in an unsupported format.";
            let message = failed(spoken.unwrap_err());
            assert_eq!(message, format!("tts_local_2 {reason}"));
        }
    }
}

#[tokio::test]
async fn no_program_speaks_forever() {
    let mut bench = Bench::new().await;
    let short = Duration::from_millis(300);
    for (behavior, change) in [
        (Behavior::Raw(Vec::new()), "answer"),
        (Behavior::RawInAudio(Vec::new()), "idle"),
        (Behavior::Chatty, "program"),
        (Behavior::RawInAudio(Vec::new()), "program"),
    ] {
        let before = bench.settings.timeouts;
        match change {
            "answer" => bench.settings.timeouts.answer = short,
            "idle" => bench.settings.timeouts.idle = short,
            _ => bench.settings.timeouts.program = short,
        }
        bench.program.set_behavior(behavior);
        let problem = problem(refusal(&bench).await);
        assert_eq!(problem.code, ErrorCode::Timeout, "{change}");
        bench.settings.timeouts = before;
    }
    bench.program.set_behavior(Behavior::Endless);
    let message = failed(refusal(&bench).await);
    assert_eq!(
        message,
        "tts_local_2 returned a response that is too large."
    );
}

#[tokio::test]
async fn an_unreachable_or_forbidden_program_is_reported() {
    for (url, reason) in [
        ("tcp://127.0.0.1:9", "could not be reached"),
        (
            "tcp://169.254.169.254:80",
            "has an address that is not allowed",
        ),
        (
            "tcp://[fd00:ec2::254]:80",
            "has an address that is not allowed",
        ),
        ("tcp://127.0.0.1", "has an invalid URL"),
    ] {
        let mut bench = Bench::new().await;
        bench.tts().base_url = Some(url.parse().unwrap());
        let message = failed(refusal(&bench).await);
        assert_eq!(message, format!("tts_local_2 {reason}."), "{url}");
    }
}
