//! Tests with a Python that runs the library of sherpa-onnx and is kept between requests.

use super::{ProgramDir, assert_gone, silence};
use crate::harness::{Harness, problem};
use bytes::Bytes;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest, Voice, VoiceSettings};
use rustix::process::{Signal, kill_process, test_kill_process};
use std::time::Duration;

/// Imitates `sherpa-onnx-offline`.
const PROGRAM: &str = r#"echo $$ >>"$place/programs"
echo '{"text": " By the program.", "timestamps": [], "tokens": []}'"#;
const BY_PROGRAM: &str = "By the program.";

/// Imitates the worker, whose input is a length (4 bytes) and a recording. The file `behavior` is read after each
/// recording, the file `start` at the start.
const WORKER: &str = r#"echo $$ >>"$place/workers"
case $(cat "$place/start" 2>/dev/null) in
refuse) echo "ModuleNotFoundError: No module named 'sherpa_onnx'" >&2; exit 1 ;;
deaf) exec sleep 1000 ;;
esac
[ "$1" = -c ] || exit 2
shift 2
echo "$*" >>"$place/options"
while :; do
    length=$(head -c 4 | od -An -tu4 | tr -d ' ')
    [ -n "$length" ] || exit 0
    if [ "$length" = 0 ]; then echo 'a message' >&2; echo ready; continue; fi
    head -c "$length" >"$place/recording"
    case $(cat "$place/behavior" 2>/dev/null) in
    die) kill -KILL $$ ;;
    hang) exec sleep 1000 ;;
    other) echo '{"error": "SECRET"}' ;;
    long) printf '{"text": " By the worker.", "tokens": ["%070000d"], "timestamps": []}\n' 0 ;;
    *) echo 'a message'; echo '{"text": " By the worker.", "timestamps": [], "tokens": []}' ;;
    esac
done"#;
const BY_WORKER: &str = "By the worker.";

fn place() -> ProgramDir {
    let place = ProgramDir::new();
    place.program_named("python3", WORKER);
    place
}

fn kept(place: &ProgramDir) -> VoiceSettings {
    VoiceSettings {
        keep_warm: Duration::from_mins(1),
        ..place.listener(SttId::SherpaOnnx, PROGRAM)
    }
}

async fn heard(voice: &Voice) -> String {
    let request = TranscribeRequest::new(silence().into());
    voice.transcribe(request).await.unwrap().text
}

#[tokio::test]
async fn a_second_recording_goes_to_the_same_process() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
    assert_eq!(heard(&voice).await, BY_WORKER);
    let workers = place.pids("workers");
    assert_eq!((workers.len(), place.pids("programs").len()), (1, 0));
    // No recording is on the disk, and after the shutdown the work directory is empty.
    let work = harness.database.directory().join("voice-work");
    let kept = std::fs::read_dir(&work).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
    voice.shutdown().await;
    assert!(test_kill_process(workers[0]).is_err());
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    // The rest is transcribed by a separate process.
    assert_eq!(heard(&voice).await, BY_PROGRAM);
}

#[tokio::test]
async fn each_language_and_translation_has_a_process_with_the_options_of_the_program() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    for (language, translate) in [(None, false), (Some("de-AT"), false), (None, true)] {
        for _ in 0..2 {
            let mut request = TranscribeRequest::new(silence().into());
            request.language = language.map(str::to_owned);
            request.translate = translate;
            let transcript = voice.transcribe(request).await.unwrap();
            assert_eq!(transcript.text, BY_WORKER);
        }
    }
    let model = place.path("tiny");
    let model = model.display();
    let options = format!(
        "--tokens={model}-tokens.txt --whisper-encoder={model}-encoder.onnx --whisper-decoder={model}-decoder.int8.onnx"
    );
    let wanted =
        format!("{options}\n{options} --whisper-language=de\n{options} --whisper-task=translate\n");
    assert_eq!(place.read("options").unwrap(), wanted);
}

#[tokio::test]
async fn a_process_that_dies_between_requests_is_replaced() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
    let worker = place.pids("workers")[0];
    kill_process(worker, Signal::KILL).unwrap();
    assert_gone(worker).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
    assert_eq!(place.pids("workers").len(), 2);
    assert!(place.pids("programs").is_empty());
}

#[tokio::test]
async fn a_recording_whose_answer_is_unusable_goes_to_the_program() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    for (turn, behavior) in ["die", "other"].into_iter().enumerate() {
        place.file("behavior", b"fine");
        assert_eq!(heard(&voice).await, BY_WORKER, "{behavior}");
        place.file("behavior", behavior.as_bytes());
        assert_eq!(heard(&voice).await, BY_PROGRAM, "{behavior}");
        let workers = place.pids("workers");
        assert_eq!(workers.len(), turn + 1, "{behavior}");
        assert_gone(workers[turn]).await;
    }
}

#[tokio::test]
async fn a_long_answer_is_read_whole() {
    let place = place();
    place.file("behavior", b"long");
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
    assert!(place.pids("programs").is_empty());
}

#[tokio::test]
async fn a_slow_process_is_a_time_out_and_is_replaced() {
    let place = place();
    let harness = Harness::new().await;
    let mut settings = kept(&place);
    settings.timeouts.program = Duration::from_secs(10);
    let voice = harness.voice(settings).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
    place.file("behavior", b"hang");
    let request = TranscribeRequest::new(silence().into());
    let slow = problem(voice.transcribe(request).await.unwrap_err());
    assert_eq!(slow.code, ErrorCode::Timeout);
    assert_gone(place.pids("workers")[0]).await;
    place.file("behavior", b"fine");
    assert_eq!(heard(&voice).await, BY_WORKER);
    assert!(place.pids("programs").is_empty());
}

#[tokio::test]
async fn a_python_without_the_library_is_not_tried_for_the_next_recording() {
    let place = place();
    place.file("start", b"refuse");
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(place.pids("workers").len(), 1);
}

#[tokio::test]
async fn a_process_that_never_becomes_ready_leaves_time_for_the_program() {
    let place = place();
    place.file("start", b"deaf");
    let harness = Harness::new().await;
    let mut settings = kept(&place);
    settings.timeouts.program = Duration::from_secs(12);
    let voice = harness.voice(settings).await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_gone(place.pids("workers")[0]).await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(place.pids("workers").len(), 1);
}

#[tokio::test]
async fn without_python_and_unless_programs_are_kept_each_recording_starts_the_program() {
    let harness = Harness::new().await;
    let alone = ProgramDir::new();
    let voice = harness.voice(kept(&alone)).await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    let place = place();
    let harness = Harness::new().await;
    let settings = VoiceSettings {
        keep_warm: Duration::ZERO,
        ..kept(&place)
    };
    let voice = harness.voice(settings).await;
    for count in 1..=2 {
        assert_eq!(heard(&voice).await, BY_PROGRAM);
        assert_eq!(place.pids("programs").len(), count);
    }
    assert!(place.pids("workers").is_empty());
}

#[tokio::test]
async fn a_python_is_found_where_a_link_to_the_program_leads() {
    let place = place();
    let elsewhere = ProgramDir::new();
    // Another Python, which has no library.
    elsewhere.program_named("python3", "exit 1");
    let mut settings = kept(&place);
    let link = elsewhere.path("sherpa-onnx-offline");
    std::os::unix::fs::symlink(place.path("program"), &link).unwrap();
    let sherpa = settings.stt.providers.get_mut(&SttId::SherpaOnnx).unwrap();
    sherpa.binary_path = Some(link);
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    assert_eq!(heard(&voice).await, BY_WORKER);
}

#[tokio::test]
async fn a_recording_over_32_mib_goes_to_the_program() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place)).await;
    // A WAV has 44 bytes before its samples.
    let most = ((32 << 20) - 44) / 2;
    for (samples, text) in [(most, BY_WORKER), (most + 1, BY_PROGRAM)] {
        let sound = Sound {
            rate: 16_000,
            samples: vec![0; samples],
        };
        let recording = Bytes::from(encode(&sound, Format::Flac).unwrap());
        let request = TranscribeRequest::new(recording);
        assert_eq!(voice.transcribe(request).await.unwrap().text, text);
    }
    let recording = place.path("recording").metadata().unwrap();
    assert_eq!(recording.len(), 32 << 20);
}
