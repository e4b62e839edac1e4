//! Limits, multiple secrets, spellings, and the details in the response and in the log.

use super::*;
use gatehouse_domain::{ErrorCode, Problem};

#[test]
fn what_we_sign_verifies_in_every_mode() {
    for mode in AuthMode::all().iter().filter(|mode| mode.can_sign()) {
        for body in [&b"{\"a\":1}"[..], FORM, b"", &[0, 255, 10]] {
            let case = Case::signed(*mode, secret(*mode), body);
            assert_eq!(case.verify(), Ok(()), "{mode}");
        }
    }
}

#[test]
fn the_url_is_needed_by_the_modes_that_sign_it_and_by_no_other() {
    let mut count = 0;
    for mode in AuthMode::all().iter().filter(|mode| mode.can_sign()) {
        let mut case = Case::signed(*mode, secret(*mode), FORM);
        case.url.clear();
        assert_eq!(case.verify().is_err(), signs_url(*mode), "{mode}");
        count += usize::from(signs_url(*mode));
    }
    assert!(count > 0);
}

#[test]
fn what_we_sign_looks_like_the_vendors() {
    let header = |mode: AuthMode, name: &str| {
        let case = Case::signed(mode, secret(mode), b"{}");
        case.headers[name].to_str().unwrap().to_owned()
    };
    assert!(header(named("codehost_a_hmac_sha256"), "x-hub-signature-256").starts_with("sha256="));
    let payments = header(named("payments_webhook_signature"), "payments-signature");
    assert!(payments.starts_with("t=1700000000,v1="), "{payments}");
    assert_eq!(
        header(named("tracker_a_webhook_signature"), "tracker-a-signature").len(),
        64
    );
    assert!(header(named("incident_v2_signature"), "x-incident-signature").starts_with("v1="));
    assert_eq!(
        header(named("errors_webhook_signature"), "errors-hook-signature").len(),
        64
    );
    assert!(header(AuthMode::STANDARD_WEBHOOKS, "webhook-signature").starts_with("v1,"));
    assert_eq!(header(AuthMode::STANDARD_WEBHOOKS, "webhook-id"), "msg_1");
    assert_eq!(
        header(AuthMode::STANDARD_WEBHOOKS, "webhook-timestamp"),
        "1700000000"
    );
    assert!(header(named("slack_signature"), "x-slack-signature").starts_with("v0="));
    assert_eq!(
        header(named("shopify_hmac_sha256"), "x-shopify-hmac-sha256").len(),
        44
    );
    assert_eq!(
        header(named("twilio_signature"), "x-twilio-signature").len(),
        28
    );
    assert_eq!(
        header(AuthMode::BEARER, "authorization"),
        "Bearer s3cret of ours"
    );
}

#[test]
fn a_missing_header_differs_from_a_wrong_one_in_the_reason_only() {
    for mode in checking() {
        let case = Case::new(mode, secret(mode), b"{}");
        let missing = case.verify().unwrap_err();
        assert_eq!(missing.reason(), "missing_signature", "{mode}");
        let mut wrong = Case::signed(mode, secret(mode), b"{}");
        wrong.secrets = vec!["whsec_AAAA".to_owned()];
        let wrong = wrong.verify().unwrap_err();
        assert_eq!(wrong.reason(), "wrong_signature", "{mode}");
        assert_eq!(Problem::from(missing), Problem::from(wrong));
        assert_eq!(Problem::from(missing).code, ErrorCode::InvalidCredentials);
    }
}

#[test]
fn an_empty_secret_never_verifies() {
    for mode in checking() {
        for empty in ["", "whsec_"] {
            if empty == "whsec_" && !has_encoded_key(mode) {
                continue;
            }
            let mut case = Case::signed(mode, secret(mode), FORM);
            case.secrets = vec![empty.to_owned()];
            assert_eq!(case.verify(), Err(VerifyError::NoSecret), "{mode}");
            case.secrets.clear();
            assert_eq!(case.verify(), Err(VerifyError::NoSecret), "{mode}");
        }
    }
    // The signature uses the empty key. An attacker may guess that there is no secret.
    let mut mac = <hmac::Hmac<sha2::Sha256> as hmac::KeyInit>::new_from_slice(b"").unwrap();
    hmac::Mac::update(&mut mac, b"{}");
    let hex = data_encoding::HEXLOWER.encode(&hmac::Mac::finalize(mac).into_bytes());
    let case =
        Case::new(named("codehost_a_hmac_sha256"), "", b"{}").with("x-hub-signature-256", &hex);
    assert_eq!(case.verify(), Err(VerifyError::NoSecret));
    let case = Case::new(AuthMode::BEARER, "", b"{}").with("authorization", "Bearer ");
    assert_eq!(case.verify(), Err(VerifyError::NoSecret));
    let case = Case::new(AuthMode::STATIC_HEADER, "", b"{}").with("x-webhook-secret", "");
    assert_eq!(case.verify(), Err(VerifyError::NoSecret));
}

#[test]
fn the_previous_secret_verifies_too() {
    for mode in checking() {
        let mut case = Case::signed(mode, secret(mode), FORM);
        let right = case.secrets[0].clone();
        let other = "whsec_b3RoZXI=".to_owned();
        for secrets in [
            vec![right.clone(), other.clone()],
            vec![other.clone(), right.clone()],
            vec![String::new(), right],
        ] {
            case.secrets = secrets;
            assert_eq!(case.verify(), Ok(()), "{mode}");
        }
        case.secrets = vec![other.clone(), other];
        assert_eq!(case.verify(), Err(VerifyError::Wrong), "{mode}");
    }
}

#[test]
fn secrets_are_judged_when_they_are_supplied() {
    for mode in AuthMode::all() {
        assert_eq!(check_secret(*mode, secret(*mode)).is_ok(), mode.can_sign());
        let empty = check_secret(*mode, "");
        assert_eq!(empty.is_ok(), *mode == AuthMode::NONE, "{mode}");
    }
    let standard = AuthMode::STANDARD_WEBHOOKS;
    assert_eq!(check_secret(standard, "whsec_"), Err(BadSecret::NotBase64));
    assert_eq!(
        check_secret(standard, "whsec_not base64"),
        Err(BadSecret::NotBase64)
    );
    assert_eq!(
        check_secret(AuthMode::BEARER, "a\nb"),
        Err(BadSecret::NotForHeaders)
    );
    assert_eq!(
        check_secret(AuthMode::STATIC_HEADER, " a"),
        Err(BadSecret::NotForHeaders)
    );
    assert_eq!(
        check_secret(named("codehost_a_hmac_sha256"), " a\nb"),
        Ok(())
    );
}

#[test]
fn the_neutral_header_wins() {
    for (mode, scheme) in signing().filter(|(_, scheme)| scheme.headers.len() > 1) {
        let right = Case::signed(mode, secret(mode), b"{}");
        let value = signature_of(&right, scheme);
        let [neutral, vendors] = [scheme.headers[0], scheme.headers[1]];
        let only_vendors = right.clone().without(neutral).with(vendors, &value);
        assert_eq!(only_vendors.verify(), Ok(()), "{mode}");
        let both = right.clone().with(vendors, "nonsense");
        assert_eq!(both.verify(), Ok(()), "{mode}");
        let neutral_wrong = only_vendors.with(neutral, "nonsense");
        assert!(neutral_wrong.verify().is_err(), "{mode}");
    }
}

#[test]
fn hex_is_taken_in_either_case_bare_or_with_a_prefix() {
    for (mode, scheme) in signing() {
        let is_hex = scheme.encoding == scheme::Encoding::Hex;
        if !is_hex || !scheme.bare || !scheme.prefixes.contains(&"v1=") {
            continue;
        }
        let right = Case::signed(mode, secret(mode), b"{}");
        let name = signature_header(scheme);
        let value = signature_of(&right, scheme);
        let hex = &value[value.len() - 64..];
        let time = value.strip_suffix(hex).unwrap().rsplit_once(',');
        let time = time.map_or(String::new(), |(time, _)| format!("{time},"));
        for form in [
            hex.to_owned(),
            format!("sha256={hex}"),
            format!("v1={hex}"),
            format!("v1={}", hex.to_uppercase()),
            format!("v0=00, v1={hex} ,sha1=00"),
        ] {
            let case = right
                .clone()
                .without(name)
                .with(name, &format!("{time}{form}"));
            assert_eq!(case.verify(), Ok(()), "{mode} {form}");
        }
        for form in [
            format!("v2={hex}"),
            format!("sha1={hex}"),
            format!("sha512={hex}"),
            format!("={hex}"),
            hex[1..].to_owned(),
            format!("{hex}00"),
            format!("0x{hex}"),
            hex.replace(|c: char| c.is_ascii_hexdigit(), "g"),
            String::new(),
            "sha256=".to_owned(),
        ] {
            let case = right
                .clone()
                .without(name)
                .with(name, &format!("{time}{form}"));
            assert_eq!(case.verify(), Err(VerifyError::Malformed), "{mode} {form}");
        }
    }
}

#[test]
fn at_most_ten_signatures_are_compared() {
    for (mode, scheme) in signing() {
        let right = Case::signed(mode, secret(mode), FORM);
        let name = signature_header(scheme);
        let wrong = Case::signed(mode, "whsec_b3RoZXI=", FORM).headers[name].clone();
        // The valid signature is in the tenth of ten headers.
        let mut case = right.clone();
        case.headers.remove(name);
        for _ in 1..MAX_CANDIDATES {
            case.headers.append(name, wrong.clone());
        }
        assert_eq!(case.verify(), Err(VerifyError::Wrong), "{mode}");
        case.headers.append(name, right.headers[name].clone());
        assert_eq!(case.verify(), Ok(()), "{mode}");
        case.headers.append(name, wrong.clone());
        assert_eq!(case.verify(), Err(VerifyError::TooMany), "{mode}");
        // All signatures are in one header, if the scheme uses lists.
        let Some(separator) = scheme.separator else {
            continue;
        };
        let joined = |count: usize| {
            let mut items = vec![wrong.to_str().unwrap(); count - 1];
            items.push(right.headers[name].to_str().unwrap());
            items.join(&separator.to_string())
        };
        let one = |count: usize| right.clone().without(name).with(name, &joined(count));
        assert_eq!(one(MAX_CANDIDATES).verify(), Ok(()), "{mode}");
        assert_eq!(
            one(MAX_CANDIDATES + 1).verify(),
            Err(VerifyError::TooMany),
            "{mode}"
        );
    }
}

#[test]
fn headers_have_a_length() {
    for (mode, scheme) in signing() {
        let right = Case::signed(mode, secret(mode), FORM);
        let name = signature_header(scheme);
        let value = signature_of(&right, scheme);
        // The padding belongs to no scheme. If the scheme uses no lists, it is a separate header.
        let Some(separator) = scheme.separator else {
            continue;
        };
        let filled = |bytes: usize| {
            let filler = "v9=".to_owned() + &"x".repeat(bytes - value.len() - 4);
            right
                .clone()
                .without(name)
                .with(name, &format!("{value}{separator}{filler}"))
        };
        assert_eq!(filled(MAX_HEADER_BYTES).verify(), Ok(()), "{mode}");
        let over = filled(MAX_HEADER_BYTES + 1);
        assert_eq!(over.verify(), Err(VerifyError::HeaderTooLarge), "{mode}");
        // The sizes of two headers add up.
        let two = right.clone().with(
            name,
            &format!("v9={}", "x".repeat(MAX_HEADER_BYTES - value.len() - 2)),
        );
        assert_eq!(two.verify(), Err(VerifyError::HeaderTooLarge), "{mode}");
    }
    let mut case = Case::new(AuthMode::STATIC_HEADER, &"x".repeat(MAX_HEADER_BYTES), b"");
    case.sign();
    assert_eq!(case.verify(), Ok(()));
    case.secrets[0].push('x');
    case.sign();
    assert_eq!(case.verify(), Err(VerifyError::HeaderTooLarge));
}

#[test]
fn standard_webhooks_sign_the_id() {
    let right = Case::signed(
        AuthMode::STANDARD_WEBHOOKS,
        secret(AuthMode::STANDARD_WEBHOOKS),
        b"{}",
    );
    let missing = right.clone().without("webhook-id");
    assert_eq!(missing.verify(), Err(VerifyError::Missing));
    let other = missing.clone().with("webhook-id", "msg_2");
    assert_eq!(other.verify(), Err(VerifyError::Wrong));
    let twice = right.clone().with("webhook-id", "msg_1");
    assert_eq!(twice.verify(), Err(VerifyError::Malformed));
    // `v1a` is the public-key scheme. An item without a version belongs to no scheme.
    let value = right.headers["webhook-signature"]
        .to_str()
        .unwrap()
        .to_owned();
    let bare = value.strip_prefix("v1,").unwrap().to_owned();
    let name = "webhook-signature";
    for odd in [
        format!("v1a,{bare}"),
        bare.clone(),
        format!("v2,{bare}"),
        format!("V1,{bare}"),
    ] {
        let case = right.clone().without(name).with(name, &odd);
        assert_eq!(case.verify(), Err(VerifyError::Malformed), "{odd}");
    }
    let beside = right
        .clone()
        .without(name)
        .with(name, &format!("v1a,AAAA v1,{bare}"));
    assert_eq!(beside.verify(), Ok(()));
    let mut bad = right;
    bad.secrets = vec!["whsec_***".to_owned()];
    assert_eq!(bad.verify(), Err(VerifyError::NoSecret));
}

#[test]
fn headers_that_are_not_text_are_malformed() {
    let odd = HeaderValue::from_bytes(b"sha256=\xff\xfe").unwrap();
    for (mode, scheme) in signing() {
        let mut case = Case::signed(mode, secret(mode), FORM);
        case.headers.insert(signature_header(scheme), odd.clone());
        let error = case.verify().unwrap_err();
        let expected = match scheme.time {
            scheme::Time::Item(_) => VerifyError::MissingTimestamp,
            _ => VerifyError::Malformed,
        };
        assert_eq!(error, expected, "{mode}");
    }
}

#[test]
fn every_reason_has_its_own_label() {
    let all = [
        VerifyError::Missing,
        VerifyError::Wrong,
        VerifyError::Malformed,
        VerifyError::MissingTimestamp,
        VerifyError::Stale,
        VerifyError::FromFuture,
        VerifyError::TooMany,
        VerifyError::HeaderTooLarge,
        VerifyError::NoSecret,
    ];
    let labels: std::collections::HashSet<_> = all.iter().map(|error| error.reason()).collect();
    assert_eq!(labels.len(), all.len());
}
