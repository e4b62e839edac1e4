//! Cases about local programs: their end, their input, and the error if they are missing.

use crate::conformance_stt::bench::Bench;
use crate::stt_cloud::speech;
use crate::vendor::fake_server::{Behavior, SECRET_BODY};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{ProviderSettings, SttId};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

pub async fn an_exit_status_of_1_is_reported_without_the_output(id: SttId) {
    let bench = Bench::new(id).await;
    bench.set_behavior(Behavior::Status(1, None));
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], id.as_str());
    assert_eq!(problem.details["retryable"], false);
    assert!(
        problem.message.contains("exited with an error"),
        "{problem:?}"
    );
    let received = format!("{problem:?}");
    assert!(
        !received.contains(SECRET_BODY) && !received.contains("/tmp"),
        "{received}"
    );
}

pub async fn what_it_says_on_standard_error_goes_nowhere(id: SttId) {
    let bench = Bench::new(id).await;
    bench.set_behavior(Behavior::Loud);
    assert_eq!(bench.heard(speech()).await.text, "Hello real world.");
}

pub async fn its_directory_does_not_stay(id: SttId) {
    let bench = Bench::new(id).await;
    bench.heard(speech()).await;
    bench.set_behavior(Behavior::BreakOff(9));
    bench.refused(speech()).await;
    let runs = bench.program().runs();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert!(!run.directory.exists(), "{}", run.directory.display());
        let option = run
            .arguments
            .iter()
            .find(|argument| argument.ends_with("audio.wav"));
        assert!(option.is_some_and(|file| file.starts_with(run.directory.to_str().unwrap())));
    }
}

pub async fn it_gets_nothing_of_the_environment(id: SttId) {
    let bench = Bench::new(id).await;
    bench.heard(speech()).await;
    let run = bench.program().runs().pop().unwrap();
    let mut ours = vec!["PATH", "PWD", "OLDPWD"];
    if id == SttId::WhisperCli {
        ours.push("OMP_WAIT_POLICY");
    }
    let mut others = run
        .variables
        .iter()
        .filter(|name| !ours.contains(&name.as_str()));
    assert_eq!(others.next(), None);
    assert!(run.variables.contains(&"PATH".to_owned()));
}

async fn is_not_configured(id: SttId, setting: &str, change: impl FnOnce(&mut ProviderSettings)) {
    let bench = Bench::open(id, |settings| {
        settings.stt.provider = Some(id);
        change(settings.stt.providers.get_mut(&id).unwrap());
    })
    .await;
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], format!("voice.stt.{id}.{setting}"));
    assert!(!problem.message.contains("/tmp"), "{problem:?}");
    assert_eq!(bench.calls(), 0);
}

pub async fn a_program_that_is_not_there_is_named(id: SttId) {
    is_not_configured(id, "binary_path", |settings| {
        settings.binary_path = Some("/nowhere/program".into());
    })
    .await;
}

pub async fn a_program_that_may_not_be_run_is_named(id: SttId) {
    is_not_configured(id, "binary_path", |settings| {
        let file = settings.binary_path.as_ref().unwrap();
        std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    })
    .await;
}

const fn model(id: SttId) -> &'static str {
    match id {
        SttId::SherpaOnnx => "model_dir",
        _ => "model_path",
    }
}

pub async fn a_model_that_is_not_there_is_named(id: SttId) {
    is_not_configured(id, model(id), |settings| {
        settings.model_path = Some("/nowhere/model".into());
    })
    .await;
}

pub async fn without_a_model_nobody_is_called(id: SttId) {
    is_not_configured(id, model(id), |settings| settings.model_path = None).await;
}
