#![expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]

mod files;
mod guard;

use super::*;
use crate::settings::Timeouts;
use futures_util::{FutureExt, StreamExt, stream::BoxStream};
use guard::random;
use rustix::process::{Pid, test_kill_process};
use std::{fs, fs::Permissions, os::unix::fs::PermissionsExt, time::Instant};

const MIB: usize = 1 << 20;

fn programs(places: usize, limit: Duration) -> Programs {
    let settings = VoiceSettings {
        local_concurrency: places,
        child_variables: vec![("PATH".to_owned(), "/usr/bin:/bin".into())],
        timeouts: Timeouts {
            program: limit,
            ..Timeouts::default()
        },
        ..VoiceSettings::default()
    };
    Programs::new(&settings, Path::new("/nonexistent"), &random())
}

fn patient() -> Programs {
    programs(2, Duration::from_mins(1))
}

/// A directory for programs, with a space in its name.
struct ProgramDir(TempDir);

impl ProgramDir {
    fn new() -> Self {
        let mut builder = tempfile::Builder::new();
        Self(builder.prefix("a place ").tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Returns a job with a shell script. Its first argument is this directory.
    fn job(&self, script: &str) -> Job {
        let program = self.file("program", &format!("#!/bin/sh\n{script}\n"), 0o755);
        let args = vec![self.0.path().into()];
        Job {
            args,
            ..job(program)
        }
    }

    /// Returns the PID that the program wrote to the file `pid`.
    async fn pid(&self) -> Pid {
        loop {
            let text = fs::read_to_string(self.path("pid")).unwrap_or_default();
            if let Some(number) = text.strip_suffix('\n') {
                return Pid::from_raw(number.parse().unwrap()).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn job(program: impl Into<PathBuf>) -> Job {
    Job {
        provider: "tts_local_1",
        setting: "voice.tts.tts_local_1.binary_path",
        program: program.into(),
        args: Vec::new(),
        variables: &[],
        stdin: Bytes::new(),
        most_output: 64 * MIB,
        with_stderr: false,
        directory: None,
    }
}

/// Asserts that within a second the process neither runs nor is a zombie child of this process. Another process reaps
/// orphans, and some processes never do so.
async fn assert_gone(pid: Pid) {
    let start = Instant::now();
    while test_kill_process(pid).is_ok() && !is_anothers_zombie(pid) {
        assert!(
            start.elapsed() < Duration::from_secs(1),
            "it is still there"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Reads state and parent from `/proc/<pid>/stat` (proc(5)), which are the fields after the name in parentheses.
fn is_anothers_zombie(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let parent = std::process::id().to_string();
    fields.next() == Some("Z") && fields.next() != Some(&parent)
}

fn reason(error: &VoiceError) -> &'static str {
    match error {
        VoiceError::Provider {
            reason,
            retryable: false,
            ..
        } => reason,
        VoiceError::Timeout { .. } => "time-out",
        VoiceError::NotConfigured { what, hint } => {
            assert_eq!(what, "voice.tts.tts_local_1.binary_path");
            assert!(!hint.contains('/'), "{hint}");
            "not configured"
        }
        other => panic!("{other:?}"),
    }
}

async fn failure(programs: &Programs, job: Job) -> &'static str {
    reason(&programs.run(job).await.unwrap_err())
}

#[test]
fn programs_are_found() {
    let place = ProgramDir::new();
    let program = place.file("piper", "", 0o755);
    let plain = place.file("plain", "", 0o644);
    let mut settings = VoiceSettings::default();
    let mut path = OsString::from("relative::");
    path.push(place.0.path());
    settings.child_variables = vec![("PATH".to_owned(), path)];
    let programs = Programs::new(&settings, place.0.path(), &random());
    let find = |wanted: &Path| programs.find(Some(wanted), "piper");
    assert_eq!(programs.find(None, "piper"), Some(program.clone()));
    assert_eq!(programs.find(None, "plain"), None);
    assert_eq!(programs.find(None, "none"), None);
    assert_eq!(find(&program), Some(program.clone()));
    assert_eq!(find(Path::new("piper")), Some(program));
    assert_eq!(find(Path::new("./piper")), None);
    assert_eq!(find(&plain), None);
    assert_eq!(find(place.0.path()), None);
    assert_eq!(find(&place.path("none")), None);
    // Without a PATH, the usual directories are searched.
    let programs = Programs::new(&VoiceSettings::default(), place.0.path(), &random());
    assert!(programs.find(None, "sh").is_some());
}

#[tokio::test]
async fn a_program_gets_nothing_but_what_it_should() {
    let place = ProgramDir::new();
    let directory = Arc::new(TempDir::new().unwrap());
    let mut env = job("/usr/bin/env");
    env.variables = &[("A", "b c")];
    let said = patient().run(env).await.unwrap().stdout;
    let mut said: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
    said.sort_unstable();
    assert_eq!(said, [b"".as_slice(), b"A=b c", b"PATH=/usr/bin:/bin"]);
    let odd = ["-n", "$(reboot)", "a\nb", "`x` \"'", "", "é"];
    let mut printf = place.job("shift; pwd; printf '<%s>' \"$@\"; cat");
    printf.args.extend(odd.iter().map(OsString::from));
    printf.stdin = Bytes::from("-f $(x)\n'");
    printf.directory = Some(directory.clone());
    let said = patient().run(printf).await.unwrap().stdout;
    let directory = directory.path().display();
    let wanted = format!("{directory}\n<-n><$(reboot)><a\nb><`x` \"'><><é>-f $(x)\n'");
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn much_goes_in_and_out_at_once() {
    let input = Bytes::from(vec![7; 25 * MIB]);
    let mut cat = job("/bin/cat");
    cat.stdin = input.clone();
    cat.most_output = input.len();
    assert_eq!(patient().run(cat).await.unwrap().stdout, input);
    let mut cat = job("/bin/cat");
    cat.stdin = input.clone();
    cat.most_output = input.len() - 1;
    assert_eq!(failure(&patient(), cat).await, "produced too much output");
    // A program may ignore its input.
    let mut deaf = job("/bin/true");
    deaf.stdin = input;
    assert_eq!(patient().run(deaf).await.unwrap().stdout, "");
}

#[tokio::test]
async fn a_flood_of_complaints_holds_nothing_up() {
    let place = ProgramDir::new();
    let script = "head -c 100000000 /dev/zero >&2; echo; echo well; echo a >&2; printf end >&2";
    assert_eq!(
        patient().run(place.job(script)).await.unwrap().stdout,
        "\nwell\n"
    );
    // On request, the end of stderr is kept.
    let mut job = place.job(script);
    job.with_stderr = true;
    let said = patient().run(job).await.unwrap().stdout;
    assert_eq!(said.len(), "\nwell\n\n".len() + MIB);
    assert!(said.starts_with(b"\nwell\n\n\0") && said.ends_with(b"\0a\nend"));
}

#[tokio::test]
async fn a_flood_of_output_is_ended() {
    let place = ProgramDir::new();
    let mut flood = place.job("echo $$ >\"$1/pid\"; exec cat /dev/zero");
    flood.most_output = MIB;
    assert_eq!(failure(&patient(), flood).await, "produced too much output");
    assert_gone(place.pid().await).await;
}

#[tokio::test]
async fn a_program_that_hangs_is_ended() {
    for script in [
        "exec sleep 1000",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
    ] {
        let place = ProgramDir::new();
        let job = place.job(&format!("echo $$ >\"$1/pid\"; {script}"));
        let impatient = programs(1, Duration::from_millis(300));
        assert_eq!(failure(&impatient, job).await, "time-out");
        assert_gone(place.pid().await).await;
        // The permit is free.
        let next = impatient.run(super::tests::job("/bin/true"));
        assert!(next.await.is_ok());
    }
}

#[tokio::test]
async fn a_program_that_fails_is_a_failure() {
    let place = ProgramDir::new();
    let programs = patient();
    let ended = "exited with an error";
    assert_eq!(
        failure(&programs, place.job("echo secret >&2; exit 3")).await,
        ended
    );
    assert_eq!(
        failure(&programs, place.job("echo half; kill -KILL $$")).await,
        ended
    );
    assert_eq!(
        failure(&programs, job(place.path("none"))).await,
        "not configured"
    );
    let plain = place.file("plain", "#!/bin/sh\n", 0o644);
    assert_eq!(failure(&programs, job(plain)).await, "not configured");
    let lost = place.file("lost", "#!/no/such/interpreter\n", 0o755);
    assert_eq!(failure(&programs, job(lost)).await, "not configured");
}

#[tokio::test]
async fn what_comes_is_passed_on_before_the_end_is_known() {
    let place = ProgramDir::new();
    let script = "printf one; while [ ! -e \"$1/go\" ]; do sleep 0.01; done; printf two; exit";
    let mut good = patient().stream(place.job(script)).await.unwrap();
    assert_eq!(good.next().await.unwrap().unwrap(), "one");
    place.file("go", "", 0o644);
    assert_eq!(good.next().await.unwrap().unwrap(), "two");
    assert!(good.next().await.is_none());

    let mut bad = patient()
        .stream(place.job(&format!("{script} 1")))
        .await
        .unwrap();
    let mut said = Vec::new();
    let error = loop {
        match bad.next().await.unwrap() {
            Ok(piece) => said.extend_from_slice(&piece),
            Err(error) => break error,
        }
    };
    assert_eq!(said, b"onetwo");
    assert_eq!(reason(&error), "exited with an error");
    assert!(bad.next().await.is_none());

    // A failure before the first byte, or no output, is not a stream.
    let programs = patient();
    let early = async |job| programs.stream(job).await.err().unwrap();
    assert_eq!(
        reason(&early(place.job("exit 1")).await),
        "exited with an error"
    );
    assert_eq!(
        reason(&early(place.job("exit 0")).await),
        "returned no audio"
    );
}

#[tokio::test]
async fn who_leaves_takes_the_program_along() {
    let place = ProgramDir::new();
    let programs = with_directory(&programs(1, Duration::from_mins(1)), &place.path("work"));
    let script = "echo $$ >\"$1/pid\"; printf one; exec sleep 1000";
    let directory = made(&programs, "x").await;
    let path = directory.path().to_owned();
    let mut job = place.job(script);
    job.directory = Some(directory);
    {
        let run = programs.run(job);
        tokio::pin!(run);
        tokio::select! {
            _ = &mut run => panic!("it should be running"),
            pid = place.pid() => assert!(test_kill_process(pid).is_ok()),
        }
    }
    assert_gone(place.pid().await).await;
    assert!(!path.exists());

    fs::remove_file(place.path("pid")).unwrap();
    let mut stream = programs.stream(place.job(script)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "one");
    assert!(stream.next().now_or_never().is_none());
    drop(stream);
    assert_gone(place.pid().await).await;

    // A caller may also stop waiting for a permit.
    let mut stream = programs
        .stream(place.job("printf one; exec sleep 1000"))
        .await
        .unwrap();
    assert!(
        programs
            .run(super::tests::job("/bin/true"))
            .now_or_never()
            .is_none()
    );
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    assert!(programs.run(super::tests::job("/bin/true")).await.is_ok());
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let place = ProgramDir::new();
    // The background process keeps all three pipes open.
    let script = "sleep 1000 & echo $! >\"$1/pid\"; echo well";
    let start = Instant::now();
    assert_eq!(
        patient().run(place.job(script)).await.unwrap().stdout,
        "well\n"
    );
    assert!(start.elapsed() < child::GRACE);
    assert_gone(place.pid().await).await;
}

#[tokio::test]
async fn who_leaves_the_group_holds_nobody_up() {
    let place = ProgramDir::new();
    let script = "setsid sh -c 'echo $$ >\"$1/pid\"; exec sleep 30' sh \"$1\" &
        while [ ! -s \"$1/pid\" ]; do sleep 0.01; done; echo well";
    let start = Instant::now();
    assert_eq!(
        patient().run(place.job(script)).await.unwrap().stdout,
        "well\n"
    );
    assert!(start.elapsed() < child::GRACE * 5);
    let left = place.pid().await;
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn places_are_given_in_order_and_waiting_takes_time_too() {
    let place = ProgramDir::new();
    let programs = programs(1, Duration::from_mins(1));
    let hold = place.job("printf one; exec sleep 1000");
    let first = programs.stream(hold).await.unwrap();
    let third = place.path("order");
    let append = |word: &str| {
        let mut job = job("/bin/sh");
        job.args = ["-c", "echo \"$1\" >>\"$2\"", "sh", word]
            .map(OsString::from)
            .into();
        job.args.push(third.clone().into());
        programs.run(job)
    };
    let (one, two) = (append("first"), append("second"));
    tokio::pin!(one, two);
    assert!((&mut one).now_or_never().is_none() && (&mut two).now_or_never().is_none());
    drop(first);
    let (one, two) = tokio::join!(one, two);
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(fs::read_to_string(&third).unwrap(), "first\nsecond\n");
    // A caller with a shorter limit than the holder of the permit times out.
    let stays = place.job("printf one; exec sleep 1000");
    let _stream = programs.stream(stays).await.unwrap();
    let hurried = Programs {
        limit: Duration::from_millis(100),
        ..programs.clone()
    };
    assert_eq!(failure(&hurried, job("/bin/true")).await, "time-out");
}

#[tokio::test]
async fn a_slow_reader_holds_no_place() {
    let place = ProgramDir::new();
    let programs = programs(1, Duration::from_mins(1));
    let mut stream = programs
        .stream(place.job("head -c 120000 /dev/zero"))
        .await
        .unwrap();
    assert!(programs.run(job("/bin/true")).await.is_ok());
    assert_eq!(length(&mut stream).await, 120_000);
}

#[tokio::test]
async fn a_slow_reader_misses_nothing() {
    let place = ProgramDir::new();
    // Slightly more than the queue holds, so the end is still in the pipe when the program ends.
    let much = place.job("dd if=/dev/zero bs=65536 count=10 2>/dev/null");
    let mut stream = patient().stream(much).await.unwrap();
    tokio::time::sleep(child::GRACE + Duration::from_millis(300)).await;
    assert_eq!(length(&mut stream).await, 10 * 65_536);
    let most = place.job("head -c 3000000 /dev/zero");
    let mut stream = patient().stream(most).await.unwrap();
    assert_eq!(length(&mut stream).await, 3_000_000);
}

/// Returns the number of bytes in the stream.
async fn length(stream: &mut BoxStream<'static, Piece>) -> usize {
    let mut read = 0;
    while let Some(piece) = stream.next().await {
        read += piece.unwrap().len();
    }
    read
}

/// Returns a workspace with this content.
async fn made(programs: &Programs, content: &'static str) -> Arc<TempDir> {
    let content = Bytes::from(content);
    programs.workspace("audio.wav", &content).await.unwrap()
}

fn with_directory(programs: &Programs, directory: &Path) -> Programs {
    Programs {
        directory: directory.into(),
        ..programs.clone()
    }
}

#[tokio::test]
async fn eight_may_wait_and_the_ninth_is_refused() {
    let programs = programs(1, Duration::from_mins(1));
    let place = || programs.permit("stt_local_2").boxed();
    programs.check_queue().unwrap();
    let held = place().await.unwrap();
    let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| place()).collect();
    let (last, others) = waiting.split_last_mut().unwrap();
    for one in others {
        assert!(one.now_or_never().is_none());
    }
    programs.check_queue().unwrap();
    assert!(last.now_or_never().is_none());
    let is_busy = |error| matches!(error, VoiceError::Busy);
    assert!(is_busy(programs.check_queue().unwrap_err()));
    assert!(is_busy(place().await.unwrap_err()));
    assert!(is_busy(programs.run(job("/bin/true")).await.unwrap_err()));
    assert!(is_busy(
        programs.stream(job("/bin/true")).await.err().unwrap()
    ));
    // A caller that leaves the queue or gets a permit frees a slot.
    drop(waiting.pop());
    programs.check_queue().unwrap();
    waiting.push(place());
    assert!(waiting.last_mut().unwrap().now_or_never().is_none());
    drop(held);
    let _next = waiting.remove(0).await.unwrap();
    programs.check_queue().unwrap();
    drop(waiting);
}

#[tokio::test]
async fn a_program_whose_output_nobody_takes_is_ended_in_time() {
    let place = ProgramDir::new();
    let programs = programs(1, Duration::from_millis(500));
    let job = place.job("echo $$ >\"$1/pid\"; exec cat /dev/zero");
    let mut stream = programs.stream(job).await.unwrap();
    let pid = place.pid().await;
    let next = programs.run(super::tests::job("/bin/true"));
    // `next` waits for the permit until the first program has used up its time.
    let _ = next.await;
    assert_gone(pid).await;
    let mut kept = 0;
    let last = loop {
        match stream.next().await {
            Some(Ok(piece)) => kept += piece.len(),
            other => break other,
        }
    };
    assert_eq!(reason(&last.unwrap().unwrap_err()), "time-out");
    // Only the queued output is kept.
    assert!((1..=MIB / 2).contains(&kept), "{kept}");
}
