//! Modes in which the sender sends the secret itself.

use super::*;

fn case(mode: AuthMode) -> Case {
    Case::new(mode, "s3cret", b"{}")
}

#[test]
fn none_lets_everything_pass() {
    let mut case = case(AuthMode::NONE);
    assert_eq!(case.verify(), Ok(()));
    case.secrets.clear();
    assert_eq!(case.verify(), Ok(()));
}

#[test]
fn a_header_of_the_owners_choice() {
    let case = case(AuthMode::STATIC_HEADER);
    assert_eq!(case.verify(), Err(VerifyError::Missing));
    assert_eq!(
        case.clone().with("x-webhook-secret", "s3cret").verify(),
        Ok(())
    );
    for wrong in ["", "s3cre", "s3cret1", "S3cret", "Bearer s3cret"] {
        let case = case.clone().with("x-webhook-secret", wrong);
        assert_eq!(case.verify(), Err(VerifyError::Wrong), "{wrong}");
    }
    let mut own = case.with("x-own", "s3cret");
    assert_eq!(own.verify(), Err(VerifyError::Missing));
    for name in ["x-own", "X-Own", "X-OWN"] {
        own.header = Some(name);
        assert_eq!(own.verify(), Ok(()));
    }
    // No header can have this name.
    own.header = Some("x own");
    assert_eq!(own.verify(), Err(VerifyError::Missing));
    assert!(
        sign(&SignInput {
            mode: AuthMode::STATIC_HEADER,
            header: Some("x own"),
            secret: "s",
            url: "",
            body: b"",
            now_ms: 0,
            id: ""
        })
        .is_empty()
    );
}

#[test]
fn of_several_values_any_may_be_right() {
    let mut case = case(AuthMode::STATIC_HEADER);
    for _ in 0..MAX_CANDIDATES - 1 {
        case = case.with("x-webhook-secret", "no");
    }
    assert_eq!(case.verify(), Err(VerifyError::Wrong));
    let case = case.with("x-webhook-secret", "s3cret");
    assert_eq!(case.verify(), Ok(()));
    let case = case.with("x-webhook-secret", "no");
    assert_eq!(case.verify(), Err(VerifyError::TooMany));
}

#[test]
fn the_token_of_codehost_b_has_two_headers() {
    let case = case(named("codehost_b_token"));
    assert_eq!(case.verify(), Err(VerifyError::Missing));
    assert_eq!(
        case.clone().with("x-codehost-b-token", "s3cret").verify(),
        Ok(())
    );
    assert_eq!(
        case.clone().with("x-gitlab-token", "s3cret").verify(),
        Ok(())
    );
    let neutral_wrong = case
        .clone()
        .with("x-gitlab-token", "s3cret")
        .with("x-codehost-b-token", "no");
    assert_eq!(neutral_wrong.verify(), Err(VerifyError::Wrong));
    let neutral_right = case
        .with("x-gitlab-token", "no")
        .with("x-codehost-b-token", "s3cret");
    assert_eq!(neutral_right.verify(), Ok(()));
}

#[test]
fn bearer_comes_once_and_in_any_case() {
    let case = case(AuthMode::BEARER);
    assert_eq!(case.verify(), Err(VerifyError::Missing));
    for value in [
        "Bearer s3cret",
        "bearer s3cret",
        "BEARER s3cret",
        "Bearer   s3cret",
    ] {
        assert_eq!(
            case.clone().with("authorization", value).verify(),
            Ok(()),
            "{value}"
        );
    }
    for (value, error) in [
        ("Bearer s3cret x", VerifyError::Wrong),
        ("Bearer S3cret", VerifyError::Wrong),
        ("Bearer ", VerifyError::Wrong),
        ("Bearer", VerifyError::Malformed),
        ("", VerifyError::Malformed),
        ("s3cret", VerifyError::Malformed),
        ("Basic s3cret", VerifyError::Malformed),
        ("Token s3cret", VerifyError::Malformed),
        ("Bearers3cret", VerifyError::Malformed),
    ] {
        assert_eq!(
            case.clone().with("authorization", value).verify(),
            Err(error),
            "{value}"
        );
    }
    let twice = case
        .with("authorization", "Bearer s3cret")
        .with("authorization", "Bearer s3cret");
    assert_eq!(twice.verify(), Err(VerifyError::Malformed));
}

#[test]
fn a_token_may_be_any_text_a_header_carries() {
    let secret = "é \"quoted\" ~";
    let mut case = case(AuthMode::STATIC_HEADER);
    case.secrets = vec![secret.to_owned()];
    case.headers.insert(
        DEFAULT_STATIC_HEADER,
        HeaderValue::from_bytes(secret.as_bytes()).unwrap(),
    );
    assert_eq!(case.verify(), Ok(()));
}
