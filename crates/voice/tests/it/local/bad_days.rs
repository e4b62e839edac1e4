//! Tests with programs that are missing, fail, hang or are abandoned.

use super::{ProgramDir, assert_gone, assert_removed, silence};
use crate::harness::{Harness, problem};
use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_voice::{SpeechRequest, SttId, TranscribeRequest, TtsId, VoiceSettings};
use std::time::Duration;

async fn speak(settings: VoiceSettings) -> Problem {
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    problem(
        voice
            .convert(SpeechRequest::new("hello"))
            .await
            .unwrap_err(),
    )
}

async fn listen(settings: VoiceSettings) -> Problem {
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let request = TranscribeRequest::new(silence().into());
    problem(voice.transcribe(request).await.unwrap_err())
}

fn assert_not_configured(problem: &Problem, what: &str) {
    assert_eq!(problem.code, ErrorCode::NotConfigured, "{problem:?}");
    assert_eq!(problem.details["what"], what, "{problem:?}");
    assert!(!problem.message.contains("/tmp"), "{problem:?}");
}

#[tokio::test]
async fn what_piper_lacks_is_named() {
    let place = ProgramDir::new();
    let good = place.piper("exit 0");
    let with = |change: &dyn Fn(&mut gatehouse_voice::ProviderSettings)| {
        let mut settings = good.clone();
        settings.tts.provider = Some(TtsId::Piper);
        change(settings.tts.providers.get_mut(&TtsId::Piper).unwrap());
        settings
    };
    let of = |key: &str| format!("voice.tts.tts_local_1.{key}");
    let no_model = with(&|piper| piper.model_path = None);
    assert_not_configured(&speak(no_model).await, &of("model_path"));
    let lost = with(&|piper| piper.model_path = Some(place.path("none.onnx")));
    assert_not_configured(&speak(lost).await, &of("model_path"));
    let program = with(&|piper| piper.binary_path = Some(place.path("none")));
    assert_not_configured(&speak(program).await, &of("binary_path"));
    let plain = with(&|piper| piper.binary_path = Some(place.path("voice.onnx")));
    assert_not_configured(&speak(plain).await, &of("binary_path"));
    let mut nowhere = with(&|piper| piper.binary_path = None);
    nowhere.child_variables = vec![("PATH".to_owned(), place.path("").into())];
    assert_not_configured(&speak(nowhere).await, &of("binary_path"));
    for description in [
        "",
        "[]",
        "{\"audio\":{}}",
        "{\"audio\":{\"sample_rate\":0}}",
    ] {
        let config = place.file("bad.json", description.as_bytes());
        let bad = with(&|piper| piper.config_path = Some(config.clone()));
        assert_not_configured(&speak(bad).await, &of("config_path"));
    }
}

#[tokio::test]
async fn what_listeners_lack_is_named() {
    let place = ProgramDir::new();
    for (id, key, model) in [
        (SttId::WhisperCli, "model_path", "none.bin"),
        (SttId::SherpaOnnx, "model_dir", "none"),
    ] {
        let good = place.listener(id, "exit 0");
        let of = |key: &str| format!("voice.stt.{id}.{key}");
        let with = |change: &dyn Fn(&mut gatehouse_voice::ProviderSettings)| {
            let mut settings = good.clone();
            settings.stt.provider = Some(id);
            change(settings.stt.providers.get_mut(&id).unwrap());
            settings
        };
        let none = with(&|listener| listener.model_path = None);
        assert_not_configured(&listen(none).await, &of(key));
        let lost = with(&|listener| listener.model_path = Some(place.path(model)));
        assert_not_configured(&listen(lost).await, &of(key));
        let program = with(&|listener| listener.binary_path = Some(place.path("none")));
        assert_not_configured(&listen(program).await, &of("binary_path"));
    }
}

#[tokio::test]
async fn a_program_that_fails_is_a_failure_without_its_words() {
    let place = ProgramDir::new();
    let flood = "head -c 20000000 /dev/zero >&2; ";
    for (script, reason) in [
        ("echo a secret >&2; exit 7", "exited with an error"),
        ("echo secret; kill -SEGV $$", "exited with an error"),
        ("exit 0", "returned no "),
    ] {
        let script = format!("{flood}{script}");
        let mut all = vec![speak(place.piper(&script)).await];
        for id in [SttId::WhisperCli, SttId::SherpaOnnx] {
            all.push(listen(place.listener(id, &script)).await);
        }
        for problem in all {
            assert_eq!(problem.code, ErrorCode::ProviderFailed, "{problem:?}");
            assert!(problem.message.contains(reason), "{problem:?}");
            assert!(!problem.message.contains("secret"), "{problem:?}");
        }
    }
}

#[tokio::test]
async fn a_program_that_hangs_is_a_time_out() {
    let place = ProgramDir::new();
    let script = "trap '' TERM HUP INT; echo $$ >\"$place/pid\"; pwd >\"$place/directory\"
        while :; do sleep 1; done";
    let mut settings = place.piper(script);
    settings.timeouts.program = Duration::from_millis(400);
    assert_eq!(speak(settings).await.code, ErrorCode::Timeout);
    assert_gone(place.pid().await).await;
    let mut settings = place.listener(SttId::WhisperCli, script);
    settings.timeouts.program = Duration::from_millis(400);
    assert_eq!(listen(settings).await.code, ErrorCode::Timeout);
    assert_gone(place.pid().await).await;
    assert_removed(place.read("directory").unwrap().trim_end()).await;
}

#[tokio::test]
async fn who_leaves_takes_the_program_along() {
    let place = ProgramDir::new();
    let script = "echo $$ >\"$place/pid\"; pwd >\"$place/directory\"; head -c 64000 /dev/zero; exec sleep 1000";
    let harness = Harness::new().await;
    let voice = harness.voice(place.piper(script)).await;
    tokio::select! {
        _ = voice.convert(SpeechRequest::new("hello")) => panic!("it should be speaking"),
        _ = place.pid() => {}
    }
    assert_gone(place.pid().await).await;

    std::fs::remove_file(place.path("pid")).unwrap();
    let mut request = SpeechRequest::new("hello");
    request.format = Some("pcm".to_owned());
    let mut stream = voice.stream(request).await.unwrap();
    assert!(stream.body.next().await.unwrap().is_ok());
    drop(stream);
    assert_gone(place.pid().await).await;

    for id in [SttId::WhisperCli, SttId::SherpaOnnx] {
        std::fs::remove_file(place.path("pid")).unwrap();
        let voice = harness.voice(place.listener(id, script)).await;
        tokio::select! {
            _ = voice.transcribe(TranscribeRequest::new(silence().into())) => panic!("it should be listening"),
            _ = place.pid() => {}
        }
        assert_gone(place.pid().await).await;
        assert_removed(place.read("directory").unwrap().trim_end()).await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_says_so_at_its_end() {
    let place = ProgramDir::new();
    let script = "head -c 64000 /dev/zero; kill -KILL $$";
    let harness = Harness::new().await;
    let voice = harness.voice(place.piper(script)).await;
    let mut request = SpeechRequest::new("hello");
    request.format = Some("pcm".to_owned());
    let mut stream = voice.stream(request).await.unwrap();
    let mut last = None;
    let mut read = 0;
    while let Some(piece) = stream.body.next().await {
        assert!(last.is_none(), "an error is the last");
        match piece {
            Ok(piece) => read += piece.len(),
            Err(error) => last = Some(problem(error)),
        }
    }
    assert!(read > 0);
    assert_eq!(last.unwrap().code, ErrorCode::ProviderFailed);
    let after = stream.body.next().now_or_never();
    assert!(matches!(after, None | Some(None)));
}

#[tokio::test]
async fn the_largest_audio_goes_through() {
    let place = ProgramDir::new();
    let script = "stat -c %s \"$4\" >\"$place/size\"; echo '{\"transcription\":[]}' >\"$9.json\"";
    let harness = Harness::new().await;
    let voice = harness
        .voice(place.listener(SttId::WhisperCli, script))
        .await;
    // 25 MiB at 24 kHz. The program gets two thirds of the samples.
    let samples = vec![0_i16; (25 << 19) - 22];
    let audio = Bytes::from(super::wav(24_000, 1, &samples));
    assert_eq!(audio.len(), 25 << 20);
    let heard = voice
        .transcribe(TranscribeRequest::new(audio))
        .await
        .unwrap();
    assert_eq!(heard.text, "");
    let size: usize = place.read("size").unwrap().trim_end().parse().unwrap();
    assert!(size.abs_diff((25 << 20) * 2 / 3) < 10_000, "{size}");
    // Audio at a low rate grows during resampling. This is 20 minutes at 8 kHz.
    let audio = Bytes::from(super::wav(8000, 1, &vec![0; 8000 * 60 * 20]));
    assert!(
        voice
            .transcribe(TranscribeRequest::new(audio))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn without_ffmpeg_there_is_no_aac_and_it_is_said() {
    let place = ProgramDir::new();
    let mut settings = place.piper("head -c 64000 /dev/zero");
    std::os::unix::fs::symlink("/usr/bin/head", place.path("head")).unwrap();
    settings.child_variables = vec![("PATH".to_owned(), place.path("").into())];
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let mut request = SpeechRequest::new("hello");
    request.format = Some("aac".to_owned());
    let refused = problem(voice.convert(request.clone()).await.unwrap_err());
    assert_not_configured(&refused, "ffmpeg");
    assert!(refused.message.contains("ffmpeg"), "{refused:?}");
    request.format = Some("wav".to_owned());
    assert!(voice.convert(request).await.is_ok());
}

#[tokio::test]
async fn a_result_that_is_no_file_is_none() {
    let place = ProgramDir::new();
    place.file("other.json", br#"{"transcription":[]}"#);
    for script in [
        "mkfifo \"$9.json\"",
        "mkdir \"$9.json\"",
        "ln -s \"$place/other.json\" \"$9.json\"",
    ] {
        let problem = listen(place.listener(SttId::WhisperCli, script)).await;
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{problem:?}");
        assert!(problem.message.contains("returned no text"), "{problem:?}");
    }
}

#[tokio::test]
async fn who_waits_has_nothing_on_the_disk_and_only_eight_may() {
    let answers = [
        (
            SttId::WhisperCli,
            "echo '{\"transcription\":[]}' >\"$9.json\"",
        ),
        (SttId::SherpaOnnx, "echo '{\"text\":\"\"}'"),
    ];
    for (id, answer) in answers {
        let place = ProgramDir::new();
        let script = format!("while [ ! -e \"$place/go\" ]; do sleep 0.01; done; {answer}");
        let mut settings = place.listener(id, &script);
        settings.local_concurrency = 1;
        let harness = Harness::new().await;
        let voice = harness.voice(settings).await;
        let listen = |_| voice.transcribe(TranscribeRequest::new(silence().into()));
        let mut all: FuturesUnordered<_> = (0..10).map(listen).collect();
        // One call runs, eight wait, and one is rejected immediately.
        let refused = problem(all.next().await.unwrap().unwrap_err());
        assert_eq!(refused.code, ErrorCode::RateLimited, "{refused:?}");
        assert!(refused.details["retry_after_seconds"].as_u64().unwrap() > 0);
        let work = harness.database.directory().join("voice-work");
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 1);
        place.file("go", b"");
        while let Some(heard) = all.next().await {
            assert_eq!(heard.unwrap().text, "");
        }
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn what_a_killed_server_left_is_removed_at_the_start() {
    let place = ProgramDir::new();
    let harness = Harness::new().await;
    let left = harness.database.directory().join("voice-work/.tmpleft");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::File::create(left.join("audio.wav")).unwrap();
    let _voice = harness
        .voice(place.listener(SttId::WhisperCli, "exit 0"))
        .await;
    assert!(!left.exists());
}

#[tokio::test]
async fn a_test_names_the_program_that_is_missing() {
    let place = ProgramDir::new();
    let mut settings = place.piper("exit 0");
    let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
    piper.binary_path = Some(place.path("none"));
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let tested = voice.test_speech(TtsId::Piper, None).await.unwrap();
    assert_eq!((tested.ok, tested.code), (false, Some("NOT_CONFIGURED")));
    let message = tested.message.clone().unwrap();
    let setting = "voice.tts.tts_local_1.binary_path";
    assert!(message.contains(setting), "{message}");
    let all = voice.tts_providers(false).await;
    let piper = all.into_iter().find(|one| one.id == "tts_local_1");
    assert_eq!(piper.unwrap().last_use, Some(tested));
}
