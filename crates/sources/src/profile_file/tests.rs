//! The contents that a file can have, and the messages about mistakes.

use super::check::{MAX_GUIDE, MAX_ID, MAX_ITEMS, MAX_LINE};
use super::*;
use crate::event;
use crate::payload::Payload;
use crate::profile::{KeySource, ReplayGuard};
use crate::sample::{SampleRequest, sample};
use crate::summary::summarise;
use crate::verify::tests::{Case, NOW_MS, good};
use crate::verify::{SignInput, VerifyError, VerifyInput, prove, sign};
use http::HeaderMap;

const ACME: &str = r#"
id = "acme"
name = "Acme"
about = "Orders and refunds"
events = [["order.paid", "An order was paid"]]

[verify]
headers = ["X-Acme-Signature"]
algorithm = "hmac-sha512"
encoding = "base64"
prefix = "v1="
separator = ","
signs = "{id}.{timestamp}.{body}"
id_headers = ["X-Acme-Id"]
timestamp = { headers = ["X-Acme-Time"], format = "milliseconds" }
tolerance_seconds = 60

[event]
body = ["/meta/type"]

[delivery]
headers = ["X-Acme-Id"]

[[entities]]
event = "order"
key = "acme:order:{order.id}"

[summary]
sentences = [["order.paid", "Order {order.id} was paid."]]
fields = [{ label = "Total", line = ["/order/total"] }]
"#;

fn acme() -> ProfileFile {
    parse("acme.toml", ACME, None).unwrap()
}

/// Returns the error for a changed file.
fn refused(from: &str, to: &str) -> String {
    assert!(ACME.contains(from), "{from}");
    let text = ACME.replacen(from, to, 1);
    parse("profiles/acme.toml", &text, None)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_file_is_a_profile_with_a_mode_of_its_own() {
    let ProfileFile { profile, mode } = acme();
    assert_eq!((profile.id, profile.name), ("acme", "Acme"));
    assert_eq!(mode.unwrap().name, "acme_signature");
    assert_eq!(profile.default_auth_mode.as_str(), "acme_signature");
    assert_eq!(profile.headers, ["x-acme-id"]);
    assert!(profile.replay.id_is_signed && profile.replay.guard == ReplayGuard::Key);
    assert!(matches!(
        profile.delivery_key,
        [KeySource::Header("x-acme-id")]
    ));
    assert!(profile.guide.contains("{url}") && profile.guide.contains("{secret}"));
    let proof = profile.default_auth_mode.proof();
    for part in [
        "X-Acme-Signature",
        "X-Acme-Time",
        "X-Acme-Id",
        "HMAC-SHA512",
        "{secret}",
    ] {
        assert!(proof.contains(part), "{proof}");
    }
}

#[test]
fn its_sample_is_signed_verified_and_read() {
    let profile = acme().profile;
    let made = sample(
        profile,
        &SampleRequest {
            event: None,
            event_header: None,
            id: "one",
            now_ms: NOW_MS,
        },
    );
    let mut headers: HeaderMap = made
        .headers
        .iter()
        .map(|(name, value)| {
            (
                name.parse::<http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            )
        })
        .collect();
    let auth_mode = profile.default_auth_mode;
    let signed = sign(&SignInput {
        mode: auth_mode,
        header: None,
        secret: "a secret of ours",
        url: "",
        body: &made.body,
        now_ms: NOW_MS,
        id: "one",
    });
    for (name, value) in signed {
        headers.insert(name, value);
    }
    let input = |now_ms| VerifyInput {
        mode: auth_mode,
        header: None,
        secrets: &["a secret of ours"],
        headers: &headers,
        body: &made.body,
        url: "",
        now_ms,
        tracker_tolerance_seconds: 300,
    };
    assert_eq!(prove(&input(NOW_MS)).unwrap().id(), Some("one"));
    assert!(prove(&input(NOW_MS + 60_000)).is_ok());
    assert_eq!(
        prove(&input(NOW_MS + 61_000)).map(drop),
        Err(VerifyError::Stale)
    );
    assert_eq!(
        prove(&input(NOW_MS - 61_000)).map(drop),
        Err(VerifyError::FromFuture)
    );
    let payload = Payload::read(profile.body, &made.body).unwrap();
    let read = event::read(profile, None, &headers, &payload, &made.body);
    assert_eq!(read.event_type.as_deref(), Some("order.paid"));
    assert_eq!(read.delivery_key.as_deref(), Some("one"));
    let order =
        Payload::from_json(r#"{"meta":{"type":"order.paid"},"order":{"id":7,"total":"9.50"}}"#);
    let order = order.unwrap();
    let read = event::read(profile, None, &headers, &order, b"");
    assert_eq!(read.entity_key.as_deref(), Some("acme:order:7"));
    let summary = summarise(profile, Some("order.paid"), &order);
    assert_eq!(summary, "Order 7 was paid.\nTotal: 9.50");
}

/// Recomputed with OpenSSL: `printf '%s' '{}' | openssl dgst -sha1 -hmac key`.
#[test]
fn a_short_file_is_enough() {
    let short = "id = 'x'\nname = 'X'\nabout = 'Y'\n\
        verify = { headers = ['x-sig'], algorithm = 'hmac-sha1' }\n";
    let file = parse("x.toml", short, None).unwrap();
    let hex = "5c8cb7f1a5d2b8f6";
    let case = Case::new(file.profile.default_auth_mode, "key", b"{}");
    assert_eq!(
        case.clone().with("x-sig", hex).verify(),
        Err(VerifyError::Malformed)
    );
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "printf '{}' | openssl dgst -sha1 -hmac key | sed 's/^.* //'",
        ])
        .output()
        .unwrap();
    let hex = String::from_utf8(output.stdout).unwrap();
    good(&case.with("x-sig", hex.trim()));
    assert!(file.profile.replay.guard == ReplayGuard::Bytes);
    let token = short.replace("hmac-sha1", "token");
    let file = parse("x.toml", &token, None).unwrap();
    assert_eq!(file.profile.default_auth_mode.as_str(), "x_token");
    let case = Case::new(file.profile.default_auth_mode, "key", b"{}");
    assert_eq!(case.clone().with("x-sig", "key").verify(), Ok(()));
    assert_eq!(case.with("x-sig", "kez").verify(), Err(VerifyError::Wrong));
    let known = short.replace(
        "headers = ['x-sig'], algorithm = 'hmac-sha1'",
        "mode = 'bearer'",
    );
    let file = parse("x.toml", &known, None).unwrap();
    assert!(file.mode.is_none());
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn mistakes_have_the_file_and_the_line() {
    for (from, to, expected) in [
        (
            "id = \"acme\"",
            "id = \"Acme\"",
            "profiles/acme.toml:2: id: expected 1 to 32 lower-case",
        ),
        (
            "name = \"Acme\"",
            "nam = \"Acme\"",
            "profiles/acme.toml:3: unknown field `nam`",
        ),
        (
            "name = \"Acme\"",
            "name = \"\"",
            "profiles/acme.toml:3: name: expected a line",
        ),
        (
            "hmac-sha512",
            "md5",
            "profiles/acme.toml:9: unknown variant `md5`",
        ),
        (
            "[\"X-Acme-Signature\"]",
            "[]",
            "profiles/acme.toml:7: verify: `headers` is missing",
        ),
        (
            "\"X-Acme-Signature\"",
            "\"X Y\"",
            "profiles/acme.toml:8: verify.headers.0: `X Y` is not the name",
        ),
        (
            ".{body}",
            "",
            "profiles/acme.toml:13: verify.signs: expected {body}",
        ),
        (
            "{id}.",
            "",
            "profiles/acme.toml:13: verify.signs: {id} and `id_headers` need",
        ),
        (
            "{timestamp}.",
            "",
            "profiles/acme.toml:13: verify.signs: {timestamp} and the table",
        ),
        (
            "{body}",
            "{body}{uri}",
            "profiles/acme.toml:13: verify.signs: `{uri}`: expected",
        ),
        (
            "{body}\"",
            "{body\"",
            "profiles/acme.toml:13: verify.signs: a { has no }",
        ),
        (
            "tolerance_seconds = 60",
            "tolerance_seconds = 0",
            "profiles/acme.toml:16: verify.tolerance_seconds",
        ),
        (
            "tolerance_seconds = 60",
            "tolerance_seconds = 3601",
            "profiles/acme.toml:16: verify.tolerance_seconds",
        ),
        (
            "/meta/type",
            "/meta.x/type",
            "profiles/acme.toml:19: event.body.0: a part of the pointer",
        ),
        (
            "[delivery]\nheaders = [\"X-Acme-Id\"]",
            "[delivery]\nheaders = [\"X-Acme-Token\"]",
            "profiles/acme.toml:22: delivery.headers.0: `x-acme-token` is named like",
        ),
        (
            "acme:order:{order.id}",
            "shop:order:{order.id}",
            "profiles/acme.toml:26: entities.0.key: expected `acme:`",
        ),
        (
            "acme:order:{order.id}",
            "acme:order",
            "profiles/acme.toml:26: entities.0.key: expected `acme:`",
        ),
        (
            "line = [\"/order/total\"]",
            "text = \"{a\"",
            "profiles/acme.toml:30: summary.fields.0: a { has no }",
        ),
        (
            "line = [\"/order/total\"]",
            "",
            "profiles/acme.toml:30: summary.fields.0: expected one of",
        ),
        ("[event]", "[event", "profiles/acme.toml:18: "),
    ] {
        let message = refused(from, to);
        assert!(message.starts_with(expected), "{to}: {message}");
    }
}

#[test]
fn a_notice_has_its_own_type_whatever_else_it_names() {
    let with = |notice: &str| {
        let notices = format!("[event]\nnotices = [{{ {notice} }}]");
        parse("a.toml", &ACME.replace("[event]", &notices), None)
    };
    let read = |file: &ProfileFile, kind: Option<&'static str>, body: &str| {
        let pairs = kind.map(|kind| ("x-kind".parse().unwrap(), kind.parse().unwrap()));
        let headers = HeaderMap::from_iter(pairs);
        let payload = Payload::read(file.profile.body, body.as_bytes()).unwrap();
        event::read(file.profile, None, &headers, &payload, body.as_bytes()).event_type
    };
    let paid = r#"{"meta":{"type":"order.paid"}}"#;
    let by_header = with("header = 'X-Kind', is = 'end', event = 'ended'").unwrap();
    assert_eq!(
        read(&by_header, Some("end"), paid).as_deref(),
        Some("ended")
    );
    for other in [None, Some("start"), Some("END")] {
        let found = read(&by_header, other, paid);
        assert_eq!(found.as_deref(), Some("order.paid"), "{other:?}");
    }
    assert!(by_header.profile.headers.contains(&"x-kind"));
    let by_body = with("body = '/kind', is = 'end', event = 'ended'").unwrap();
    let ended = r#"{"meta":{"type":"order.paid"},"kind":"end"}"#;
    assert_eq!(read(&by_body, None, ended).as_deref(), Some("ended"));
    assert_eq!(read(&by_body, None, paid).as_deref(), Some("order.paid"));
    for (bad, expected) in [
        ("is = 'a', event = 'b'", "event.notices.0: expected either"),
        (
            "header = 'x-a', body = '/a', is = 'a', event = 'b'",
            "event.notices.0: expected either",
        ),
        (
            "header = 'x-token', is = 'a', event = 'b'",
            "event.notices.0.header: `x-token` is named like",
        ),
        ("header = 'x-a', is = 'a'", "missing field `event`"),
    ] {
        let message = with(bad).unwrap_err().message;
        assert!(message.contains(expected), "{bad}: {message}");
    }
    let many =
        |count: usize| with(&vec!["body = '/a', is = 'a', event = 'b'"; count].join(" }, { "));
    assert!(many(8).is_ok() && many(9).is_err());
}

#[test]
fn handshakes_and_guides_are_checked() {
    let with = |more: &str| {
        let text = ACME.replace("[verify]", &format!("{more}\n[verify]"));
        parse("a.toml", &text, None)
            .map(drop)
            .map_err(|error| error.message)
    };
    for good in [
        "handshake = { body = '/type', is = 'ping', text = '{challenge}' }",
        "handshake = { header = 'x-type', is = 'ping', json = { a = '{b}', c = '{hmac:b}' } }",
        "handshake = { get = 'hub' }",
        "guide = '1. Paste {url} and {secret}'",
        "sample = { meta = { type = '{event}' }, id = '{id}' }",
        "replies = [{ event = 'order.paid', json = { ok = true } }]",
    ] {
        assert_eq!(with(good), Ok(()), "{good}");
    }
    for (bad, expected) in [
        (
            "handshake = { get = 'other' }",
            "handshake.get: expected `hub`",
        ),
        (
            "handshake = { get = 'hub', is = 'x' }",
            "handshake.get: expected `hub` and no other",
        ),
        (
            "handshake = { body = '/t', text = 'x' }",
            "handshake: `is` is missing",
        ),
        (
            "handshake = { is = 'p', text = 'x' }",
            "handshake: expected either `header` or `body`",
        ),
        (
            "handshake = { body = '/t', is = 'p' }",
            "handshake: expected either `text` or",
        ),
        (
            "guide = 'Paste {url} and {secret}'",
            "guide: expected numbered lines",
        ),
        (
            "guide = '1. Paste {secret}'",
            "guide: expected numbered lines",
        ),
        ("sample = 7", "sample: expected a table"),
        (
            "replies = [{ event = 'a', json = 7 }]",
            "replies.0.json: expected a table",
        ),
        ("verify_more = 1", "unknown field `verify_more`"),
    ] {
        let message = with(bad).unwrap_err();
        assert!(message.contains(expected), "{bad}: {message}");
    }
    let token = "id = 'x'\nname = 'X'\nabout = 'Y'\nverify = { headers = ['x-sig'], algorithm = 'token' }\n";
    let hmac = format!("{token}handshake = {{ body = '/t', is = 'p', text = '{{hmac:a}}' }}\n");
    let error = parse("x.toml", &hmac, None).unwrap_err();
    assert!(
        error.message.contains("needs a mode with an HMAC"),
        "{error}"
    );
    let open = token.replace("headers = ['x-sig'], algorithm = 'token'", "mode = 'none'");
    let error = parse("x.toml", &open, None).unwrap_err();
    assert!(
        error.message.contains("expected a mode that verifies"),
        "{error}"
    );
}

#[test]
fn limits_of_a_file() {
    let with = |from: &str, to: &str| parse("a.toml", &ACME.replacen(from, to, 1), None);
    let id = |length: usize| "a".repeat(length);
    let named = |length: usize| ACME.replace("acme:order", &format!("{}:order", id(length)));
    let named =
        |length: usize| named(length).replace("id = \"acme\"", &format!("id = \"{}\"", id(length)));
    assert!(parse("a.toml", &named(MAX_ID), None).is_ok());
    assert!(parse("a.toml", &named(MAX_ID + 1), None).is_err());
    let about = |length: usize| with("Orders and refunds", &"o".repeat(length));
    assert!(about(MAX_LINE).is_ok() && about(MAX_LINE + 1).is_err());
    let guide = |length: usize| {
        let text = format!("1. {{url}} {{secret}} {}", "x".repeat(length - 18));
        assert_eq!(text.len(), length);
        with("[verify]", &format!("guide = '{text}'\n[verify]"))
    };
    assert!(guide(MAX_GUIDE).is_ok() && guide(MAX_GUIDE + 1).is_err());
    let events = |count: usize| {
        let list: Vec<String> = (0..count)
            .map(|n| format!("['e{n}', 'Something happened']"))
            .collect();
        with(
            "[[\"order.paid\", \"An order was paid\"]]",
            &format!("[{}]", list.join(",")),
        )
    };
    assert!(events(MAX_ITEMS).is_ok() && events(MAX_ITEMS + 1).is_err());
    let headers = |count: usize| {
        let list: Vec<String> = (0..count).map(|n| format!("'x-sig-{n}'")).collect();
        with("[\"X-Acme-Signature\"]", &format!("[{}]", list.join(",")))
    };
    assert!(headers(8).is_ok() && headers(9).is_err());
    let padded = |length: usize| {
        let text = format!("{ACME}#{}", "x".repeat(length - ACME.len() - 1));
        assert_eq!(text.len(), length);
        parse("a.toml", &text, None)
    };
    assert!(padded(MAX_FILE_BYTES).is_ok());
    assert!(padded(MAX_FILE_BYTES + 1).is_err());
    assert!(with("tolerance_seconds = 60", "tolerance_seconds = 1").is_ok());
    assert!(with("tolerance_seconds = 60", "tolerance_seconds = 3600").is_ok());
}
