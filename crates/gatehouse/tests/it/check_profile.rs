//! `webhooks check-profile`, without a server.

use super::profiles::{ACME, hex};
use crate::process::{BINARY, CommandOutput, Installation};
use serde_json::{Value, json};
use std::process::Command;

const BODY: &str = r#"{"type":"order.paid","id":"7"}"#;

#[tokio::test]
async fn a_mistake_is_reported_with_its_line() {
    let installation = Installation::new();
    let check = async |text: &str| {
        let file = installation.file("acme.toml", text).await;
        installation.run(&["webhooks", "check-profile", file.to_str().unwrap()])
    };
    let valid = check(ACME).await.ok();
    assert!(valid.starts_with("The profile acme is valid. Its mode is acme_signature."));
    let wrong = check(&ACME.replace("hmac-sha256", "md5")).await.failed(1);
    assert!(
        wrong.contains("acme.toml:8: unknown variant `md5`"),
        "{wrong}"
    );
    let taken = check(&ACME.replace("\"acme\"", "\"stripe\""))
        .await
        .failed(1);
    assert!(
        taken.contains("the profile `stripe` already exists"),
        "{taken}"
    );
}

#[tokio::test]
async fn a_delivery_is_verified_and_read_as_the_server_does() {
    let installation = Installation::new();
    let profile = installation.file("acme.toml", ACME).await;
    let body = installation.file("body.json", BODY).await;
    let signature = hex("secret", &format!("1790000000.{BODY}"));
    let header = format!("X-Acme-Signature: t=1790000000,v1={signature}");
    let check = |more: &[&str]| {
        let mut args = vec!["webhooks", "check-profile", profile.to_str().unwrap()];
        args.extend([
            "--sample",
            body.to_str().unwrap(),
            "--header",
            &header,
            "--json",
        ]);
        args.extend(more);
        installation.run(&args)
    };
    let delivery = |report: &str| -> Value {
        let report: Value = serde_json::from_str(report).unwrap();
        report["delivery"].clone()
    };
    // 299 seconds after the signature.
    let at = ["--at", "2026-09-21T14:18:19Z"];
    let verified = delivery(&check(&["--secret", "secret", at[0], at[1]]).ok());
    assert_eq!(
        verified,
        json!({ "verified": true, "is_handshake": false, "event_type": "order.paid",
            "delivery_key": "7", "entity_key": null, "summary": null })
    );
    assert_eq!(delivery(&check(&[]).ok())["verified"], Value::Null);

    for (more, reason) in [
        (
            vec!["--secret", "another", at[0], at[1]],
            "wrong signature or token",
        ),
        (
            vec!["--secret", "secret", "--at", "2026-09-21T14:18:21Z"],
            "timestamp too old",
        ),
    ] {
        let refused = check(&more);
        refused.failed(1);
        let refused = delivery(&refused.stdout());
        assert_eq!(refused["verified"], false);
        assert!(
            refused["refused"].as_str().unwrap().contains(reason),
            "{refused}"
        );
    }
    assert!(
        check(&["--header", "no colon"])
            .failed(2)
            .contains("--header")
    );
    assert!(check(&["--at", "noon"]).failed(2).contains("--at"));
}

#[tokio::test]
async fn the_secret_can_be_read_from_standard_input() {
    let installation = Installation::new();
    let profile = installation.file("acme.toml", ACME).await;
    let body = installation.file("body.json", BODY).await;
    let signature = hex("secret", &format!("1790000000.{BODY}"));
    let header = format!("X-Acme-Signature: t=1790000000,v1={signature}");
    for (stdin, given, is_verified) in [
        ("secret\n", &["--secret"][..], true),
        ("secret", &["--secret", "-"][..], true),
        ("another\n", &["--secret"][..], false),
    ] {
        let file = installation.file("secret", stdin).await;
        let mut command = installation.prepared(Command::new(BINARY));
        command
            .args(["webhooks", "check-profile", "--json", "--sample"])
            .args([&body, &profile])
            .args(["--header", &header, "--at", "2026-09-21T14:13:21Z"])
            .arg("--data-dir")
            .arg(installation.data_dir())
            .args(given)
            .stdin(std::fs::File::open(file).unwrap());
        let checked = CommandOutput(command.output().unwrap());
        assert_eq!(checked.code(), Some(i32::from(!is_verified)), "{stdin}");
        let report: Value = serde_json::from_str(&checked.stdout()).unwrap();
        assert_eq!(report["delivery"]["verified"], is_verified, "{report}");
    }
    // There is no standard input.
    let nothing = installation.run(&[
        "webhooks",
        "check-profile",
        profile.to_str().unwrap(),
        "--sample",
        body.to_str().unwrap(),
        "--secret",
    ]);
    assert!(nothing.failed(1).contains("standard input"));
}
