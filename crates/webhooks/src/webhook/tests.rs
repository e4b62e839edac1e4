//! Tests of the parent module.

use super::*;
use gatehouse_sources::AuthMode;

#[test]
fn sessions_are_named_as_specified() {
    let mut config = WebhookConfig::new(profile::generic());
    let delivery = DeliveryId::from_text("del_1");
    let label = |config: &WebhookConfig, entity| config.session_of("wh_a", &delivery, entity);
    assert_eq!(label(&config, Some("e:1")), "webhook:wh_a:del_1");
    config.session_mode = SessionMode::PerEntity;
    assert_eq!(label(&config, Some("e:1")), "webhook:wh_a:e:1");
    assert_eq!(label(&config, None), "webhook:wh_a:del_1");
    config.session_mode = SessionMode::NamedSession;
    assert_eq!(label(&config, Some("e:1")), "webhook:wh_a");
    config.session_key = Some("ops".to_owned());
    assert_eq!(label(&config, None), "ops");
}

#[test]
fn a_configuration_survives_its_column_and_its_copy_has_no_auth() {
    let stored = StoredConfig {
        auth: AuthConfig {
            mode: AuthMode::STATIC_HEADER,
            header: Some(DEFAULT_HEADER.to_owned()),
            secret_hint: Some("…abcd".to_owned()),
            is_generated: false,
        },
        paused: true,
        webhook: WebhookConfig::new(profile::generic()),
    };
    let text = serde_json::to_string(&stored).unwrap();
    assert_eq!(serde_json::from_str::<StoredConfig>(&text).unwrap(), stored);
    let copy = Snapshot {
        public_id: "wh_a".to_owned(),
        name: "n".to_owned(),
        config: stored.webhook,
    };
    let text = serde_json::to_string(&copy).unwrap();
    assert!(!text.contains("auth") && !text.contains("abcd"), "{text}");
    assert!(!text.contains("paused"), "{text}");
    assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), copy);
}
