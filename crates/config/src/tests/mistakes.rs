//! Each kind of mistake and its error text.

use super::Start;
use proptest::prelude::*;
use rstest::rstest;

#[test]
fn a_settings_file_that_cannot_be_read_is_an_error() {
    let start = Start::empty();
    let path = start.dir.path().join("gatehouse.toml");
    std::os::unix::fs::symlink("missing.toml", &path).unwrap();
    let expected = "gatehouse.toml: this is a link to a file that does not exist";
    assert_eq!(start.error().to_string(), expected);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let reason = "cannot be read: Is a directory (os error 21)";
    let expected = format!("{}: {reason}", path.display());
    assert_eq!(start.error().to_string(), expected);
}

#[rstest]
#[case(
    "\n\n[server]\n# x\n\n\nbnid = \"127.0.0.1:1\"\n",
    "gatehouse.toml line 7: unknown key `server.bnid`; did you mean `server.bind`?"
)]
#[case(
    "bind = \"127.0.0.1:1\"\n",
    "gatehouse.toml line 1: unknown key `bind`; did you mean `server.bind`?"
)]
#[case(
    "[auth]\nstep_up = true\n[sever]\nbind = \"x\"\n",
    "gatehouse.toml line 3: unknown key `sever`; did you mean `server`?"
)]
#[case(
    "[tls]\ncert = \"x\"\n",
    "gatehouse.toml line 1: unknown key `tls`; did you mean `server.tls`?"
)]
#[case(
    "[models.providers.foo]\nbaseurl = \"x\"\n",
    "gatehouse.toml line 2: unknown key `models.providers.foo.baseurl`; \
        did you mean `models.providers.foo.base_url`?"
)]
#[case(
    "server = { tls = { crt = \"x\" } }\n",
    "gatehouse.toml line 1: unknown key `server.tls.crt`; did you mean `server.tls.cert`?"
)]
#[case(
    "server.bind = 8420\n",
    "gatehouse.toml line 1: invalid `server.bind`: expected a string"
)]
#[case(
    "[server]\nbind = \"8420\"\n",
    "gatehouse.toml line 2: invalid `server.bind`: \
        expected an IP address and a port, such as 127.0.0.1:8420"
)]
#[case(
    "[auth]\nvault_enabled = \"true\"\n",
    "gatehouse.toml line 2: invalid `auth.vault_enabled`: expected true or false"
)]
#[case(
    "[auth]\r\ndisabled_scope = \"none\"\r\n",
    "gatehouse.toml line 2: invalid `auth.disabled_scope`: expected all or local"
)]
#[case(
    "[auth]\nkdf_concurrency = 65\n",
    "gatehouse.toml line 2: invalid `auth.kdf_concurrency`: \
        expected a whole number from 1 to 64"
)]
#[case(
    "[auth]\nkdf_concurrency = 99999999999999999999\n",
    "gatehouse.toml line 2: invalid `auth.kdf_concurrency`: \
        expected a whole number from 1 to 64"
)]
#[case(
    "[auth]\nkdf_concurrency = 0\n[server]\nbnid = 1\n",
    "gatehouse.toml line 2: invalid `auth.kdf_concurrency`: \
        expected a whole number from 1 to 64"
)]
#[case(
    "[proxy]\ntrusted_cidrs = [\n  \"10.0.0.0/8\",\n  \"10.0.0.0/33\",\n]\n",
    "gatehouse.toml line 2: invalid `proxy.trusted_cidrs`: \
        expected an IP address or a network, such as 10.0.0.0/8"
)]
#[case(
    "[models.providers.\"a b\"]\nkind = \"openai\"\n",
    "gatehouse.toml line 1: invalid `models.providers.a b`: \
        a name has 1 to 64 letters, digits, underscores, dots or hyphens"
)]
#[case(
    "[server]\ntls = true\n",
    "gatehouse.toml line 2: invalid `server.tls`: expected a table"
)]
#[case(
    "[server.tls]\ncert = \"a.pem\"\n",
    "gatehouse.toml line 2: invalid `server.tls.cert`: `server.tls.key` is also required"
)]
#[case(
    "[server.tls]\nkey = \"a.pem\"\n",
    "gatehouse.toml line 2: invalid `server.tls.key`: `server.tls.cert` is also required"
)]
#[case(
    "[server.tls]\ncert = \"a\"\nkey = \"b\"\nself_signed = true\n",
    "gatehouse.toml line 4: invalid `server.tls.self_signed`: \
        a certificate is configured; use only one of the two"
)]
#[case(
    "[server.tls]\nself_signed = true\nacme = { domains = [\"a.example\"], email = \"a@a.example\" }\n",
    "gatehouse.toml line 3: invalid `server.tls.acme.domains`: \
        `server.tls.self_signed` is set; use only one of the two"
)]
#[case(
    "[server.tls]\ncert = \"a\"\nkey = \"b\"\nacme = { domains = [\"a.example\"], email = \"a@a.example\" }\n",
    "gatehouse.toml line 4: invalid `server.tls.acme.domains`: \
        a certificate is configured; use only one of the two"
)]
#[case(
    "[server.tls.acme]\ndomains = [\"a.example\"]\n",
    "gatehouse.toml line 2: invalid `server.tls.acme.domains`: `server.tls.acme.email` is also required"
)]
#[case(
    "[server.tls.acme]\ndomains = [\"*.a.example\"]\nemail = \"a@a.example\"\n",
    "gatehouse.toml line 2: invalid `server.tls.acme.domains`: \
        a wildcard cannot be verified by TLS-ALPN-01; list each name"
)]
#[case(
    "[server.tls.acme]\ndomains = [\"a.example\"]\nemail = \"a@a.example\"\ndirectory = \"http://ca.example/dir\"\n",
    "gatehouse.toml line 4: invalid `server.tls.acme.directory`: expected an https URL"
)]
fn in_the_file(#[case] toml: &str, #[case] expected: &str) {
    assert_eq!(Start::with_toml(toml).error().to_string(), expected);
}

#[rstest]
#[case(
    "SERVICE_SERVER__BNID",
    "x",
    "environment: unknown variable `SERVICE_SERVER__BNID`; \
        did you mean `SERVICE_SERVER__BIND`?"
)]
#[case(
    "SERVICE_SERVER__TLS_CERT",
    "x",
    "environment: unknown variable `SERVICE_SERVER__TLS_CERT`; \
        did you mean `SERVICE_SERVER__TLS__CERT`?"
)]
#[case(
    "SERVICE_AUTH__STEP_UP",
    "yes",
    "SERVICE_AUTH__STEP_UP: expected true, 1, false or 0"
)]
#[case(
    "SERVICE_BEHIND_PROXY",
    "on",
    "SERVICE_BEHIND_PROXY: expected true, 1, false or 0"
)]
#[case(
    "SERVICE_AUTH__KDF_CONCURRENCY",
    "two",
    "SERVICE_AUTH__KDF_CONCURRENCY: expected a whole number from 1 to 64"
)]
#[case(
    "SERVICE_DATABASE_URL",
    "mysql://u:hunter2@h/db",
    "SERVICE_DATABASE_URL: expected sqlite://path or postgres://user@host/name"
)]
#[case(
    "SERVICE_LOG",
    "loud",
    "SERVICE_LOG: expected off, error, warn, info, debug or trace, \
        or a list such as info,hyper=warn"
)]
#[case(
    "SERVICE_URL",
    "localhost",
    "SERVICE_URL: expected a URL such as https://gatehouse.example.com"
)]
#[case(
    "SERVICE_SERVER__TLS__KEY",
    "a.pem",
    "SERVICE_SERVER__TLS__KEY: invalid `server.tls.key`: \
        `server.tls.cert` is also required"
)]
fn in_the_environment(#[case] name: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(
        Start::empty().var(name, value).error().to_string(),
        expected
    );
}

#[test]
fn in_a_flag() {
    let mut start = Start::empty();
    start.invocation.bind = Some(String::new());
    let expected = "--bind: invalid `server.bind`: \
                    expected an IP address and a port, such as 127.0.0.1:8420";
    assert_eq!(start.error().to_string(), expected);
}

#[test]
fn the_parts_of_an_error_are_fields() {
    let error = Start::with_toml("[server]\nbnid = 1\n").error();
    assert_eq!(error.line, Some(2));
    assert_eq!(error.key.as_deref(), Some("server.bnid"));
    assert_eq!(error.suggestion.as_deref(), Some("server.bind"));
}

#[test]
fn broken_toml_names_its_line_and_does_not_repeat_it() {
    let error = Start::with_toml("[models.providers.a]\n\napi_key = \"hunter2\n").error();
    assert_eq!(error.line, Some(3), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let twice = Start::with_toml("[auth]\nstep_up = true\nstep_up = true\n").error();
    assert_eq!(twice.line, Some(3), "{twice}");
    assert!(twice.to_string().contains("duplicate"), "{twice}");
}

#[test]
fn a_wrong_secret_is_not_repeated() {
    for toml in ["api_key = \"hunter2\\nhunter2\"", "api_key = [\"hunter2\"]"] {
        let error = Start::with_toml(&format!("[models.providers.a]\n{toml}\n")).error();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn variables_without_two_underscores_are_only_warned_of() {
    let start = Start::empty()
        .var("SERVICE_HOST", "10.0.0.1")
        .var("SERVICE_BEHIND_PROXI", "true")
        .var("OTHER__THING", "x");
    let layers = start.load().unwrap();
    assert_eq!(
        layers.warnings(),
        [
            "environment: unknown variable `SERVICE_BEHIND_PROXI` is ignored; \
         did you mean `SERVICE_BEHIND_PROXY`?",
            "environment: unknown variable `SERVICE_HOST` is ignored",
        ]
    );
}

#[cfg(unix)]
#[test]
fn text_that_is_not_utf8_is_an_error() {
    use std::os::unix::ffi::OsStringExt as _;
    let bytes = std::ffi::OsString::from_vec(vec![0xff]);
    let name = "SERVICE_AUTH__STEP_UP".into();
    let environment =
        crate::Environment::from_pairs([(name, bytes), ("HOME".into(), "/home/me".into())]
            as [(std::ffi::OsString, std::ffi::OsString); 2]);
    let error = crate::Layers::load(&environment, &crate::Invocation::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "SERVICE_AUTH__STEP_UP: expected UTF-8 text"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = crate::file::read("x", &text);
    }

    #[test]
    fn no_text_that_is_nearly_toml_panics(
        lines in proptest::collection::vec(
            (
                proptest::sample::select(vec![
                    "[server]", "[server.tls]", "[models.providers.a]", "[[models]]", "bind",
                    "server", "tls", "\"\"", "models.providers.\"a.b\".kind", "database.url",
                ]),
                proptest::sample::select(vec![
                    "", "= 1", "= 0xffffffffffffffffffff", "= nan", "= []", "= {}", "= \"%\"",
                    "= 1979-05-27", "= [[[\"a\"]]]", "= \"sqlite://%é\"", "= '[::1]:1'", "= {a=",
                ]),
            ),
            0..6,
        )
    ) {
        let lines: Vec<String> =
            lines.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let text = lines.join("
");
        if let Err(error) = crate::file::read("x", &text) {
            prop_assert!(error.line.is_none_or(|line| line <= text.lines().count() + 1));
        }
    }

    #[test]
    fn no_variable_panics(value in "\\PC{0,40}", which in 0..crate::describe().len()) {
        let _ = crate::value::from_text(crate::describe()[which].kind, &value);
    }

    #[test]
    fn what_is_accepted_is_in_its_last_form(value in "[a-z0-9:/.%@\\[\\], -]{0,24}", which in 0..crate::describe().len()) {
        let kind = crate::describe()[which].kind;
        if let Ok(once) = crate::value::from_text(kind, &value) {
            prop_assert_eq!(crate::value::from_json(kind, &once), Ok(once.clone()));
        }
    }
}
