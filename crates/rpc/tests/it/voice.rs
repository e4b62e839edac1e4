//! `tts.*`, `stt.*` and `voice.personas.*` in the method table. The tests over HTTP cover their behavior.

#[cfg(feature = "voice")]
use crate::harness::Harness;
use gatehouse_rpc::METHODS;
#[cfg(feature = "voice")]
use serde_json::json;

const SUBJECTS: [&str; 3] = ["tts.", "stt.", "voice."];

fn methods_of_voice() -> Vec<&'static str> {
    METHODS
        .iter()
        .map(|method| method.name)
        .filter(|name| SUBJECTS.iter().any(|subject| name.starts_with(subject)))
        .collect()
}

#[cfg(not(feature = "voice"))]
#[test]
fn without_voice_there_are_no_such_methods() {
    assert_eq!(methods_of_voice(), Vec::<&str>::new());
}

#[cfg(feature = "voice")]
#[test]
fn every_method_of_the_specification_is_there() {
    assert_eq!(
        methods_of_voice(),
        [
            "tts.status",
            "tts.providers",
            "tts.enable",
            "tts.disable",
            "tts.convert",
            "tts.setProvider",
            "stt.status",
            "stt.providers",
            "stt.transcribe",
            "stt.setProvider",
            "voice.test",
            "voice.personas.list",
            "voice.personas.get",
            "voice.personas.create",
            "voice.personas.update",
            "voice.personas.delete",
            "voice.personas.set_active",
        ]
    );
}

/// Writes a row as another node would and applies it as a node does after a notification.
#[cfg(feature = "voice")]
#[tokio::test]
async fn a_change_on_another_node_applies_and_is_published_here() {
    use tokio_util::sync::CancellationToken;
    use tokio_util::task::TaskTracker;
    let harness = Harness::new().await;
    let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
    gatehouse_rpc::events::bridge(&harness.rpc, &shutdown, &tasks).await;
    let mut events = harness.rpc.events().subscribe();
    let write = async |key: &'static str, value: serde_json::Value| {
        let (store, now) = (
            harness.services().store.clone(),
            harness.services().clock.now(),
        );
        let written: Result<(), gatehouse_store::StoreError> = store
            .write(move |conn| Box::pin(async move { conn.update_setting(key, &value, now).await }))
            .await;
        written.unwrap();
        harness.services().apply_settings().await.unwrap();
    };
    write("voice.tts.provider", json!("tts_local_1")).await;
    let event = events.recv().await.unwrap();
    assert_eq!(event.name, "voice.settings");
    assert!(
        event.frame.contains(r#""provider":"tts_local_1""#),
        "{}",
        event.frame
    );
    let status = harness.call("tts.status", json!({})).await;
    assert_eq!(status["provider"], "tts_local_1");
    // Changes that do not affect voice are not reported.
    write("models.autodetect", json!(false)).await;
    write("voice.tts.enabled", json!(false)).await;
    let event = events.recv().await.unwrap();
    assert!(
        event.frame.contains(r#""enabled":false"#),
        "{}",
        event.frame
    );
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
}
