//! Tests of the parent module.

use super::*;
use gatehouse_sources::profile;

fn forwarding() -> WebhookConfig {
    WebhookConfig {
        deliver_only: true,
        deliver_to: Some("slack:ops".to_owned()),
        deliver_extra: Some(BTreeMap::from([("channel".to_owned(), "C1".to_owned())])),
        prompt_template: Some("{text}".to_owned()),
        ..WebhookConfig::new(profile::generic())
    }
}

fn applied(edit: &Edit, mut config: WebhookConfig) -> WebhookConfig {
    edit.apply(&mut config);
    config
}

#[test]
fn an_edited_payload_keeps_the_target() {
    let edit = Edit {
        payload: Some("{}".to_owned()),
        ..Edit::default()
    };
    assert_eq!(applied(&edit, forwarding()), forwarding());
}

#[test]
fn another_channel_keeps_the_template_and_drops_what_named_a_place_in_the_first() {
    let edit = Edit {
        deliver_to: Some("inbox".to_owned()),
        ..Edit::default()
    };
    let config = applied(&edit, forwarding());
    assert_eq!(config.queue_target(), "inbox");
    assert_eq!(config.prompt_template.as_deref(), Some("{text}"));
    assert_eq!(config.deliver_extra, None);
}

#[test]
fn a_template_that_is_json_goes_to_channels_that_take_json_only() {
    let json = || WebhookConfig {
        deliver_to: Some("http:a".to_owned()),
        deliver_extra: None,
        prompt_template: Some("\"{text}\"".to_owned()),
        template_format: TemplateFormat::Json,
        ..forwarding()
    };
    let to = |target: &str| Edit {
        deliver_to: Some(target.to_owned()),
        ..Edit::default()
    };
    let config = applied(&to("http:b"), json());
    assert_eq!(config.template_format, TemplateFormat::Json);
    assert_eq!(config.template(), "\"{text}\"");
    let config = applied(&to("inbox"), json());
    assert_eq!(config.template_format, TemplateFormat::Text);
    assert_eq!(config.template(), "{__raw__}");
    let with_agent = Edit {
        agent: Some("agent_1".to_owned()),
        ..to("http:a")
    };
    let config = applied(&with_agent, json());
    assert_eq!(config.template_format, TemplateFormat::Text);
    assert_eq!(config.template(), "{answer}");
}

#[test]
fn an_agent_gets_no_template_of_payloads_and_no_model_of_another_agent() {
    let before = WebhookConfig {
        model: Some("big".to_owned()),
        ..forwarding()
    };
    let edit = Edit {
        agent: Some("agent_1".to_owned()),
        ..Edit::default()
    };
    let config = applied(&edit, before);
    assert_eq!((config.queue_target(), config.answer_target()), ("", None));
    assert_eq!(config.template(), "{answer}");
    assert_eq!(
        (config.model, config.agent.as_deref()),
        (None, Some("agent_1"))
    );
    let with_answer = Edit {
        deliver_to: Some("inbox".to_owned()),
        ..edit
    };
    let config = applied(&with_answer, forwarding());
    assert_eq!(config.answer_target(), Some("inbox"));
}
