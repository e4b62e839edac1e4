//! Turns whose model has its key in a sealed vault.

use crate::harness::{Harness, chat, models_over, open_secrets, problem_of, webhook};
use gatehouse_agents::{Agents, AgentsParts, AgentsSettings};
use gatehouse_domain::{Actor, SystemRandom};
use gatehouse_models::{ModelsSettings, ProviderKind, ProviderSettings};
use secrecy::SecretString;
use std::sync::Arc;

#[tokio::test]
async fn a_webhooks_text_waits_outside_until_the_vault_is_open() {
    let harness = Harness::new().await;
    let open = async || open_secrets(&harness.store, &harness.database, &harness.clock, true).await;
    let password = || SecretString::from("the first password");
    let secrets = open().await;
    let actor = Actor::cli();
    secrets.initialize(&actor, password()).await.unwrap();
    // The address must not be local, because local servers are called without a key.
    let far = "https://models.example.com/v1";
    let key = SecretString::from("sk-stored");
    let set = secrets.set_provider_key(&actor, "fake", key, ("openai", far));
    set.await.unwrap();

    // Simulates a restart.
    let secrets = open().await;
    let settings = |url: &str| {
        let provider = ProviderSettings {
            models: vec!["m1".to_owned()],
            ..ProviderSettings::new(ProviderKind::Openai, url.parse().unwrap())
        };
        ModelsSettings {
            providers: [("fake".to_owned(), provider)].into(),
            default: Some("fake/m1".to_owned()),
            ..ModelsSettings::default()
        }
    };
    let models = models_over(secrets.clone(), &harness.clock, settings(far));
    let parts = AgentsParts {
        models: models.clone(),
        store: harness.store.clone(),
        clock: harness.clock.clone(),
        random: Arc::new(SystemRandom),
        tracer: gatehouse_domain::trace::Tracer::default(),
    };
    let agents = Agents::open(parts, AgentsSettings::default())
        .await
        .unwrap();
    for _ in 0..2 {
        let refused = agents.send_sync(webhook("webhook:a", "event", None)).await;
        assert_eq!(problem_of(refused.unwrap_err()).0, "VAULT_SEALED");
    }
    assert!(harness.spoken("webhook:a").await.is_empty());
    // A person's text is stored as usual.
    let report = agents.send_sync(chat(None, "hello")).await.unwrap();
    assert_eq!(problem_of(report.error.unwrap()).0, "VAULT_SEALED");
    let spoken = harness.spoken(report.session.as_str()).await;
    assert_eq!(spoken[1].1, "", "only the reason is stored");

    let unsealed = secrets.unseal_with_password(&actor, &password()).await;
    unsealed.unwrap();
    let near = harness.model.url.as_str();
    let key = SecretString::from("sk-stored");
    let set = secrets.set_provider_key(&actor, "fake", key, ("openai", near));
    set.await.unwrap();
    models.update_settings(settings(near));
    let report = agents.send_sync(webhook("webhook:a", "event", None)).await;
    assert!(report.unwrap().error.is_none());
    let spoken: Vec<_> = harness.spoken("webhook:a").await;
    let texts: Vec<_> = spoken.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["event", "ok"]);
}
