//! The tolerance for a sender's timestamp, and where the timestamp is found.

use super::*;

#[test]
fn times_are_good_for_300_seconds_either_way() {
    let modes = [
        named("payments_webhook_signature"),
        AuthMode::STANDARD_WEBHOOKS,
        named("slack_signature"),
    ];
    for mode in modes {
        let signed = Case::signed(mode, secret(mode), b"{}");
        for (offset_ms, expected) in [
            (0, Ok(())),
            (300_000, Ok(())),
            // The sender's timestamp has whole seconds, so this is still second 300.
            (300_999, Ok(())),
            (301_000, Err(VerifyError::Stale)),
            (-300_000, Ok(())),
            (-300_001, Err(VerifyError::FromFuture)),
            (-301_000, Err(VerifyError::FromFuture)),
            (i64::MAX - NOW_MS, Err(VerifyError::Stale)),
            (i64::MIN, Err(VerifyError::FromFuture)),
        ] {
            let case = signed.clone().at(NOW_MS.saturating_add(offset_ms));
            assert_eq!(case.verify(), expected, "{mode} {offset_ms}");
            // The clock jumps forward and back. Verification keeps no state.
            assert_eq!(signed.verify(), Ok(()));
        }
    }
}

#[test]
fn an_old_time_with_a_wrong_signature_is_a_wrong_signature() {
    let mut case = Case::signed(named("slack_signature"), "a", b"{}").at(NOW_MS + 900_000);
    case.secrets = vec!["b".to_owned()];
    assert_eq!(case.verify(), Err(VerifyError::Wrong));
}

#[test]
fn odd_times_are_refused() {
    let name = "x-slack-request-timestamp";
    let signed = Case::signed(named("slack_signature"), "s", b"{}");
    let missing = signed.clone().without(name);
    assert_eq!(missing.verify(), Err(VerifyError::MissingTimestamp));
    let twice = signed.clone().with(name, "1700000000");
    assert_eq!(twice.verify(), Err(VerifyError::Malformed));
    let other = signed.without(name).with(name, "1700000001");
    assert_eq!(other.verify(), Err(VerifyError::Wrong));
    // The value is validly signed, but is not a timestamp.
    for odd in [
        "",
        "x",
        "-5",
        "+1700000000",
        "1e9",
        "1700000000.0",
        "99999999999999999999",
    ] {
        let expected = signed::signature(
            slack_scheme(),
            b"s",
            &signed::Subject {
                id: "",
                timestamp: odd,
                url: "",
                body: b"{}",
            },
        );
        let hex = data_encoding::HEXLOWER.encode(&expected);
        let case = Case::new(named("slack_signature"), "s", b"{}")
            .with(name, odd)
            .with("x-slack-signature", &format!("v0={hex}"));
        assert_eq!(case.verify(), Err(VerifyError::Malformed), "{odd}");
    }
}

fn slack_scheme() -> &'static scheme::Scheme {
    let found = signing().find(|(mode, _)| *mode == named("slack_signature"));
    found.unwrap().1
}

#[test]
fn payments_has_one_time() {
    let name = "payments-signature";
    let right = Case::signed(named("payments_webhook_signature"), "s", b"{}");
    let value = right.headers[name].to_str().unwrap().to_owned();
    let hex = value.rsplit_once('=').unwrap().1.to_owned();
    let with = |value: &str| right.clone().without(name).with(name, value).verify();
    assert_eq!(with(&format!("v1={hex},t=1700000000")), Ok(()));
    assert_eq!(with(&format!("t=1700000000,t=1700000000,v1={hex}")), Ok(()));
    assert_eq!(
        with(&format!("t=1700000000,t=1,v1={hex}")),
        Err(VerifyError::Malformed)
    );
    assert_eq!(
        with(&format!("v1={hex}")),
        Err(VerifyError::MissingTimestamp)
    );
    assert_eq!(
        with(&format!("t=1700000001,v1={hex}")),
        Err(VerifyError::Wrong)
    );
    assert_eq!(with("t=1700000000"), Err(VerifyError::Malformed));
    assert_eq!(
        with(&format!("t=1700000000,v0={hex}")),
        Err(VerifyError::Malformed)
    );
    // The header also contains the signature of another secret, as Stripe sends it during a rotation.
    let other = "00".repeat(32);
    assert_eq!(with(&format!("t=1700000000,v1={other},v1={hex}")), Ok(()));
    let two_times = right.clone().with(name, &format!("t=5,v1={other}"));
    assert_eq!(two_times.verify(), Err(VerifyError::Malformed));
}

#[test]
fn a_trackers_body_may_have_its_time() {
    let verify = |time: &str, tolerance: i64| {
        let body = format!("{{\"a\":1{time}}}");
        let mut case = Case::signed(named("tracker_a_webhook_signature"), "s", body.as_bytes());
        case.tolerance = tolerance;
        case.verify()
    };
    let at = |offset: i64| format!(",\"webhookTimestamp\":{}", NOW_MS + offset);
    assert_eq!(verify("", 300), Ok(()));
    assert_eq!(verify(",\"webhookTimestamp\":null", 300), Ok(()));
    for (offset, tolerance, expected) in [
        (0, 300, Ok(())),
        (0, 0, Ok(())),
        (-300_000, 300, Ok(())),
        (-300_001, 300, Err(VerifyError::Stale)),
        (300_000, 300, Ok(())),
        (300_001, 300, Err(VerifyError::FromFuture)),
        (-60_001, 60, Err(VerifyError::Stale)),
        (-1, 0, Err(VerifyError::Stale)),
        (-1_000_000_000, i64::MAX, Ok(())),
    ] {
        assert_eq!(
            verify(&at(offset), tolerance),
            expected,
            "{offset} {tolerance}"
        );
    }
    for odd in [
        "\"1700000000000\"",
        "1.5",
        "true",
        "{}",
        "99999999999999999999",
    ] {
        let odd = format!(",\"webhookTimestamp\":{odd}");
        assert_eq!(verify(&odd, 300), Err(VerifyError::Malformed), "{odd}");
    }
    // The same name at a deeper level is a different field. If the field occurs twice, the last one is used.
    assert_eq!(verify(",\"data\":{\"webhookTimestamp\":1}", 300), Ok(()));
    let twice = format!("{},\"webhookTimestamp\":1", at(0));
    assert_eq!(verify(&twice, 300), Err(VerifyError::Stale));
    // The parser rejects a body that is not JSON.
    let case = Case::signed(
        named("tracker_a_webhook_signature"),
        "s",
        b"webhookTimestamp",
    );
    assert_eq!(case.verify(), Ok(()));
}
