//! Tests with Piper programs that are kept between requests.

use super::{ProgramDir, assert_gone, wav};
use crate::harness::Harness;
use gatehouse_voice::{SpeechRequest, TtsId, Voice, VoiceSettings};
use rustix::process::{Pid, test_kill_process};
use std::time::Duration;

/// Speaks one second per line with `--output_dir`, and one second in total with `--output_raw`. The files `hang` and
/// `crash` make it fail once, at the line that `crash` contains.
const PIPER: &str = r#"echo $$ >>"$place/pids"
while [ $# -gt 0 ]; do
    case $1 in
    --output_dir) directory=$2 ;;
    --output_raw) cat >>"$place/raw"; head -c 32000 /dev/zero; exit ;;
    esac
    shift
done
number=0
while read -r line; do
    echo "$line" >>"$place/lines"
    number=$((number + 1))
    if [ "$number" = "$(cat "$place/crash" 2>/dev/null)" ]; then rm "$place/crash"; kill -KILL $$; fi
    if [ -e "$place/hang" ]; then rm "$place/hang"; exec sleep 1000; fi
    cp "$place/tone.wav" "$directory/$number.wav"
    echo "$directory/$number.wav"
done"#;

/// Returns the script of Piper's successor, which logs the path on stderr.
fn successor() -> String {
    let said = "echo \"$directory/$number.wav\"";
    PIPER.replace(
        said,
        "echo \"INFO:__main__:Wrote $directory/$number.wav\" >&2",
    )
}

fn place() -> ProgramDir {
    let place = ProgramDir::new();
    place.file("tone.wav", &wav(16_000, 1, &vec![0; 16_000]));
    place
}

fn kept(place: &ProgramDir, script: &str) -> VoiceSettings {
    VoiceSettings {
        keep_warm: Duration::from_mins(1),
        ..place.piper(script)
    }
}

async fn say(voice: &Voice, text: &str) -> u64 {
    let mut request = SpeechRequest::new(text);
    request.format = Some("wav".to_owned());
    voice.convert(request).await.unwrap().duration_ms
}

fn pids(place: &ProgramDir) -> Vec<Pid> {
    place.pids("pids")
}

#[tokio::test]
async fn a_second_request_goes_to_the_same_process() {
    for script in [PIPER.to_owned(), successor()] {
        let place = place();
        let harness = Harness::new().await;
        let voice = harness.voice(kept(&place, &script)).await;
        assert_eq!(say(&voice, "One here. Two here.").await, 2000);
        assert_eq!(say(&voice, "Three here.").await, 1000);
        assert_eq!(pids(&place).len(), 1);
        let lines = place.read("lines").unwrap();
        assert_eq!(lines, "One here.\nTwo here.\nThree here.\n");
        // No speech remains on the disk.
        let work = harness.database.directory().join("voice-work");
        let kept = std::fs::read_dir(&work).unwrap().next().unwrap().unwrap();
        assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
        voice.shutdown().await;
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn after_a_crash_another_process_speaks_the_rest() {
    let place = place();
    place.file("crash", b"2\n");
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place, PIPER)).await;
    assert_eq!(say(&voice, "One here. Two here. Three here.").await, 2000);
    assert_eq!(place.read("raw").unwrap(), "Two here.\nThree here.\n");
    assert_gone(pids(&place)[0]).await;
    assert_eq!(say(&voice, "Four here.").await, 1000);
    assert_eq!(say(&voice, "Five here.").await, 1000);
    assert_eq!(pids(&place).len(), 3);
}

#[tokio::test]
async fn a_process_that_hangs_is_replaced() {
    let place = place();
    let harness = Harness::new().await;
    let mut settings = kept(&place, PIPER);
    settings.timeouts.program = Duration::from_secs(12);
    let voice = harness.voice(settings).await;
    assert_eq!(say(&voice, "One here.").await, 1000);
    place.file("hang", b"");
    assert_eq!(say(&voice, "Two here.").await, 1000);
    assert_eq!(place.read("raw").unwrap(), "Two here.\n");
    assert_gone(pids(&place)[0]).await;
    assert_eq!(say(&voice, "Three here.").await, 1000);
    assert_eq!(pids(&place).len(), 3);
}

#[tokio::test]
async fn an_unused_process_ends() {
    let place = place();
    let harness = Harness::new().await;
    let mut settings = kept(&place, PIPER);
    settings.keep_warm = Duration::from_millis(200);
    let voice = harness.voice(settings).await;
    say(&voice, "One here.").await;
    assert_gone(pids(&place)[0]).await;
    assert_eq!(say(&voice, "Two here.").await, 1000);
    assert!(place.read("raw").is_none());
}

#[tokio::test]
async fn each_speed_has_a_process_and_none_outlives_the_server() {
    let place = place();
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place, PIPER)).await;
    say(&voice, "One here.").await;
    let mut fast = SpeechRequest::new("Two here.");
    fast.speed = Some(2.0);
    voice.convert(fast).await.unwrap();
    say(&voice, "Three here.").await;
    let pids = pids(&place);
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| test_kill_process(*pid).is_ok()));
    voice.shutdown().await;
    assert!(pids.iter().all(|pid| test_kill_process(*pid).is_err()));
    // A separate process speaks the rest.
    assert_eq!(say(&voice, "Four here.").await, 1000);
    assert_eq!(place.read("raw").unwrap(), "Four here.\n");
}

#[tokio::test]
async fn changed_settings_end_the_process() {
    let place = place();
    let harness = Harness::new().await;
    let settings = kept(&place, PIPER);
    let voice = harness.voice(settings.clone()).await;
    say(&voice, "One here.").await;
    voice.update_settings(settings.clone());
    say(&voice, "Two here.").await;
    assert_eq!(pids(&place).len(), 1);
    let mut changed = settings;
    let piper = changed.tts.providers.get_mut(&TtsId::Piper).unwrap();
    piper.speaker_id = Some(3);
    voice.update_settings(changed);
    assert_gone(pids(&place)[0]).await;
    say(&voice, "Three here.").await;
    assert_eq!(pids(&place).len(), 2);
}

#[tokio::test]
async fn a_program_that_refuses_is_asked_once() {
    let place = place();
    let script = "echo $$ >>\"$place/pids\"
        case $* in *--output_dir*) exit 2 ;; esac
        cat >>\"$place/raw\"; head -c 32000 /dev/zero";
    let harness = Harness::new().await;
    let voice = harness.voice(kept(&place, script)).await;
    assert_eq!(say(&voice, "One here.").await, 1000);
    assert_eq!(pids(&place).len(), 2);
    assert_eq!(say(&voice, "Two here.").await, 1000);
    assert_eq!(pids(&place).len(), 3);
}
