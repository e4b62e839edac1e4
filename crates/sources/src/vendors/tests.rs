//! How vendors whose profile is a file sign: values that they publish, or ones that `openssl` or an independent library
//! computes.

use super::*;
use crate::auth_mode::AuthMode;
use crate::profile;
use crate::profile_file;
use crate::verify::VerifyError;
use crate::verify::tests::{Case, NOW_MS, good};
use ed25519_dalek::{Signer as _, SigningKey};
use std::process::Command;

fn mode(profile: &str) -> AuthMode {
    profile::find(profile).unwrap().default_auth_mode
}

fn openssl_hmac(key: &str, text: &str) -> String {
    let output = Command::new("sh")
        .args([
            "-c",
            "printf '%s' \"$TEXT\" | openssl dgst -sha256 -hmac \"$KEY\" | sed 's/^.* //'",
        ])
        .envs([("TEXT", text), ("KEY", key)])
        .output()
        .unwrap();
    let hex = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    assert_eq!(hex.len(), 64);
    hex
}

#[test]
fn every_file_is_valid_and_named_like_its_folder() {
    for vendor in IN_FILES {
        let file = profile_file::parse(vendor.folder, vendor.profile, Some(vendor.sample));
        let file = file.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.profile.id, vendor.folder);
        assert!(profile::find(vendor.folder).is_some());
    }
}

/// "Examples" in Atlassian's "Manage webhooks":
/// <https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/#Examples>
#[test]
fn bitbucket() {
    let hex = "a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9";
    let case = Case::new(
        mode("bitbucket"),
        "It's a Secret to Everybody",
        b"Hello World!",
    );
    good(
        &case
            .clone()
            .with("x-hub-signature", &format!("sha256={hex}")),
    );
    let bare = case.with("x-hub-signature", hex);
    assert_eq!(bare.verify(), Err(VerifyError::Malformed));
}

#[test]
fn gitea_and_forgejo() {
    let hex = openssl_hmac("a secret of ours", r#"{"ref":"refs/heads/main"}"#);
    let case = Case::new(
        mode("gitea"),
        "a secret of ours",
        br#"{"ref":"refs/heads/main"}"#,
    );
    good(&case.clone().with("x-gitea-signature", &hex));
    good(&case.clone().with("x-forgejo-signature", &hex));
    // Forgejo sends both.
    good(
        &case
            .with("x-forgejo-signature", &hex)
            .with("x-gitea-signature", &hex),
    );
}

/// The values in the tests of Paddle's library:
/// <https://github.com/PaddleHQ/paddle-node-sdk/blob/main/src/__tests__/notifications/webhooks-validator.node.test.ts>
#[test]
fn paddle() {
    let header =
        "ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9";
    let case =
        Case::new(mode("paddle"), "VALID_SECRET", br#"{"data": ["1", "2"]}"#).at(1_698_796_800_000);
    good(&case.clone().with("paddle-signature", header));
    let several = "ts=1698796800;h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261;\
        h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261;h2=RANDOM_HASH";
    let other = Case::new(mode("paddle"), "VALID_SECRET", br#"{"data": "value"}"#);
    good(
        &other
            .at(1_698_796_800_000)
            .with("paddle-signature", several),
    );
    let times = [
        (300, Ok(())),
        (301, Err(VerifyError::Stale)),
        (-301, Err(VerifyError::FromFuture)),
    ];
    for (seconds, expected) in times {
        let at = case.clone().at(1_698_796_800_000 + seconds * 1000);
        assert_eq!(
            at.with("paddle-signature", header).verify(),
            expected,
            "{seconds}"
        );
    }
    let moved = case.with(
        "paddle-signature",
        &header.replace("1698796800", "1698796801"),
    );
    assert_eq!(moved.verify(), Err(VerifyError::Wrong));
}

#[test]
fn zoom() {
    let body = r#"{"event":"meeting.started"}"#;
    let hex = openssl_hmac("zoom's secret token", &format!("v0:1700000000:{body}"));
    let case = Case::new(mode("zoom"), "zoom's secret token", body.as_bytes())
        .with("x-zm-request-timestamp", "1700000000")
        .with("x-zm-signature", &format!("v0={hex}"));
    good(&case);
    assert_eq!(case.clone().at(NOW_MS + 300_000).verify(), Ok(()));
    assert_eq!(case.at(NOW_MS + 301_000).verify(), Err(VerifyError::Stale));
}

#[test]
fn twitch() {
    let (id, time) = (
        "e76c6bd4-55c9-4987-8304-da1588d8988b",
        "2023-11-14T22:13:20.123456789Z",
    );
    let body = r#"{"challenge":"pogchamp"}"#;
    let hex = openssl_hmac("a secret of ours", &format!("{id}{time}{body}"));
    let case = Case::new(mode("twitch"), "a secret of ours", body.as_bytes())
        .with("twitch-eventsub-message-id", id)
        .with("twitch-eventsub-message-timestamp", time)
        .with(
            "twitch-eventsub-message-signature",
            &format!("sha256={hex}"),
        );
    good(&case);
    // Ten minutes, as Twitch documents.
    assert_eq!(case.clone().at(NOW_MS + 600_000).verify(), Ok(()));
    assert_eq!(
        case.clone().at(NOW_MS + 601_000).verify(),
        Err(VerifyError::Stale)
    );
    assert_eq!(
        case.clone().at(NOW_MS - 601_000).verify(),
        Err(VerifyError::FromFuture)
    );
    let odd = Case::new(mode("twitch"), "a secret of ours", body.as_bytes())
        .with("twitch-eventsub-message-id", id)
        .with("twitch-eventsub-message-timestamp", "yesterday")
        .with(
            "twitch-eventsub-message-signature",
            &format!(
                "sha256={}",
                openssl_hmac("a secret of ours", &format!("{id}yesterday{body}"))
            ),
        );
    assert_eq!(odd.verify(), Err(VerifyError::Malformed));
}

#[test]
fn grafana_with_its_timestamp() {
    let body = r#"{"status":"firing"}"#;
    let signed = |text: &str| {
        let hex = openssl_hmac("a secret of ours", text);
        Case::new(mode("grafana"), "a secret of ours", body.as_bytes())
            .with("x-grafana-alerting-signature", &hex)
    };
    let time = "x-grafana-alerting-signature-timestamp";
    let case = signed(&format!("1700000000:{body}")).with(time, "1700000000");
    good(&case);
    assert_eq!(case.at(NOW_MS + 301_000).verify(), Err(VerifyError::Stale));
    assert_eq!(signed(body).verify(), Err(VerifyError::MissingTimestamp));
    let added = signed(body).with(time, "1700000000");
    assert_eq!(added.verify(), Err(VerifyError::Wrong));
}

/// The value in the documentation of an independent library: <https://hexdocs.pm/whatsapp_sdk/WhatsApp.Webhook.html>
#[test]
fn meta() {
    let hex = "0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914";
    let case = Case::new(mode("meta"), "secret", b"test");
    good(&case.with("x-hub-signature-256", &format!("sha256={hex}")));
}

#[test]
fn alertmanager_and_uptime_kuma_send_the_secret() {
    let case = Case::new(mode("alertmanager"), "a secret of ours", b"{}");
    assert_eq!(
        case.clone()
            .with("authorization", "Bearer a secret of ours")
            .verify(),
        Ok(())
    );
    let wrong = case.with("authorization", "Bearer another");
    assert_eq!(wrong.verify(), Err(VerifyError::Wrong));
    let case = Case::new(mode("uptime_kuma"), "a secret of ours", b"{}");
    assert_eq!(
        case.clone()
            .with("x-webhook-secret", "a secret of ours")
            .verify(),
        Ok(())
    );
    assert_eq!(
        case.with("x-webhook-secret", "another").verify(),
        Err(VerifyError::Wrong)
    );
}

#[test]
fn discord_signs_with_its_own_key() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = data_encoding::HEXLOWER.encode(key.verifying_key().as_bytes());
    let body = br#"{"type":1}"#;
    let signed = |time: &str| {
        let message = [time.as_bytes(), body].concat();
        let signature = data_encoding::HEXLOWER.encode(&key.sign(&message).to_bytes());
        Case::new(mode("discord_interactions"), &public, body)
            .with("x-signature-timestamp", time)
            .with("x-signature-ed25519", &signature)
    };
    let case = signed("1700000000");
    good(&case);
    assert_eq!(
        case.clone().at(NOW_MS + 301_000).verify(),
        Err(VerifyError::Stale)
    );
    let mut rotated = case.clone();
    rotated.secrets.insert(0, "00".repeat(32));
    assert_eq!(rotated.verify(), Ok(()));
    let mut text = case;
    text.secrets = vec!["not a key".to_owned()];
    assert_eq!(text.verify(), Err(VerifyError::NoSecret));
}

/// RFC 8032, section 7.1, test 2, with its message as the body.
#[test]
fn ed25519_verifies_the_value_of_the_rfc() {
    let file = profile_file::parse(
        "rfc.toml",
        r#"
            id = "rfc8032"
            name = "RFC"
            about = "A test"
            verify = { headers = ["x-sig"], algorithm = "ed25519" }
        "#,
        None,
    );
    let mode = file.unwrap().profile.default_auth_mode;
    let public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    let signature = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
        085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
    good(&Case::new(mode, public, &[0x72]).with("x-sig", signature));
}
