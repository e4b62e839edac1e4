//! Tests with real programs that are kept between requests.
//!
//! There is none with a real `whisper-server`: no package that the tests install contains it.

use super::{ProgramDir, RealPrograms, assert_gone, silence};
use crate::harness::Harness;
use gatehouse_voice::{SpeechRequest, SttId, TranscribeRequest, TtsId, Voice, VoiceSettings};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::time::Duration;

/// The voice and the recognizer speak and read the letters of this text.
const TEXT: &str = "hello real world";
/// Nine tones of 80 ms: the letters of a short text, the separators, start and end.
const SHORT: &str = "abc";
const SHORT_MS: u64 = 720;

/// Real programs, and scripts that note the PID before they become them.
struct Bench {
    place: ProgramDir,
    settings: VoiceSettings,
}

impl Bench {
    /// `None` if there are no real programs.
    fn new(keep_warm: Duration) -> Option<Self> {
        let kit = RealPrograms::find()?;
        let place = ProgramDir::new();
        let mut settings = kit.settings();
        settings.keep_warm = keep_warm;
        let noted = |name: &str, pids: &str| {
            let program = kit.0.join("bin").join(name);
            let program = program.display();
            let script = format!("echo $$ >>\"$place/{pids}\"\nexec '{program}' \"$@\"");
            place.program_named(name, &script)
        };
        let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
        piper.binary_path = Some(noted("piper", "piper-pids"));
        let sherpa = settings.stt.providers.get_mut(&SttId::SherpaOnnx).unwrap();
        sherpa.binary_path = Some(noted("sherpa-onnx-offline", "sherpa-pids"));
        noted("python3", "library-pids");
        Some(Self { place, settings })
    }

    fn counts(&self) -> [usize; 3] {
        let files = ["piper-pids", "library-pids", "sherpa-pids"];
        files.map(|file| self.place.pids(file).len())
    }

    async fn kill(&self, pids: &str) {
        let pid = self.place.pids(pids)[0];
        kill_process(pid, Signal::KILL).unwrap();
        assert_gone(pid).await;
    }
}

fn minute() -> Duration {
    Duration::from_mins(1)
}

async fn say(voice: &Voice) -> u64 {
    let mut request = SpeechRequest::new(SHORT);
    request.format = Some("wav".to_owned());
    voice.convert(request).await.unwrap().duration_ms
}

/// Returns a recording in which the voice speaks the text.
async fn recording(voice: &Voice) -> bytes::Bytes {
    let mut request = SpeechRequest::new(TEXT);
    request.format = Some("wav".to_owned());
    voice.convert(request).await.unwrap().audio
}

async fn hear(voice: &Voice, recording: impl Into<bytes::Bytes>) -> String {
    let mut request = TranscribeRequest::new(recording.into());
    request.provider = Some("sherpa-onnx".to_owned());
    let heard = voice.transcribe(request).await.unwrap();
    let words: Vec<&str> = heard.words.iter().map(|word| word.word.as_str()).collect();
    assert_eq!(words.join(" "), heard.text);
    heard.text
}

#[tokio::test]
async fn a_kept_piper_speaks_twice_and_is_replaced_after_it_dies() {
    let Some(bench) = Bench::new(minute()) else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(bench.settings.clone()).await;
    assert_eq!(say(&voice).await, SHORT_MS);
    assert_eq!(say(&voice).await, SHORT_MS);
    assert_eq!(bench.counts(), [1, 0, 0]);
    // No speech stays on the disk.
    let work = harness.database.directory().join("voice-work");
    let kept = std::fs::read_dir(&work).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
    bench.kill("piper-pids").await;
    assert_eq!(say(&voice).await, SHORT_MS);
    assert_eq!(say(&voice).await, SHORT_MS);
    let pids = bench.place.pids("piper-pids");
    let last: Pid = *pids.last().unwrap();
    assert!(test_kill_process(last).is_ok());
    voice.shutdown().await;
    assert!(test_kill_process(last).is_err());
}

#[tokio::test]
async fn a_kept_sherpa_onnx_hears_twice_and_is_replaced_after_it_dies() {
    let Some(bench) = Bench::new(minute()) else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(bench.settings.clone()).await;
    let spoken = recording(&voice).await;
    assert_eq!(hear(&voice, spoken.clone()).await, TEXT);
    assert_eq!(hear(&voice, silence()).await, "");
    assert_eq!(hear(&voice, spoken.clone()).await, TEXT);
    assert_eq!(bench.counts(), [1, 1, 0]);
    bench.kill("library-pids").await;
    assert_eq!(hear(&voice, spoken.clone()).await, TEXT);
    assert_eq!(hear(&voice, spoken).await, TEXT);
    let pids = bench.place.pids("library-pids");
    let last: Pid = *pids.last().unwrap();
    assert!(test_kill_process(last).is_ok());
    voice.shutdown().await;
    assert!(test_kill_process(last).is_err());
}

#[tokio::test]
async fn unless_programs_are_kept_each_request_starts_one() {
    let Some(bench) = Bench::new(Duration::ZERO) else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(bench.settings.clone()).await;
    let spoken = recording(&voice).await;
    assert_eq!(say(&voice).await, SHORT_MS);
    assert_eq!(hear(&voice, spoken.clone()).await, TEXT);
    assert_eq!(hear(&voice, spoken).await, TEXT);
    assert_eq!(bench.counts(), [2, 0, 2]);
}
