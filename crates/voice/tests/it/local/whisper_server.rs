//! Tests with a whisper-server that is kept between requests.

use super::{silence, wav};
use crate::harness::{Harness, problem, stt_with};
use crate::vendor::program::Program;
use crate::vendor::whisper_server::{TEXT, WhisperServer};
use bytes::Bytes;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{ProviderSettings, SttId, TranscribeRequest, Voice, VoiceSettings};
use rustix::process::{Pid, test_kill_process};
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

/// The text of whisper-cli.
const BY_PROGRAM: &str = "Hello real world.";

struct Bench {
    program: Program,
    server: WhisperServer,
    harness: Harness,
    settings: VoiceSettings,
}

impl Bench {
    async fn new() -> Self {
        let program = Program::whisper_cli();
        let server = WhisperServer::install(program.path("").as_path());
        let provider = ProviderSettings {
            binary_path: Some(program.binary()),
            model_path: Some(program.model()),
            ..ProviderSettings::default()
        };
        let settings = VoiceSettings {
            keep_warm: Duration::from_mins(5),
            ..stt_with(SttId::WhisperCli, provider)
        };
        Self {
            program,
            server,
            harness: Harness::new().await,
            settings,
        }
    }

    async fn voice(&self) -> Voice {
        self.harness.voice(self.settings.clone()).await
    }

    fn assert_no_complaints(&self) {
        assert_eq!(self.server.complaints(), "");
        assert_eq!(self.program.complaints(), Vec::<String>::new());
    }
}

/// Waits until the process does not run. It is an orphan, which some systems never reap.
async fn assert_gone(pid: Pid) {
    let start = Instant::now();
    while is_running(pid) {
        let waited = start.elapsed();
        assert!(waited < Duration::from_secs(10), "it is still there");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Reads `/proc/<pid>/stat` (proc(5)) from the field after the name in parentheses: state, parent, and more.
#[expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]
fn status(pid: Pid) -> Vec<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    fields.split_whitespace().map(str::to_owned).collect()
}

fn is_running(pid: Pid) -> bool {
    let is_zombie = status(pid).first().is_some_and(|state| state == "Z");
    test_kill_process(pid).is_ok() && !is_zombie
}

async fn heard(voice: &Voice) -> String {
    heard_in(voice, silence()).await
}

async fn heard_in(voice: &Voice, recording: Vec<u8>) -> String {
    let request = TranscribeRequest::new(recording.into());
    voice.transcribe(request).await.unwrap().text
}

/// Returns the value of a field of a form.
fn value<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    let found = form.iter().find(|(field, _)| field == name);
    &found.unwrap().1
}

/// Returns a recording of this many samples per channel, at 16 kHz.
fn recording(samples: usize) -> Vec<u8> {
    wav(16_000, 1, &vec![0; samples])
}

/// The longest recording that is not processed with the whole window: 1,344 positions of 320 samples, without the 22
/// of the header. With the margin these are 1,472 of 1,500 positions.
const LONGEST_LIMITED: usize = 1_344 * 320 - 22;
/// Samples of the window of 30 seconds.
const WINDOW: usize = 30 * 16_000;
/// Numbers of samples, and the audio context of each.
const CONTEXTS: [(usize, &str); 6] = [
    (16_000, "512"),
    (LONGEST_LIMITED, "1472"),
    (LONGEST_LIMITED + 1, "0"),
    (WINDOW, "0"),
    (WINDOW + 1, "0"),
    (16_000, "512"),
];

#[tokio::test]
async fn a_second_recording_goes_to_the_same_server() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    let request = TranscribeRequest::new(silence().into());
    let transcript = voice.transcribe(request).await.unwrap();
    assert_eq!(
        (transcript.text.as_str(), transcript.language.as_str()),
        (TEXT, "en")
    );
    let words: Vec<&str> = transcript
        .words
        .iter()
        .map(|word| word.word.as_str())
        .collect();
    assert_eq!(words, ["Hello", "warm", "world."]);
    assert_eq!(transcript.segments.len(), 1);
    assert_eq!(heard(&voice).await, TEXT);
    assert_eq!(bench.server.pids().len(), 1);
    assert!(bench.program.runs().is_empty());
    bench.assert_no_complaints();
    // No recording is on the disk, and after the shutdown the work directory is empty.
    let work = bench.harness.database.directory().join("voice-work");
    let kept = std::fs::read_dir(&work).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
    voice.shutdown().await;
    assert_gone(bench.server.pids()[0]).await;
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    // The rest is transcribed by a separate process.
    assert_eq!(heard(&voice).await, BY_PROGRAM);
}

#[tokio::test]
async fn each_request_states_its_language_its_hint_and_whether_it_is_translated() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    let mut request = TranscribeRequest::new(silence().into());
    request.language = Some("de-AT".to_owned());
    request.prompt = Some("Grüße an \"Zoë\"\n--help".to_owned());
    request.translate = true;
    voice.transcribe(request).await.unwrap();
    heard(&voice).await;
    let [first, second] = &bench.server.forms()[..] else {
        panic!("two requests")
    };
    for (name, one, two) in [
        ("language", "de", "auto"),
        ("prompt", "Grüße an \"Zoë\"\n--help", ""),
        ("translate", "true", "false"),
        // Otherwise the second recording would be transcribed with the first transcript as its hint.
        ("no_context", "true", "true"),
        // The value of whisper-cli.
        ("best_of", "5", "5"),
    ] {
        assert_eq!(value(first, name), one, "{name}");
        assert_eq!(value(second, name), two, "{name}");
    }
    bench.assert_no_complaints();
}

#[tokio::test]
async fn each_request_states_a_context_that_fits_the_recording_or_the_whole_window() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    for (samples, _) in CONTEXTS {
        assert_eq!(heard_in(&voice, recording(samples)).await, TEXT);
    }
    let forms = bench.server.forms();
    let sent: Vec<&str> = forms.iter().map(|form| value(form, "audio_ctx")).collect();
    assert_eq!(sent, CONTEXTS.map(|(_, context)| context));
    // Only recordings with the smallest context are decoded without a search.
    for form in &forms {
        let is_short = value(form, "audio_ctx") == "512";
        let expected = if is_short { "1" } else { "5" };
        assert_eq!(value(form, "beam_size"), expected);
    }
    bench.assert_no_complaints();
}

#[tokio::test]
async fn the_context_fits_the_converted_recording() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    let stereo = wav(48_000, 2, &vec![0; 10 * 2 * 48_000]);
    let sound = Sound {
        rate: 8_000,
        samples: vec![0; 10 * 8_000],
    };
    let flac = encode(&sound, Format::Flac).unwrap();
    for recording in [stereo, flac] {
        assert_eq!(heard_in(&voice, recording).await, TEXT);
    }
    let forms = bench.server.forms();
    let sent: Vec<&str> = forms.iter().map(|form| value(form, "audio_ctx")).collect();
    // 10 seconds with the margin are 628 positions.
    assert_eq!(sent, ["640", "640"]);
    bench.assert_no_complaints();
}

#[tokio::test]
async fn the_program_gets_the_same_context_or_none() {
    let mut bench = Bench::new().await;
    bench.settings.keep_warm = Duration::ZERO;
    let voice = bench.voice().await;
    for (samples, _) in CONTEXTS {
        assert_eq!(heard_in(&voice, recording(samples)).await, BY_PROGRAM);
    }
    let runs = bench.program.runs();
    let given: Vec<&str> = runs
        .iter()
        .map(|run| run.option("-ac").unwrap_or("0"))
        .collect();
    assert_eq!(given, CONTEXTS.map(|(_, context)| context));
    bench.assert_no_complaints();
}

#[tokio::test]
async fn after_a_failure_of_the_server_the_program_uses_the_whole_window() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    bench.server.behave("status");
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(bench.program.runs()[0].option("-ac"), None);
    bench.assert_no_complaints();
}

#[tokio::test]
async fn the_window_is_whole_if_the_setting_is_false_or_the_model_has_a_compiled_encoder() {
    let mut bench = Bench::new().await;
    for encoder in ["model-encoder-openvino.xml", "model-encoder.mlmodelc"] {
        let encoder = bench.program.path(encoder);
        std::fs::create_dir(&encoder).unwrap();
        assert_eq!(heard(&bench.voice().await).await, TEXT);
        std::fs::remove_dir(&encoder).unwrap();
    }
    assert_eq!(heard(&bench.voice().await).await, TEXT);
    let providers = &mut bench.settings.stt.providers;
    let whisper = providers.get_mut(&SttId::WhisperCli).unwrap();
    whisper.fit_audio_context = Some(false);
    assert_eq!(heard(&bench.voice().await).await, TEXT);
    let forms = bench.server.forms();
    let sent: Vec<&str> = forms.iter().map(|form| value(form, "audio_ctx")).collect();
    assert_eq!(sent, ["0", "0", "512", "0"]);
    bench.assert_no_complaints();
}

#[tokio::test]
async fn after_a_collision_of_ports_another_port_is_used() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    bench.server.start_with("taken 1");
    assert_eq!(heard(&voice).await, TEXT);
    assert_eq!(heard(&voice).await, TEXT);
    assert_eq!(bench.server.pids().len(), 2);
    bench.assert_no_complaints();
}

#[tokio::test]
async fn a_server_that_does_not_start_is_not_tried_for_the_next_recording() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    bench.server.start_with("taken 2");
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(bench.server.pids().len(), 2);
}

#[tokio::test]
async fn a_server_that_never_becomes_ready_leaves_time_for_the_program() {
    let mut bench = Bench::new().await;
    bench.settings.timeouts.program = Duration::from_secs(12);
    let voice = bench.voice().await;
    bench.server.start_with("deaf 0");
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_gone(bench.server.pids()[0]).await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert_eq!(bench.server.pids().len(), 1);
}

#[tokio::test]
async fn a_recording_whose_answer_is_unusable_goes_to_the_program() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    for (turn, behavior) in ["status", "page", "other", "die"].into_iter().enumerate() {
        bench.server.behave("fine");
        assert_eq!(heard(&voice).await, TEXT, "{behavior}");
        bench.server.behave(behavior);
        assert_eq!(heard(&voice).await, BY_PROGRAM, "{behavior}");
        let pids = bench.server.pids();
        assert_eq!(pids.len(), turn + 1, "{behavior}");
        assert_gone(pids[turn]).await;
    }
    bench.assert_no_complaints();
}

#[tokio::test]
async fn a_server_that_dies_between_requests_is_replaced() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    assert_eq!(heard(&voice).await, TEXT);
    let pid = bench.server.pids()[0];
    // The shell that watches it, which reports its end.
    let shell = Pid::from_raw(status(pid)[1].parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_gone(pid).await;
    assert_gone(shell).await;
    assert_eq!(heard(&voice).await, TEXT);
    assert_eq!(bench.server.pids().len(), 2);
    assert!(bench.program.runs().is_empty());
}

#[tokio::test]
async fn a_slow_server_is_a_time_out_and_is_replaced() {
    let mut bench = Bench::new().await;
    bench.settings.timeouts.program = Duration::from_secs(10);
    let voice = bench.voice().await;
    assert_eq!(heard(&voice).await, TEXT);
    bench.server.behave("hang");
    let request = TranscribeRequest::new(silence().into());
    let slow = problem(voice.transcribe(request).await.unwrap_err());
    assert_eq!(slow.code, ErrorCode::Timeout);
    assert_gone(bench.server.pids()[0]).await;
    bench.server.behave("fine");
    assert_eq!(heard(&voice).await, TEXT);
    assert!(bench.program.runs().is_empty());
}

#[tokio::test]
async fn a_canceled_transcription_ends_a_hanging_server() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    bench.server.behave("hang");
    let asked = async {
        while bench.server.forms().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        _ = heard(&voice) => panic!("it should be listening"),
        () = asked => {}
    }
    assert_gone(bench.server.pids()[0]).await;
}

#[tokio::test]
async fn a_server_is_found_where_a_link_to_the_program_leads() {
    let mut bench = Bench::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("whisper-cli");
    symlink(bench.program.binary(), &link).unwrap();
    let providers = &mut bench.settings.stt.providers;
    providers.get_mut(&SttId::WhisperCli).unwrap().binary_path = Some(link);
    let voice = bench.voice().await;
    assert_eq!(heard(&voice).await, TEXT);
}

#[tokio::test]
async fn no_server_is_started_unless_programs_are_kept() {
    let mut bench = Bench::new().await;
    bench.settings.keep_warm = Duration::ZERO;
    let voice = bench.voice().await;
    assert_eq!(heard(&voice).await, BY_PROGRAM);
    assert!(bench.server.pids().is_empty());
}

#[tokio::test]
async fn a_recording_over_32_mib_goes_to_the_program() {
    let bench = Bench::new().await;
    let voice = bench.voice().await;
    // A WAV has 44 bytes before its samples.
    let most = ((32 << 20) - 44) / 2;
    for (samples, text) in [(most, TEXT), (most + 1, BY_PROGRAM)] {
        let sound = Sound {
            rate: 16_000,
            samples: vec![0; samples],
        };
        let recording = Bytes::from(encode(&sound, Format::Flac).unwrap());
        let request = TranscribeRequest::new(recording);
        assert_eq!(voice.transcribe(request).await.unwrap().text, text);
    }
    bench.assert_no_complaints();
}
