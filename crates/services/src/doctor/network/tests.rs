//! Tests of the parent module.

use super::*;

fn layers(pairs: &[(&str, &str)]) -> gatehouse_config::Layers {
    let environment = gatehouse_config::Environment::from_pairs(pairs.iter().copied());
    let invocation = gatehouse_config::Invocation {
        data_dir: Some(std::env::temp_dir()),
        ..Default::default()
    };
    gatehouse_config::Layers::load(&environment, &invocation).unwrap()
}

#[test]
fn plain_http_in_a_container_fails_and_the_hint_names_the_case_in_which_it_is_safe() {
    let found = |bind: &str, url: &str, in_container: bool| {
        let bind = ("SERVICE_SERVER__BIND", bind);
        let layers = layers(&[bind, ("SERVICE_SERVER__EXTERNAL_URL", url)]);
        let settings = layers.written().unwrap().settings;
        let check = tls(&settings, layers.process(), in_container);
        let names_the_case = check.hint.is_some_and(|hint| hint.contains("127.0.0.1"));
        (check.ok, names_the_case)
    };
    let every = "0.0.0.0:8420";
    for url in [
        "http://localhost:8420",
        "http://127.0.0.1:8420",
        "http://[::1]:8420",
    ] {
        assert_eq!(found(every, url, true), (false, true), "{url}");
        assert_eq!(found(every, url, false), (false, false), "{url}");
    }
    let other = "http://192.168.1.2:8420";
    assert_eq!(found(every, other, true), (false, false));
    let loopback = "127.0.0.1:8420";
    let own = found(loopback, "http://localhost:8420", true);
    assert_eq!(own, (true, false));
}

#[test]
fn a_missing_url_is_reported_with_the_name_of_the_setting() {
    for (bind, is_fine) in [("127.0.0.1:8420", true), ("0.0.0.0:8420", false)] {
        let pair = ("SERVICE_SERVER__BIND", bind);
        let resolved = layers(&[pair]).written().unwrap();
        let check = external_url(&resolved, None);
        assert_eq!(check.ok, is_fine, "{bind}");
        assert!(check.message.contains("server.external_url"), "{bind}");
    }
}

#[test]
fn another_name_of_the_certificate_is_reported_only_if_the_url_is_configured() {
    let visited = Authority::parse(b"b.example").unwrap();
    let is_fine = |pairs: &[(&str, &str)]| {
        let resolved = layers(pairs).written().unwrap();
        external_url(&resolved, Some(&visited)).ok
    };
    let domains = ("SERVICE_SERVER__TLS__ACME__DOMAINS", "a.example,b.example");
    let email = ("SERVICE_SERVER__TLS__ACME__EMAIL", "a@a.example");
    assert!(is_fine(&[domains, email]));
    let url = |url| ("SERVICE_SERVER__EXTERNAL_URL", url);
    assert!(!is_fine(&[domains, email, url("https://a.example")]));
    assert!(is_fine(&[domains, email, url("https://b.example")]));
}

#[test]
fn a_short_token_of_the_metrics_is_reported() {
    let found = |token: Option<&str>| {
        let pair = token.map(|token| ("SERVICE_METRICS__TOKEN", token));
        let layers = layers(pair.as_slice());
        metrics_token(&layers.written().unwrap().settings).map(|check| check.ok)
    };
    assert_eq!(found(None), None);
    assert_eq!(found(Some("fifteen letters")), Some(false));
    assert_eq!(found(Some("sixteen letters!")), Some(true));
}

#[test]
fn each_failed_check_is_named() {
    for (failed_check, number) in [
        (FailedCheck::BehindProxy, "check 1"),
        (FailedCheck::ForwardingHeader, "check 2"),
        (FailedCheck::Host, "check 3"),
        (FailedCheck::PeerAddress, "check 4"),
    ] {
        let found = locality(Locality::Remote { failed_check });
        assert!(
            found.message.contains(number) && found.hint.is_some(),
            "{found:?}"
        );
    }
    assert!(locality(Locality::Local).hint.is_none());
}
