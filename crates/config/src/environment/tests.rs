//! Tests of the parent module.

use super::*;

#[test]
fn secrets_are_shown_by_name_and_a_database_url_by_its_engine() {
    let environment = Environment::from_pairs([
        ("SERVICE_VAULT_AUTO_UNSEAL_KEY", "a"),
        ("SERVICE_API_KEY", "b"),
        ("OPENAI_API_KEY", "c"),
        ("SERVICE_MODELS__PROVIDERS__LOCAL__API_KEY", "d"),
        ("SERVICE_DATABASE_URL", "postgres://u:p@h/d"),
        ("SERVICE_DATABASE__URL", "sqlite:///d/gatehouse.db"),
        ("SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE", "/run/key"),
        ("SERVICE_SERVER__BIND", "127.0.0.1:1"),
        ("PATH", "/bin"),
        ("SOMEBODY_ELSES_API_KEY", "e"),
    ]);
    let names: Vec<_> = environment.secrets().map(|(name, _)| name).collect();
    let expected = [
        "OPENAI_API_KEY",
        "SERVICE_API_KEY",
        "SERVICE_DATABASE_URL",
        "SERVICE_MODELS__PROVIDERS__LOCAL__API_KEY",
        "SERVICE_VAULT_AUTO_UNSEAL_KEY",
    ];
    assert_eq!(names, expected);
}

#[test]
fn moved_variables_are_as_if_they_had_never_left() {
    let (name, value) = Environment::on_stdin();
    let mut environment = Environment::from_pairs([(name, value), ("SERVICE_LOG", "info")]);
    assert!(environment.secrets_are_on_stdin());
    environment.extend([("OPENAI_API_KEY", "k"), ("SOMEBODY_ELSES", "x")]);
    assert!(environment.is_set("OPENAI_API_KEY") && environment.is_set("SERVICE_LOG"));
    assert!(!environment.is_set("SOMEBODY_ELSES"));
}
