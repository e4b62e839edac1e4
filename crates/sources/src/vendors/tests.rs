//! Tests the signatures of vendors whose profile is a file, with values that the vendors publish or that `openssl` or
//! an independent library computes.

use super::*;
use crate::auth_mode::AuthMode;
use crate::profile;
use crate::profile_file;
use crate::verify::VerifyError;
use crate::verify::scheme::{Method, Part, Scheme, Time};
use crate::verify::tests::{Case, NOW_MS, good};
use ed25519_dalek::{Signer as _, SigningKey};
use serde::Deserialize;
use std::collections::BTreeMap;
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

/// During a rotation, Paddle sends a second signature. The value is from the tests of Paddle's library:
/// <https://github.com/PaddleHQ/paddle-node-sdk/blob/main/src/__tests__/notifications/webhooks-validator.node.test.ts>
#[test]
fn paddle_sends_several_signatures() {
    let several = "ts=1698796800;h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261;\
        h1=28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261;h2=RANDOM_HASH";
    let case = Case::new(mode("paddle"), "VALID_SECRET", br#"{"data": "value"}"#);
    let case = case.at(1_698_796_800_000);
    good(&case.clone().with("paddle-signature", several));
    let moved = several.replace("1698796800", "1698796801");
    let moved = case.with("paddle-signature", &moved);
    assert_eq!(moved.verify(), Err(VerifyError::Wrong));
}

#[test]
fn twitch_sends_a_time() {
    let (id, body) = (
        "e76c6bd4-55c9-4987-8304-da1588d8988b",
        r#"{"challenge":"pogchamp"}"#,
    );
    let hex = openssl_hmac("a secret of ours", &format!("{id}yesterday{body}"));
    let odd = Case::new(mode("twitch"), "a secret of ours", body.as_bytes())
        .with("twitch-eventsub-message-id", id)
        .with("twitch-eventsub-message-timestamp", "yesterday")
        .with(
            "twitch-eventsub-message-signature",
            &format!("sha256={hex}"),
        );
    assert_eq!(odd.verify(), Err(VerifyError::Malformed));
}

#[test]
fn grafana_needs_its_timestamp() {
    let body = r#"{"status":"firing"}"#;
    let signed = |text: &str| {
        let hex = openssl_hmac("a secret of ours", text);
        Case::new(mode("grafana"), "a secret of ours", body.as_bytes())
            .with("x-grafana-alerting-signature", &hex)
    };
    let time = "x-grafana-alerting-signature-timestamp";
    assert_eq!(signed(body).verify(), Err(VerifyError::MissingTimestamp));
    let added = signed(body).with(time, "1700000000");
    assert_eq!(added.verify(), Err(VerifyError::Wrong));
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

/// A delivery as the vendor sends it, in `vectors.json` of its folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    /// The page that publishes the value, or how it was computed.
    source: String,
    secret: String,
    body: String,
    headers: BTreeMap<String, String>,
    url: Option<String>,
    /// Unix time in seconds, if it is signed.
    signed_at: Option<i64>,
    tolerance_seconds: Option<i64>,
}

impl FileVendor {
    fn read_vectors(&self) -> Vec<Vector> {
        serde_json::from_str(self.vectors)
            .unwrap_or_else(|error| panic!("{}: {error}", self.folder))
    }
}

#[test]
fn every_vendors_delivery_verifies_and_is_refused_when_it_differs() {
    for vendor in IN_FILES {
        let vectors = vendor.read_vectors();
        assert!(!vectors.is_empty(), "{}", vendor.folder);
        for vector in vectors {
            let context = format!("{} ({})", vendor.folder, vector.source);
            check_vector(mode(vendor.folder), &vector, &context);
        }
    }
}

fn check_vector(mode: AuthMode, vector: &Vector, context: &str) {
    let now_ms = vector.signed_at.map_or(NOW_MS, |at| at * 1000);
    let mut case = Case::new(mode, &vector.secret, vector.body.as_bytes()).at(now_ms);
    if let Some(url) = &vector.url {
        case.url.clone_from(url);
    }
    for (name, value) in &vector.headers {
        case = case.with(name, value);
    }
    assert_eq!(case.verify(), Ok(()), "{context}");
    for name in vector.headers.keys() {
        let without = case.clone().without(name).verify();
        let is_named = matches!(
            without,
            Err(VerifyError::Missing | VerifyError::MissingTimestamp)
        );
        assert!(is_named, "{context} without {name}: {without:?}");
    }
    let Method::Signature(scheme) = mode.method() else {
        case.secrets = vec!["another".to_owned()];
        assert_eq!(case.verify(), Err(VerifyError::Wrong), "{context}");
        return;
    };
    good(&case);
    check_scheme(scheme, vector, &case, context);
}

fn check_scheme(scheme: &Scheme, vector: &Vector, case: &Case, context: &str) {
    if scheme.signed.contains(&Part::Url) {
        let mut other = case.clone();
        other.url.push('x');
        assert_eq!(other.verify(), Err(VerifyError::Wrong), "{context}");
    }
    if !scheme.sends.is_empty() {
        let name = scheme
            .headers
            .iter()
            .find(|name| vector.headers.contains_key(**name));
        let name = name.unwrap();
        let bare = vector.headers[*name].replacen(scheme.sends, "", 1);
        let bare = case.clone().without(name).with(name, &bare);
        assert_eq!(bare.verify(), Err(VerifyError::Malformed), "{context}");
    }
    let (Some(at), Some(tolerance)) = (vector.signed_at, vector.tolerance_seconds) else {
        assert!(
            matches!(scheme.time, Time::Unsigned),
            "{context}: no tolerance"
        );
        return;
    };
    for (seconds, expected) in [
        (tolerance, Ok(())),
        (tolerance + 1, Err(VerifyError::Stale)),
        (-tolerance, Ok(())),
        (-tolerance - 1, Err(VerifyError::FromFuture)),
    ] {
        let at = case.clone().at((at + seconds) * 1000);
        assert_eq!(at.verify(), expected, "{context}: {seconds}");
    }
}

#[test]
fn forgejo_sends_both_headers() {
    let vendor = IN_FILES.iter().find(|vendor| vendor.folder == "gitea");
    let vectors = vendor.unwrap().read_vectors();
    let (gitea, forgejo) = (&vectors[0], &vectors[1]);
    let mut case = Case::new(mode("gitea"), &gitea.secret, gitea.body.as_bytes());
    for (name, value) in gitea.headers.iter().chain(&forgejo.headers) {
        case = case.with(name, value);
    }
    good(&case);
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
