//! Cases about local programs: their end, their input, and the error if they are missing.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::vendor::fake_server::Behavior;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::SpeechRequest;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub async fn an_exit_status_of_1_is_reported_without_the_output(bench: Bench) {
    bench.set_behavior(Behavior::Status(1, None));
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], bench.id.as_str());
    assert_eq!(problem.details["retryable"], false);
    let message = problem.message;
    assert!(message.contains("exited with an error"), "{message}");
}

pub async fn what_it_says_on_standard_error_goes_nowhere(bench: Bench) {
    bench.set_behavior(Behavior::Loud);
    let (converted, _) = bench.heard(SpeechRequest::new(TEXT)).await;
    assert!(converted.duration_ms > 1000);
}

pub async fn the_text_is_in_no_argument(bench: Bench) {
    bench.heard(SpeechRequest::new(TEXT)).await;
    let run = bench.program().runs().pop().unwrap();
    assert!(
        run.arguments
            .iter()
            .all(|argument| !argument.contains("Hello"))
    );
}

pub async fn it_gets_nothing_of_the_environment(bench: Bench) {
    bench.heard(SpeechRequest::new(TEXT)).await;
    let run = bench.program().runs().pop().unwrap();
    let ours = ["PATH", "PYTHONUTF8", "PWD", "OLDPWD"];
    let others: Vec<_> = run
        .variables
        .iter()
        .filter(|name| !ours.contains(&name.as_str()))
        .collect();
    assert!(
        others.is_empty() && run.variables.contains(&"PATH".to_owned()),
        "{others:?}"
    );
}

async fn is_not_configured(mut bench: Bench, setting: &str) {
    bench.settings.tts.provider = Some(bench.id);
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(
        problem.details["what"],
        format!("voice.tts.{}.{setting}", bench.id)
    );
    assert!(!problem.message.contains("/tmp"), "{}", problem.message);
    assert!(bench.is_untouched());
}

pub async fn a_program_that_is_not_there_is_named(mut bench: Bench) {
    bench.provider().binary_path = Some("/nowhere/program".into());
    is_not_configured(bench, "binary_path").await;
}

pub async fn a_program_that_may_not_be_run_is_named(bench: Bench) {
    let file: &Path = &bench.program().binary();
    std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    is_not_configured(bench, "binary_path").await;
}

pub async fn a_model_that_is_not_there_is_named(mut bench: Bench) {
    bench.provider().model_path = Some("/nowhere/model".into());
    is_not_configured(bench, "model_path").await;
}

pub async fn without_a_model_nobody_is_called(mut bench: Bench) {
    bench.provider().model_path = None;
    is_not_configured(bench, "model_path").await;
}
