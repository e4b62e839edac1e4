use super::*;
use rstest::rstest;
use serde_json::json;

#[rstest]
#[case("true", Some(true))]
#[case("TRUE", Some(true))]
#[case("True", Some(true))]
#[case("1", Some(true))]
#[case("false", Some(false))]
#[case("FALSE", Some(false))]
#[case("fAlse", Some(false))]
#[case("0", Some(false))]
#[case("yes", None)]
#[case("on", None)]
#[case("2", None)]
#[case("01", None)]
#[case("truee", None)]
fn booleans(#[case] text: &str, #[case] expected: Option<bool>) {
    assert_eq!(flag(text).ok(), expected);
}

#[test]
fn a_flag_is_no_number_or_text_in_toml_and_json() {
    for value in [json!("true"), json!(1), json!(null)] {
        assert!(from_json(Kind::Flag, &value).is_err(), "{value}");
    }
}

/// Checks the bounds in a few cases. A change of the bounds themselves shows in
/// `docs/generated/config.schema.json`.
#[test]
fn whole_numbers_have_bounds() {
    let mut checked = 0;
    for spec in crate::describe() {
        let (key, Kind::Whole { min, max }) = (spec.key, spec.kind) else {
            continue;
        };
        let within = [Some(min), Some(max)].map(|number| (number, true));
        let beyond = [min.checked_sub(1), max.checked_add(1)].map(|number| (number, false));
        for (number, fits) in within.into_iter().chain(beyond) {
            let Some(number) = number else { continue };
            let text = number.to_string();
            assert_eq!(
                from_json(spec.kind, &json!(number)).is_ok(),
                fits,
                "{key}: {number}"
            );
            assert_eq!(from_text(spec.kind, &text).is_ok(), fits, "{key}: {number}");
        }
        for value in [json!(2.5), json!("2"), json!(u64::MAX), json!(null)] {
            assert!(from_json(spec.kind, &value).is_err(), "{key}: {value}");
        }
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn the_global_rate_limit_has_no_upper_bound() {
    let kind = crate::find_key("webhooks.global_rate_limit_per_minute")
        .unwrap()
        .kind;
    for (number, fits) in [(0, false), (1, true), (1_000_001, true), (i64::MAX, true)] {
        assert_eq!(from_json(kind, &json!(number)).is_ok(), fits, "{number}");
    }
    let error = from_json(kind, &json!(0)).unwrap_err();
    assert_eq!(error.to_string(), "expected a whole number from 1");
}

#[rstest]
#[case(Rule::Address, "[::1]:80", Some("[::1]:80"))]
#[case(Rule::Address, "localhost:80", None)]
#[case(Rule::Cron, "30 3 * * *", Some("30 3 * * *"))]
#[case(Rule::Cron, "60 3 * * *", None)]
#[case(Rule::Cron, "daily", None)]
#[case(Rule::Address, "127.0.0.1", None)]
#[case(Rule::Address, "127.0.0.1:65536", None)]
#[case(Rule::WebUrl, "HTTPS://Gate.Example/", Some("https://gate.example"))]
#[case(Rule::WebUrl, "https://user:pw@gate.example", None)]
#[case(Rule::WebUrl, "https://gate.example/?a=1", None)]
#[case(Rule::WebUrl, "https://", None)]
#[case(Rule::WebUrl, "ftp://gate.example", None)]
#[case(Rule::WebUrl, "gate.example", None)]
#[case(Rule::BaseUrl, "http://127.0.0.1:9", Some("http://127.0.0.1:9/v1"))]
#[case(Rule::BaseUrl, "https://api.example/", Some("https://api.example/v1"))]
#[case(
    Rule::BaseUrl,
    "https://api.example/openai/v1/",
    Some("https://api.example/openai/v1")
)]
#[case(Rule::WebOrTcpUrl, "http://h:5002/", Some("http://h:5002"))]
#[case(
    Rule::WebOrTcpUrl,
    "TCP://Piper.LAN:10200/",
    Some("tcp://piper.lan:10200")
)]
#[case(Rule::WebOrTcpUrl, "tcp://[::1]:80", Some("tcp://[::1]:80"))]
#[case(Rule::WebOrTcpUrl, "tcp://0x7f000001:80", Some("tcp://127.0.0.1:80"))]
#[case(Rule::WebOrTcpUrl, "tcp://piper", None)]
#[case(Rule::WebOrTcpUrl, "tcp://piper:0x50", None)]
#[case(Rule::WebOrTcpUrl, "tcp://piper:65536", None)]
#[case(Rule::WebOrTcpUrl, "tcp://:10200", None)]
#[case(Rule::WebOrTcpUrl, "tcp://a b:10200", None)]
#[case(Rule::WebOrTcpUrl, "tcp:piper:10200", None)]
#[case(Rule::WebOrTcpUrl, "tcp://user@piper:10200", None)]
#[case(Rule::WebOrTcpUrl, "tcp://piper:10200/v1", None)]
#[case(Rule::WebOrTcpUrl, "tcp://piper:10200?a", None)]
#[case(Rule::WebOrTcpUrl, "unix:///run/piper", None)]
#[case(Rule::WebUrl, "tcp://piper:10200", None)]
#[case(Rule::BaseUrl, "tcp://piper:10200", None)]
#[case(Rule::BaseOrTcpUrl, "http://h:8000", Some("http://h:8000/v1"))]
#[case(Rule::BaseOrTcpUrl, "tcp://h:10300", Some("tcp://h:10300"))]
#[case(Rule::Network, "::ffff:10.0.0.0/104", Some("10.0.0.0/8"))]
#[case(Rule::Network, "10.0.0.0/33", None)]
#[case(Rule::HeaderName, "CF-Connecting-IP", Some("cf-connecting-ip"))]
#[case(Rule::HeaderName, "x forwarded", None)]
#[case(Rule::HeaderName, "", None)]
#[case(Rule::OneOf(&["all", "local"]), "local", Some("local"))]
#[case(Rule::OneOf(&["all", "local"]), "none", None)]
#[case(Rule::ModelPath, "router/meta/llama", Some("router/meta/llama"))]
#[case(Rule::ModelPath, "gpt", None)]
#[case(Rule::ModelPath, "openai/", None)]
#[case(Rule::Argument, "", Some(""))]
#[case(Rule::Argument, " a\nb", Some(" a\nb"))]
#[case(Rule::Argument, "a\0", None)]
#[case(Rule::Secret, " sk-1\n", Some("sk-1"))]
#[case(Rule::Secret, "a\nb", None)]
#[case(Rule::Secret, " ", None)]
#[case(
    Rule::LogFilter,
    "info, sqlx::query=WARN",
    Some("info,sqlx::query=WARN")
)]
#[case(Rule::LogFilter, "inof", None)]
#[case(Rule::LogFilter, "sqlx=", None)]
#[case(Rule::LogFilter, "=info", None)]
#[case(Rule::Syslog, "/dev/log", Some("/dev/log"))]
#[case(Rule::Syslog, "log.sock", Some("log.sock"))]
#[case(Rule::Syslog, "UDP://Log.Example:514", Some("udp://log.example:514"))]
#[case(Rule::Syslog, "tcp://192.0.2.1:601/", Some("tcp://192.0.2.1:601"))]
#[case(
    Rule::Syslog,
    "tls://[2001:db8::1]:6514",
    Some("tls://[2001:db8::1]:6514")
)]
#[case(Rule::Syslog, "", None)]
#[case(Rule::Syslog, "udp://log.example", None)]
#[case(Rule::Syslog, "https://log.example:514", None)]
#[case(Rule::Syslog, "tcp://user@log.example:514", None)]
#[case(Rule::Syslog, "tcp://log.example:514/a", None)]
#[case(Rule::File, "a b.pem", Some("a b.pem"))]
#[case(Rule::File, "", None)]
fn texts(#[case] rule: Rule, #[case] given: &str, #[case] expected: Option<&str>) {
    let got = from_json(Kind::Text(rule), &json!(given));
    assert_eq!(
        got.as_ref().ok().and_then(Value::as_str),
        expected,
        "{got:?}"
    );
}

#[test]
fn lists_are_arrays_or_separated_by_commas() {
    let kind = Kind::List(Rule::Network);
    let expected = json!(["10.0.0.0/8", "::1/128"]);
    for text in [
        "10.0.0.0/8,::1",
        " 10.0.0.0/8 , ::1, ",
        r#"["10.0.0.0/8","::1"]"#,
    ] {
        assert_eq!(from_text(kind, text).as_ref(), Ok(&expected), "{text}");
    }
    for text in ["10.0.0.0/8;::1", "[1]", "[\"::1\"", "{}"] {
        assert!(from_text(kind, text).is_err(), "{text}");
    }
    let bracketed = from_text(Kind::List(Rule::Origin), "[::1]:80").unwrap();
    assert_eq!(bracketed, json!(["[::1]:80"]));
    let many = |count| Value::from(vec!["::1"; count]);
    assert!(from_json(kind, &many(1000)).is_ok());
    assert!(from_json(kind, &many(1001)).is_err());
}

#[test]
fn variables_are_a_table_or_assignments() {
    let expected = json!({"A": "1", "_b2": "x=y"});
    for text in [" A=1 , _b2=x=y,", r#"{"A":"1","_b2":"x=y"}"#] {
        assert_eq!(from_text(Kind::Variables, text).as_ref(), Ok(&expected));
    }
    for text in ["A", "=1", "2A=1", "A-B=1", "ä=1", "{\"A\":1}", "{", "[]"] {
        assert!(from_text(Kind::Variables, text).is_err(), "{text}");
    }
    let name = |count| from_json(Kind::Variables, &json!({ "a".repeat(count): "" })).is_ok();
    assert!(name(128) && !name(129) && !name(0));
    let many = |count: usize| {
        let pairs = (0..count).map(|i| (format!("a{i}"), json!("")));
        from_json(Kind::Variables, &Value::Object(pairs.collect())).is_ok()
    };
    assert!(many(1000) && !many(1001));
    assert!(from_json(Kind::Variables, &json!({"A": "\0"})).is_err());
}

#[test]
fn a_variable_names_one_of_the_vault_unless_it_steers_a_program() {
    let good = json!({"A": {"vault": "KEY"}, "LD_PRELOAD": "written here"});
    assert_eq!(from_json(Kind::Variables, &good).as_ref(), Ok(&good));
    assert_eq!(
        from_text(Kind::Variables, &good.to_string()).as_ref(),
        Ok(&good)
    );
    for bad in [
        json!({"LD_PRELOAD": {"vault": "KEY"}}),
        json!({"node_options": {"vault": "KEY"}}),
        json!({"A": {"vault": ""}}),
        json!({"A": {"vault": "a b"}}),
        json!({"A": {"vault": "KEY", "or": "x"}}),
        json!({"A": {"env": "KEY"}}),
        json!({"A": {}}),
        json!({"A": null}),
        json!({"A": ["KEY"]}),
    ] {
        assert!(from_json(Kind::Variables, &bad).is_err(), "{bad}");
    }
}

#[test]
fn lengths_are_limited() {
    let line = |count| from_json(Kind::Text(Rule::Line), &json!("ä".repeat(count))).is_ok();
    assert!(line(256) && !line(257) && !line(0));
    let secret = |count| from_json(Kind::Text(Rule::Secret), &json!("a".repeat(count))).is_ok();
    assert!(secret(8192) && !secret(8193));
}
