//! Run-time changes: which may be stored, how stored changes are applied, and how they are shown.

use super::{Start, map, shown};
use crate::{MASK, SetError, StartValues, Tls, check_key};
use gatehouse_domain::{ErrorCode, Problem};
use rstest::rstest;
use serde_json::{Value, json};

fn check(start: &Start, key: &str, value: &Value) -> Result<(), SetError> {
    start
        .load()
        .unwrap()
        .check_set(key, value, &map(&[]))
        .map(drop)
}

#[test]
fn a_right_value_may_be_stored_and_null_takes_it_back() {
    let start = Start::with_toml("[auth]\nstep_up = true\n");
    for (key, value) in [
        ("auth.step_up", json!(false)),
        ("server.bind", json!("0.0.0.0:1")),
        ("server.external_url", json!("https://gate.example")),
        (
            "models.providers.new.base_url",
            json!("https://api.example/v2"),
        ),
        ("auth.step_up", json!(null)),
    ] {
        assert_eq!(check(&start, key, &value), Ok(()), "{key}");
    }
    let resolved = start.resolve(&[("auth.step_up", json!(null))]);
    assert_eq!(shown(&resolved, "auth.step_up"), (json!(true), "toml"));
}

#[rstest]
#[case("auth.stepup", json!(true), Some("key"), "(did you mean `auth.step_up`?).")]
#[case("auth.step_up", json!(false), None, "the environment")]
#[case("auth.step_up", json!(null), None, "the environment")]
#[case("server.bind", json!("127.0.0.1:2"), None, "the command line")]
#[case("auth.kdf_concurrency", json!(65), Some("value"), "1 to 64")]
#[case("auth.vault_enabled", json!(false), Some("key"), "vault disable")]
#[case("auth.vault_enabled", json!(null), Some("key"), "vault disable")]
#[case("database.url", json!("sqlite://x"), Some("key"), "database")]
#[case("server.tls.cert", json!("x"), Some("key"), "together")]
#[case("models.providers.a.api_key", json!("hunter2"), Some("key"), "providers.set_key")]
fn each_refusal_says_what_a_caller_may_see(
    #[case] key: &str,
    #[case] value: Value,
    #[case] field: Option<&str>,
    #[case] message: &str,
) {
    let mut start = Start::empty().var("SERVICE_AUTH__STEP_UP", "true");
    start.invocation.bind = Some("127.0.0.1:1".into());
    let problem = Problem::from(check(&start, key, &value).unwrap_err());
    let code = if field.is_some() {
        ErrorCode::InvalidParams
    } else {
        ErrorCode::Conflict
    };
    assert_eq!(problem.code, code);
    assert_eq!(problem.details.get("field").and_then(Value::as_str), field);
    assert!(problem.message.contains(message), "{}", problem.message);
    assert!(!problem.message.contains("hunter2"));
}

#[test]
fn what_is_wrong_together_is_refused() {
    let start = Start::with_toml("[server.tls]\ncert = \"a\"\nkey = \"b\"\n");
    let refused = check(&start, "server.tls.self_signed", &json!(true));
    assert!(
        matches!(refused, Err(SetError::Invalid { .. })),
        "{refused:?}"
    );
    assert_eq!(
        check(&Start::empty(), "server.tls.self_signed", &json!(true)),
        Ok(())
    );
}

#[test]
fn a_stored_change_that_no_longer_holds_is_skipped() {
    let start =
        Start::with_toml("[auth]\nkdf_concurrency = 3\n[server.tls]\ncert=\"a\"\nkey=\"b\"\n");
    let resolved = start.resolve(&[
        ("auth.kdf_concurrency", json!("many")),
        ("auth.gone", json!(1)),
        ("auth.step_up", json!(false)),
        ("auth.vault_enabled", json!(false)),
        ("database.url", json!("sqlite://elsewhere.db")),
        ("server.tls.self_signed", json!(true)),
    ]);
    assert_eq!(resolved.settings.auth.kdf_concurrency, 3);
    assert!(!resolved.settings.auth.step_up && !resolved.settings.auth.vault_enabled);
    assert_eq!(resolved.origin("database.url").as_str(), "default");
    let Tls::Files { cert, .. } = &resolved.settings.server.tls else {
        panic!("not the files")
    };
    assert_eq!(cert, &start.dir.path().join("a"));
    assert_eq!(resolved.warnings.len(), 4, "{:?}", resolved.warnings);
    assert!(
        resolved.warnings[0].contains("`auth.gone`"),
        "{:?}",
        resolved.warnings
    );
}

#[test]
fn the_environment_beats_a_stored_change_even_of_the_vault() {
    let start = Start::empty().var("SERVICE_AUTH__VAULT_ENABLED", "1");
    assert!(
        start
            .resolve(&[("auth.vault_enabled", json!(false))])
            .settings
            .auth
            .vault_enabled
    );
    let fixed = start.load().unwrap().fixed_by("auth.vault_enabled");
    assert_eq!(fixed.map(crate::Origin::as_str), Some("environment"));
}

#[test]
fn an_id_that_only_the_database_knows_still_takes_its_variable() {
    let start = Start::empty().var("SERVICE_MODELS__PROVIDERS__MY_AI__KIND", "anthropic");
    let stored = [("models.providers.my-ai.models", json!(["m"]))];
    let resolved = start.resolve(&stored);
    let providers = &resolved.settings.models.providers;
    assert_eq!(providers.keys().collect::<Vec<_>>(), ["my-ai"]);
    assert_eq!(
        shown(&resolved, "models.providers.my-ai.kind"),
        (json!("anthropic"), "environment")
    );
    assert_eq!(
        shown(&resolved, "models.providers.my-ai.models"),
        (json!(["m"]), "settings")
    );
    let url = json!("https://api.anthropic.com/v1");
    assert_eq!(
        shown(&resolved, "models.providers.my-ai.base_url"),
        (url, "default")
    );
}

#[test]
fn values_are_shown_by_key_or_section_with_secrets_masked() {
    let start = Start::with_toml("[models.providers.a]\napi_key = \"hunter2\"\n");
    let resolved = start.resolve(&[]);
    let by = |keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        resolved
            .values(Some(&keys))
            .into_iter()
            .map(|value| value.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(by(&["auth"]).len(), 6);
    assert_eq!(by(&["auth.step_up", "nothing"]), ["auth.step_up"]);
    assert_eq!(
        by(&["models.providers.b.kind"]),
        ["models.providers.b.kind"]
    );
    assert_eq!(by(&["aut"]).len(), 0);
    assert_eq!(
        shown(&resolved, "models.providers.a.api_key"),
        (json!(MASK), "toml")
    );
    let all = serde_json::to_value(resolved.values(None)).unwrap();
    assert!(!all.to_string().contains("hunter2"));
    let secret = json!({
        "key": "models.providers.a.api_key", "value": MASK, "origin": "toml", "secret": true,
    });
    assert!(all.as_array().unwrap().contains(&secret), "{all}");
    for (key, known) in [
        ("auth", true),
        ("auth.step_up", true),
        ("server.tls", true),
        ("aut", false),
        ("auth.x", false),
        ("", false),
    ] {
        assert_eq!(check_key(key).is_ok(), known, "{key}");
    }
}

#[test]
fn a_changed_value_of_a_start_is_pending_until_it_is_taken_back() {
    let start = Start::with_toml("[log]\nlevel = \"warn\"\n");
    let before = StartValues::of(&start.resolve(&[]));
    let pending = |changes: &[(&str, Value)]| before.changed(&start.resolve(changes));
    assert_eq!(pending(&[]), Vec::<String>::new());
    let changes = [
        ("server.max_message_bytes", json!(1_000_000)),
        ("log.level", json!("debug")),
        // This setting takes effect immediately.
        ("auth.step_up", json!(false)),
    ];
    assert_eq!(pending(&changes), ["log.level", "server.max_message_bytes"]);
    // A run-time change to the value that the process started with is not pending, even if the source differs.
    assert!(pending(&[("log.level", json!("warn"))]).is_empty());
    assert_eq!(format!("{before:?}"), "StartValues { .. }");
}
