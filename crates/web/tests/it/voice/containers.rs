//! Providers that ignore the format that they are asked for.

use super::{SILENCE, blamed, with_vendor};
use gatehouse_audio::{Format, sniff};
use gatehouse_testkit::Options;
use serde_json::json;

#[tokio::test]
async fn audio_in_another_container_becomes_the_format_that_was_asked_for() {
    let (_server, owner, _) = with_vendor(Options::default()).await;
    for format in ["mp3", "opus", "ogg", "wav", "flac", "pcm"] {
        let params = json!({ "text": "as-wav", "format": format });
        let made = owner.rpc("tts.convert", params).await.unwrap();
        assert_eq!(made.get("warning"), None, "{format}");
        assert_eq!(made["format"], format);
        let duration = made["durationMs"].as_u64().unwrap();
        assert!((90..200).contains(&duration), "{format}: {duration} ms");
        let audio = made["audio"].as_str().unwrap().as_bytes();
        let audio = data_encoding::BASE64.decode(audio).unwrap();
        let expected = Format::parse(format).unwrap().kind();
        if format == "pcm" {
            assert_eq!(audio, SILENCE);
        } else {
            assert_eq!(sniff(&audio), Some(expected), "{format}");
        }
        for (path, body) in [
            // Other texts, because the first is cached.
            (
                "/api/tts/stream",
                json!({ "text": "as-wav 1", "format": format }),
            ),
            (
                "/v1/audio/speech",
                json!({ "input": "as-wav 2", "model": "tts-1", "voice": "alloy", "response_format": format }),
            ),
        ] {
            if format == "ogg" && path.starts_with("/v1") {
                continue;
            }
            let request = owner.request("POST", path).json(&body);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}, {format}");
            let audio = response.bytes().await.unwrap();
            if format == "pcm" {
                assert_eq!(audio, SILENCE.as_slice(), "{path}");
            } else {
                assert_eq!(sniff(&audio), Some(expected), "{path}, {format}");
            }
        }
    }
}

#[tokio::test]
async fn audio_in_another_container_that_cannot_be_read_is_not_called_what_was_asked_for() {
    let (_server, owner, _) = with_vendor(Options::default()).await;
    let params = json!({ "text": "as-riff", "format": "mp3" });
    let refused = blamed(&owner, "tts.convert", params).await;
    assert_eq!(refused.0, "PROVIDER_FAILED");
}
