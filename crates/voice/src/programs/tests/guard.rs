//! Tests of programs that end when this server is killed.

use super::*;
use crate::programs::child::Running;
use crate::programs::server::guarded;
use gatehouse_domain::SystemRandom;

pub(super) fn random() -> Arc<dyn Random> {
    Arc::new(SystemRandom)
}

/// Returns the program's command with its guard.
fn guarded_job(place: &ProgramDir, script: &str) -> Job {
    let Job { program, args, .. } = place.job(script);
    let (program, args) = guarded(program, args);
    Job {
        args,
        ..job(program)
    }
}

#[tokio::test]
async fn a_guarded_program_ends_with_the_input_of_its_guard() {
    let place = ProgramDir::new();
    let script = "trap '' TERM HUP INT; echo $$ >\"$1/pid\"; while :; do sleep 1; done";
    let started = Running::start(&guarded_job(&place, script), &[]);
    let (mut running, (stdin, _stdout, _stderr)) = started.unwrap();
    let pid = place.pid().await;
    assert!(test_kill_process(pid).is_ok());
    // The kernel does this when this process is killed.
    drop(stdin);
    assert_gone(pid).await;
    running.ended().await.unwrap();
}

#[tokio::test]
async fn a_guard_ends_with_its_program() {
    let place = ProgramDir::new();
    let job = guarded_job(&place, "read line && exit 1; echo \"$0 $#\"; exit 7");
    let (mut running, (_stdin, mut stdout, _stderr)) = Running::start(&job, &[]).unwrap();
    running.ended().await.unwrap();
    assert_eq!(running.reap().await.unwrap().code(), Some(7));
    let mut said = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stdout, &mut said)
        .await
        .unwrap();
    let program = place.path("program");
    assert_eq!(said, format!("{} 1\n", program.display()));
}
