//! Interoperability with vendors' libraries. Gatehouse verifies deliveries that they sign, and they accept
//! deliveries that Gatehouse signs for `webhooks.test`. `GATEHOUSE_TEST_NODE_SDKS` names the folder in which
//! `tests/webhook-sdks/package.json` was installed; `cargo xtask test` sets it.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signer as _, SigningKey};
use gatehouse_domain::{Clock as _, SystemClock};
use gatehouse_doubles::prepared;
use gatehouse_sources::AuthMode;
use gatehouse_sources::verify::{SignInput, VerifyError, VerifyInput, prove, sign};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

/// A delivery in the format that the scripts read and write.
#[derive(Clone, Deserialize, Serialize)]
struct Delivery {
    mode: AuthMode,
    #[serde(default)]
    library: String,
    secret: String,
    #[serde(default)]
    url: String,
    body: String,
    headers: BTreeMap<String, String>,
}

/// A vendor library's verdict on a delivery by Gatehouse.
#[derive(Deserialize)]
struct Answer {
    mode: AuthMode,
    library: String,
    accepted: bool,
    accepted_when_changed: bool,
}

/// Runs a script and parses its output.
fn node<T: serde::de::DeserializeOwned>(script: &[&str], input: &str) -> Option<T> {
    let mut child = Command::new("node")
        .args(script)
        .current_dir(prepared("GATEHOUSE_TEST_NODE_SDKS", "vendors' libraries")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The scripts read all input before they write.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{script:?}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn check(delivery: &Delivery, now_ms: i64) -> Result<(), VerifyError> {
    let headers: HeaderMap = delivery
        .headers
        .iter()
        .map(|(name, value)| {
            let name = name.parse::<HeaderName>().unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        })
        .collect();
    prove(&VerifyInput {
        mode: delivery.mode,
        header: None,
        secrets: &[&delivery.secret],
        headers: &headers,
        body: delivery.body.as_bytes(),
        url: &delivery.url,
        now_ms,
        tracker_tolerance_seconds: 300,
    })
    .map(drop)
}

#[test]
fn what_vendors_libraries_sign_verifies() {
    const SECONDS: i64 = 1_700_000_000;
    let Some(samples) = node::<Vec<Delivery>>(&["sign.mjs", &SECONDS.to_string()], "") else {
        return;
    };
    let mut libraries = BTreeSet::new();
    for sample in samples {
        let Delivery { mode, library, .. } = &sample;
        assert_eq!(check(&sample, SECONDS * 1000), Ok(()), "{mode} {library}");
        let mut changed = sample.clone();
        changed.body.push('x');
        assert_eq!(
            check(&changed, SECONDS * 1000),
            Err(VerifyError::Wrong),
            "{mode} {library}"
        );
        libraries.insert(sample.library);
    }
    let expected = [
        "@octokit/webhooks-methods",
        "standardwebhooks",
        "stripe",
        "svix",
        "twilio",
    ];
    assert!(libraries.iter().eq(expected), "{libraries:?}");
}

/// Returns an interaction signed like Discord's, with our own key pair, because only Discord has its private key.
fn of_discord(body: &str, now_ms: i64) -> Delivery {
    let key = SigningKey::from_bytes(&[7; 32]);
    let time = now_ms.div_euclid(1000).to_string();
    let signature = key.sign(format!("{time}{body}").as_bytes());
    let headers = [
        (
            "x-signature-ed25519",
            HEXLOWER.encode(&signature.to_bytes()),
        ),
        ("x-signature-timestamp", time),
    ];
    Delivery {
        mode: "discord_interactions_signature".parse().unwrap(),
        library: String::new(),
        secret: HEXLOWER.encode(key.verifying_key().as_bytes()),
        url: String::new(),
        body: body.to_owned(),
        headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

#[test]
fn what_we_sign_vendors_libraries_accept() {
    // The libraries check the timestamp against the real clock.
    let now_ms = SystemClock::new().now().as_millis();
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let url = "https://hooks.example/api/webhooks/ingest/wh_1";
    let rest = format!("\"webhookTimestamp\":{now_ms},\"event\":\"order.paid\"}}");
    let json = format!("{{\"name\":\"Ärger 😀\",{rest}");
    // Meta sends and signs such characters as escape sequences: developers.facebook.com, "Validating Payloads".
    let escaped = format!("{{\"name\":\"\\u00c4rger \\ud83d\\ude00\",{rest}");
    let form = "From=%2B1415&Body=a+b%26c+%C3%A9&Empty=";
    let mut deliveries: Vec<Delivery> = AuthMode::all()
        .iter()
        .filter(|mode| mode.can_sign())
        .map(|mode| {
            let body = match mode.as_str() {
                "twilio_signature" => form,
                "meta_signature" => &escaped,
                _ => &json,
            };
            let headers = sign(&SignInput {
                mode: *mode,
                header: None,
                secret,
                url,
                body: body.as_bytes(),
                now_ms,
                id: "msg_1",
            });
            Delivery {
                mode: *mode,
                library: String::new(),
                secret: secret.to_owned(),
                url: url.to_owned(),
                body: body.to_owned(),
                headers: headers
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                    .collect(),
            }
        })
        .collect();
    let interaction = of_discord(&json, now_ms);
    assert_eq!(check(&interaction, now_ms), Ok(()));
    deliveries.push(interaction);
    let input = serde_json::to_string(&deliveries).unwrap();
    let Some(answers) = node::<Vec<Answer>>(&["check.mjs"], &input) else {
        return;
    };
    for answer in &answers {
        let Answer { mode, library, .. } = answer;
        assert!(answer.accepted, "{library} refuses our {mode}");
        assert!(
            !answer.accepted_when_changed,
            "{library} accepts anything as {mode}"
        );
    }
    let asked: BTreeSet<&str> = answers.iter().map(|answer| &*answer.library).collect();
    let expected = [
        "@linear/sdk",
        "@octokit/webhooks-methods",
        "@paddle/paddle-node-sdk",
        "@shopify/shopify-api",
        "@slack/bolt",
        "@twurple/eventsub-http",
        "@zoom/rivet",
        "discord-interactions",
        "standardwebhooks",
        "stripe",
        "svix",
        "twilio",
        "whatsapp-api-js",
    ];
    assert!(asked.iter().eq(expected.iter()), "{asked:?}");
}
