//! Precedence of the sources, and the locations of directories and files.

use super::{Start, shown, write};
use crate::{DatabaseUrl, Environment, Invocation, Layers, LogFormat, Origin, ProviderKind, Tls};
use rstest::rstest;
use secrecy::ExposeSecret;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Checks every combination of sources for `server.bind`, which all sources can set.
#[test]
fn flag_then_environment_then_settings_then_file_then_default() {
    for bits in 0..16_u8 {
        let has = |bit: u8| bits & (1 << bit) != 0;
        let toml = if has(0) {
            "[server]\nbind = \"127.0.0.1:1\"\n"
        } else {
            ""
        };
        let mut start = Start::with_toml(toml);
        let stored = [("server.bind", json!("127.0.0.1:2"))];
        let overrides = if has(1) { &stored[..] } else { &[] };
        if has(2) {
            start = start.var("SERVICE_SERVER__BIND", "127.0.0.1:3");
        }
        if has(3) {
            start.invocation.bind = Some("127.0.0.1:4".into());
        }
        let resolved = start.resolve(overrides);
        let (port, origin) = match bits.checked_ilog2() {
            None => (8420, "default"),
            Some(0) => (1, "toml"),
            Some(1) => (2, "settings"),
            Some(2) => (3, "environment"),
            Some(_) => (4, "command_line"),
        };
        assert_eq!(resolved.settings.server.bind.port(), port, "{bits:04b}");
        let expected = (json!(format!("127.0.0.1:{port}")), origin);
        assert_eq!(shown(&resolved, "server.bind"), expected);
        assert_eq!(resolved.origin("server.bind").as_str(), origin);
        let shadowed = has(0) && bits > 1;
        assert_eq!(!resolved.shadowed.is_empty(), shadowed, "{bits:04b}");
        assert!(resolved.shadowed.iter().all(|key| key == "server.bind"));
    }
}

#[test]
fn the_defaults_are_the_contract_s() {
    let start = Start::empty();
    let resolved = start.resolve(&[]);
    let s = &resolved.settings;
    assert_eq!(s.server.bind.to_string(), "127.0.0.1:8420");
    assert_eq!(s.server.max_message_bytes, 36 * 1024 * 1024);
    assert_eq!(s.server.tls, Tls::Off);
    assert!(s.server.external_url.is_none() && s.server.allowed_origins.is_empty());
    assert!(s.proxy.trusted_cidrs.is_empty());
    assert_eq!(s.proxy.header, "x-forwarded-for");
    assert!(s.auth.vault_enabled && s.auth.step_up && !s.auth.local_setup_code);
    assert_eq!(s.auth.disabled_scope, crate::DisabledScope::All);
    assert_eq!(s.auth.kdf_concurrency, 2);
    assert!(s.vault.plaintext_while_sealed && s.vault.keep_plaintext_provider_keys);
    assert_eq!(s.audit.retention_days, 400);
    assert!(s.audit.file.is_none() && s.audit.syslog.is_none());
    assert!(!s.network.allow_private && s.metrics.enabled && s.models.autodetect);
    assert!(s.models.default.is_none() && s.models.providers.is_empty());
    assert_eq!(
        (s.log.level.as_str(), s.log.format),
        ("info", LogFormat::Text)
    );
    let DatabaseUrl::Sqlite { path } = &s.database.url else {
        panic!("not SQLite")
    };
    assert_eq!(path, &start.dir.path().join("gatehouse.db"));
    assert!(
        resolved
            .origins()
            .all(|(_, origin)| origin == Origin::Default)
    );
    assert!(resolved.shadowed.is_empty() && resolved.warnings.is_empty());
}

/// The names in a certificate are sorted. The first one in the setting is the public name.
#[test]
fn the_external_url_is_by_default_the_first_name_of_the_certificate() {
    let acme = "[server.tls.acme]\ndomains = [\"www.a.example\", \"a.example\"]\nemail = \"a@a.example\"\n";
    let external = |start: Start| {
        let resolved = start.resolve(&[]);
        let url = resolved.settings.server.external_url.as_ref();
        (
            url.map(ToString::to_string),
            resolved.origin("server.external_url"),
        )
    };
    let url = |text: &str| Some(text.to_owned());
    assert_eq!(
        external(Start::with_toml(acme)),
        (url("https://www.a.example/"), Origin::Default)
    );
    // Port 443 is forwarded to the port of the server.
    let forwarded = Start::with_toml(acme).var("SERVICE_SERVER__BIND", "0.0.0.0:8443");
    assert_eq!(external(forwarded).0, url("https://www.a.example/"));
    let given =
        Start::with_toml(acme).var("SERVICE_SERVER__EXTERNAL_URL", "https://b.example:8443");
    assert_eq!(
        external(given),
        (url("https://b.example:8443/"), Origin::Environment)
    );
    let files = Start::with_toml("[server.tls]\ncert = \"a\"\nkey = \"b\"\n");
    assert_eq!(external(files).0, None);
}

#[test]
fn an_empty_variable_is_unset() {
    let start = Start::with_toml("[auth]\nstep_up = false\n")
        .var("SERVICE_AUTH__STEP_UP", "")
        .var("SERVICE_SERVER__BIND", "  ")
        .var("SERVICE_BEHIND_PROXY", "")
        .var("SERVICE_NO__SUCH", "")
        .var("SERVICE_VAULT_AUTO_UNSEAL_KEY", " ")
        .var("SERVICE_CONFIG", "");
    let layers = start.load().unwrap();
    assert!(!layers.process().behind_proxy && layers.process().take_auto_unseal_key().is_none());
    let resolved = start.resolve(&[]);
    assert_eq!(shown(&resolved, "auth.step_up"), (json!(false), "toml"));
    assert_eq!(
        shown(&resolved, "server.bind"),
        (json!("127.0.0.1:8420"), "default")
    );
}

#[rstest]
#[case("TRUE", true)]
#[case("1", true)]
#[case("False", false)]
#[case("0", false)]
fn both_kinds_of_switches_take_every_spelling(#[case] text: &str, #[case] expected: bool) {
    let start = Start::empty()
        .var("SERVICE_NETWORK__ALLOW_PRIVATE", text)
        .var("SERVICE_BEHIND_PROXY", text)
        .var("SERVICE_TRUST_DOCKER_LOOPBACK", text);
    assert_eq!(start.resolve(&[]).settings.network.allow_private, expected);
    let layers = start.load().unwrap();
    assert_eq!(layers.process().behind_proxy, expected);
    assert_eq!(layers.process().trust_docker_loopback, expected);
}

#[test]
fn every_variable_sets_its_key() {
    for spec in crate::describe() {
        let value = match spec.kind {
            crate::Kind::Flag => "true".to_owned(),
            crate::Kind::Whole { max, .. } => max.to_string(),
            crate::Kind::Number { .. } => "0.5".to_owned(),
            crate::Kind::Variables | crate::Kind::Headers => "A=1".to_owned(),
            crate::Kind::Models => r#"{"m":{"context":1}}"#.to_owned(),
            crate::Kind::List(crate::Rule::Provider(names)) => names[0].1.to_owned(),
            _ if spec.default.eq(&crate::Initial::Unset) => spec.example.trim_matches('"').into(),
            crate::Kind::Text(_) => spec.default_json().as_str().unwrap().to_owned(),
            crate::Kind::List(crate::Rule::Origin) => "a.example:1".into(),
            crate::Kind::List(crate::Rule::DomainName) => "a.example".into(),
            crate::Kind::List(_) if spec.key == "tools.secrets" => "TOKEN:a.example".into(),
            crate::Kind::List(_) => "10.0.0.1".into(),
        };
        let key = spec.key.replace("<id>", "x");
        let mut start = Start::empty().var(&crate::env_name(&key).unwrap(), &value);
        if key == "server.tls.acme.domains" {
            start = start.var("SERVICE_SERVER__TLS__ACME__EMAIL", "a@a.example");
        }
        if matches!(key.as_str(), "server.tls.cert" | "server.tls.key") {
            let other = if key.ends_with("cert") { "KEY" } else { "CERT" };
            start = start.var(&format!("SERVICE_SERVER__TLS__{other}"), "other.pem");
        }
        if key == "mcp.servers.x.headers" {
            start = start.var("SERVICE_MCP__SERVERS__X__URL", "http://h");
        }
        if matches!(key.as_str(), "mcp.servers.x.args" | "mcp.servers.x.env") {
            start = start.var("SERVICE_MCP__SERVERS__X__COMMAND", "program");
        }
        let resolved = start.resolve(&[]);
        assert_eq!(resolved.origin(&key), Origin::Environment, "{key}");
        assert!(start.load().unwrap().fixed_by(&key).is_some(), "{key}");
    }
}

#[test]
fn the_short_names_win_over_the_long_ones() {
    let start = Start::with_toml("[log]\nlevel = \"warn\"\n")
        .var("SERVICE_LOG", "info,sqlx=error")
        .var("SERVICE_LOG__LEVEL", "debug")
        .var("SERVICE_DATABASE_URL", "sqlite://short.db")
        .var("SERVICE_DATABASE__URL", "sqlite://long.db");
    let resolved = start.resolve(&[]);
    assert_eq!(
        shown(&resolved, "log.level"),
        (json!("info,sqlx=error"), "environment")
    );
    assert_eq!(
        shown(&resolved, "database.url"),
        (json!("sqlite://short.db"), "environment")
    );
    let layers = start.load().unwrap();
    assert_eq!(
        layers.process().log_filter.as_deref(),
        Some("info,sqlx=error")
    );
    let warnings = layers.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.contains(&"SERVICE_LOG takes precedence over SERVICE_LOG__LEVEL".to_owned()));
}

#[test]
fn an_id_is_the_same_however_it_is_spelled() {
    let toml = "[models.providers.\"My-own.ai\"]\nbase_url = \"http://127.0.0.1:9\"\n\
                [models.providers.anthropic]\nmodels = [\"claude\"]\n";
    let start = Start::with_toml(toml)
        .var("SERVICE_MODELS__PROVIDERS__MY_OWN_AI__API_KEY", "sk-1")
        .var("SERVICE_MODELS__PROVIDERS__GROQ__MODELS", "a, b");
    let settings = start.resolve(&[]).settings;
    let ids: Vec<&str> = settings
        .models
        .providers
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(ids, ["My-own.ai", "anthropic", "groq"]);
    let own = &settings.models.providers["My-own.ai"];
    assert_eq!(own.base_url.as_str(), "http://127.0.0.1:9/v1");
    assert_eq!(own.api_key.as_ref().unwrap().expose_secret(), "sk-1");
    let anthropic = &settings.models.providers["anthropic"];
    assert_eq!(anthropic.kind, ProviderKind::Anthropic);
    assert_eq!(anthropic.base_url.as_str(), "https://api.anthropic.com/v1");
    assert_eq!(settings.models.providers["groq"].models, ["a", "b"]);
    assert_eq!(settings.models.providers["groq"].kind, ProviderKind::Openai);
}

#[rstest]
#[case(Some("/flag"), Some("/var"), Some("/xdg"), "/flag")]
#[case(None, Some("/var"), Some("/xdg"), "/var")]
#[case(None, None, Some("/xdg"), "/xdg/gatehouse")]
#[case(None, None, Some("relative"), "/home/me/.local/share/gatehouse")]
#[case(None, None, None, "/home/me/.local/share/gatehouse")]
fn the_data_directory(
    #[case] flag: Option<&str>,
    #[case] variable: Option<&str>,
    #[case] xdg: Option<&str>,
    #[case] expected: &str,
) {
    let pairs = [
        ("SERVICE_DATA_DIR", variable),
        ("XDG_DATA_HOME", xdg),
        ("HOME", Some("/home/me")),
    ];
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name, value.unwrap_or("")));
    let invocation = Invocation {
        data_dir: flag.map(PathBuf::from),
        ..Invocation::default()
    };
    let layers = Layers::load(&Environment::from_pairs(pairs), &invocation).unwrap();
    assert_eq!(layers.data_dir(), Path::new(expected));
    assert_eq!(
        layers.config_path(),
        Path::new(expected).join("gatehouse.toml")
    );
}

#[test]
fn without_a_home_there_is_no_data_directory() {
    let none = Environment::from_pairs([("XDG_DATA_HOME", "")]);
    let error = Layers::load(&none, &Invocation::default()).unwrap_err();
    assert!(error.to_string().contains("--data-dir"), "{error}");
}

#[test]
fn the_file_is_named_by_flag_then_variable() {
    let mut start = Start::with_toml("[server]\nbind = \"127.0.0.1:1\"\n");
    let other = start.dir.path().join("other.toml");
    write(&other, "[server]\nbind = \"127.0.0.1:2\"\n");
    start = start.var("SERVICE_CONFIG", other.to_str().unwrap());
    assert_eq!(start.resolve(&[]).settings.server.bind.port(), 2);
    start.invocation.config = Some(start.dir.path().join("missing.toml"));
    assert_eq!(start.resolve(&[]).settings.server.bind.port(), 8420);
    assert_eq!(start.load().unwrap().warnings().len(), 1);
}

#[test]
fn nothing_of_a_secret_is_in_debug_text() {
    let start = Start::with_toml("[models.providers.a]\napi_key = \"hunter2\"\n")
        .var("SERVICE_DATABASE_URL", "postgres://u:hunter2@h/db")
        .var("SERVICE_VAULT_AUTO_UNSEAL_KEY", "hunter2");
    let environment = Environment::from_pairs(start.variables.clone());
    let url = Some("hunter2".to_owned());
    let invocation = Invocation {
        database_url: url,
        ..Invocation::default()
    };
    let resolved = start.resolve(&[]);
    let debug = format!(
        "{environment:?} {invocation:?} {:?} {resolved:?} {:?} {:?}",
        start.load(),
        resolved.settings.database.url,
        resolved.values(None),
    );
    assert!(!debug.contains("hunter2"), "{debug}");
    assert!(debug.contains("postgres://u:••••@h/db"), "{debug}");
}

/// The old name of a setting works like the new one, with a warning. Using both names is an error.
#[test]
fn a_setting_that_was_renamed_is_taken_by_its_old_name_with_a_warning() {
    let workers = |start: &Start| {
        let resolved = start.resolve(&[]);
        let layers = start.load().unwrap();
        let warned = layers.warnings().iter().any(|it| it.contains("old name"));
        (resolved.settings.webhooks.agent_workers, warned)
    };
    assert_eq!(workers(&Start::empty()), (4, false));
    let old = Start::with_toml("[webhooks]\nworkers = 7\n");
    assert_eq!(workers(&old), (7, true));
    let new = Start::with_toml("[webhooks]\nagent_workers = 7\n");
    assert_eq!(workers(&new), (7, false));
    let variable = Start::empty().var("SERVICE_WEBHOOKS__WORKERS", "9");
    assert_eq!(workers(&variable), (9, true));
    let variable = Start::empty().var("SERVICE_WEBHOOKS__AGENT_WORKERS", "9");
    assert_eq!(workers(&variable), (9, false));
    let stored = Start::empty().resolve(&[("webhooks.workers", json!(5))]);
    assert_eq!(stored.settings.webhooks.agent_workers, 5);
    assert_eq!(shown(&stored, "webhooks.workers").0, json!(5));

    let both = Start::with_toml("[webhooks]\nworkers = 7\nagent_workers = 7\n").error();
    assert!(both.to_string().contains("the same setting"), "{both}");
    let both = Start::empty()
        .var("SERVICE_WEBHOOKS__WORKERS", "9")
        .var("SERVICE_WEBHOOKS__AGENT_WORKERS", "9")
        .error();
    assert!(both.to_string().contains("the same setting"), "{both}");
}
