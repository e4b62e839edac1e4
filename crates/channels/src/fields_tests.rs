use super::*;
use gatehouse_outbound::OutboundSettings;
use secrecy::ExposeSecret;
use serde_json::json;

static SPECS: &[FieldSpec] = &[
    FieldSpec::new("text", "", FieldKind::Text, ""),
    FieldSpec::new("port", "", FieldKind::Port, ""),
    FieldSpec::new("host", "", FieldKind::Host, ""),
    FieldSpec::new("url", "", FieldKind::Url, ""),
    FieldSpec::new("from", "", FieldKind::Mailbox, ""),
    FieldSpec::new("to", "", FieldKind::Mailboxes, ""),
    FieldSpec::new("headers", "", FieldKind::Headers, "").secret(),
    FieldSpec::new("signing", "", FieldKind::SigningSecret, "").secret(),
    FieldSpec::new("token", "", FieldKind::Text, "").secret(),
];

fn read_all(given: &Value) -> Result<FieldChanges, ChannelsError> {
    let outbound = Outbound::new(OutboundSettings::default()).unwrap();
    read(SPECS, given.as_object().unwrap(), &outbound)
}

fn accepts(given: &Value) -> bool {
    read_all(given).is_ok()
}

#[test]
fn an_unknown_field_is_named() {
    let Err(ChannelsError::Invalid { field, .. }) =
        read_all(&json!({ "text": "x", "tocken": "y" }))
    else {
        panic!("it was accepted");
    };
    assert_eq!(field, "tocken");
}

#[test]
fn a_masked_secret_stays_and_null_and_nothing_clear() {
    let changes = read_all(&json!({ "token": MASK, "text": null, "host": "" })).unwrap();
    assert!(changes.secrets.is_empty() && changes.set.is_empty());
    let cleared: Vec<_> = changes.cleared.iter().map(|spec| spec.name).collect();
    assert_eq!(cleared, ["text", "host"]);
    // Only secrets can be masked.
    assert_eq!(
        read_all(&json!({ "text": MASK })).unwrap().set["text"],
        MASK
    );
}

#[test]
fn texts_are_one_line_within_the_limit() {
    assert_eq!(
        read_all(&json!({ "text": -100_123 })).unwrap().set["text"],
        "-100123"
    );
    assert_eq!(
        read_all(&json!({ "text": " x " })).unwrap().set["text"],
        "x"
    );
    assert!(accepts(&json!({ "text": "é".repeat(4096) })));
    for bad in [
        json!("é".repeat(4097)),
        json!("a\nb"),
        json!("a\0"),
        json!(true),
        json!([]),
        json!({}),
    ] {
        assert!(!accepts(&json!({ "text": bad })), "{bad}");
    }
    let token = |given: &str| {
        let changes = read_all(&json!({ "token": given })).unwrap();
        changes.secrets["token"].expose_secret().to_owned()
    };
    assert_eq!(token(" p w \r\n"), " p w ");
}

#[test]
fn ports_hosts_and_addresses() {
    assert_eq!(
        read_all(&json!({ "port": "587" })).unwrap().set["port"],
        587
    );
    assert!(accepts(&json!({ "port": 65_535 })) && accepts(&json!({ "port": 1 })));
    for bad in [json!(0), json!(65_536), json!(-1), json!(1.5), json!("x")] {
        assert!(!accepts(&json!({ "port": bad })), "{bad}");
    }
    for good in ["mail.example.com", "127.0.0.1", "::1", "[::1]", "localhost"] {
        assert!(accepts(&json!({ "host": good })), "{good}");
    }
    for bad in ["smtp://x", "x:25", "a b", "x/y"] {
        assert!(!accepts(&json!({ "host": bad })), "{bad}");
    }
    for good in ["a@example.com", "A B <a@example.com>"] {
        assert!(accepts(&json!({ "from": good })), "{good}");
    }
    for bad in [
        "a",
        "a@",
        "a@example.com, b@example.com",
        "a@example.com\r\nBcc: x@y.z",
    ] {
        assert!(!accepts(&json!({ "from": bad })), "{bad}");
    }
    let to = read_all(&json!({ "to": ["a@example.com", "B <b@example.com>"] })).unwrap();
    assert_eq!(to.set["to"], "a@example.com, B <b@example.com>");
    assert!(!accepts(&json!({ "to": "a@example.com, b" })));
}

#[test]
fn urls_are_the_owners_choice_but_for_metadata_and_users() {
    for good in [
        "http://127.0.0.1:9/x?y=z",
        "https://example.com",
        "http://[::1]/",
    ] {
        let changes = read_all(&json!({ "url": good })).unwrap();
        assert!(changes.names_url, "{good}");
    }
    for bad in [
        "example.com",
        "ftp://example.com",
        "http://169.254.169.254/",
        "http://u:p@example.com/",
        "https://example.com/#x",
        "file:///etc/passwd",
        "http://metadata.google.internal/",
    ] {
        assert!(!accepts(&json!({ "url": bad })), "{bad}");
    }
    assert!(read_all(&json!({ "url": null })).unwrap().names_url);
    assert!(!read_all(&json!({ "text": "http://x" })).unwrap().names_url);
}

#[test]
fn a_host_is_no_metadata_service() {
    for refused in [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "metadata.google.internal",
        "METADATA.google.internal.",
    ] {
        let error = read_all(&json!({ "host": refused })).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid host: this address must not be called",
            "{refused}"
        );
    }
    for fine in ["10.0.0.5", "127.0.0.1", "::1", "mail.example.com"] {
        assert!(accepts(&json!({ "host": fine })), "{fine}");
    }
}

#[test]
fn headers_are_an_object_or_lines_and_leave_ours_alone() {
    let stored = |given: Value| {
        let changes = read_all(&json!({ "headers": given })).unwrap();
        changes.secrets["headers"].expose_secret().to_owned()
    };
    assert_eq!(stored(json!({ "X-Team": "ops" })), r#"{"X-Team":"ops"}"#);
    assert_eq!(
        stored(json!("X-Team: ops\r\n\nAuthorization: Bearer a:b")),
        r#"{"X-Team":"ops","Authorization":"Bearer a:b"}"#
    );
    for bad in [
        json!({ "Host": "x" }),
        json!({ "webhook-id": "x" }),
        json!({ "a b": "x" }),
        json!({ "a": "b\r\nc" }),
        json!({ "a": 1 }),
        json!("no colon"),
        json!({ "Content-Length": "1" }),
        json!([1]),
    ] {
        assert!(!accepts(&json!({ "headers": bad })), "{bad}");
    }
    let many = |count: usize| -> Value {
        (0..count)
            .map(|n| (format!("x-{n}"), json!("v")))
            .collect::<Map<_, _>>()
            .into()
    };
    assert!(accepts(&json!({ "headers": many(32) })));
    assert!(!accepts(&json!({ "headers": many(33) })));
    assert_eq!(
        read_all(&json!({ "headers": {} })).unwrap().cleared.len(),
        1
    );
}

#[test]
fn a_signing_secret_is_base64_after_its_prefix() {
    assert!(accepts(&json!({ "signing": "whsec_c2VjcmV0" })));
    assert!(!accepts(&json!({ "signing": "whsec_%" })));
}
