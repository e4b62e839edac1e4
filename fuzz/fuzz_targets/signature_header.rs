//! Headers with signatures and tokens: whatever they contain, a request without the secret is rejected.
#![no_main]

use gatehouse_sources::AuthMode;
use gatehouse_sources::verify::{SignInput, VerifyInput, prove, sign};
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const URL: &str = "https://hooks.example/api/webhooks/ingest/wh_1?a=b";
const NOW_MS: i64 = 1_700_000_000_000;

fuzz_target!(|bytes: &[u8]| {
    let (pick, rest) = gatehouse_fuzz::split(bytes);
    let modes: Vec<AuthMode> = AuthMode::all()
        .iter()
        .copied()
        .filter(|mode| mode.needs_secret())
        .collect();
    let mode = modes[usize::from(pick) % modes.len()];
    // Header lines, an empty line, and a body.
    let end = rest.windows(2).position(|two| two == b"\n\n");
    let (lines, body) = rest.split_at(end.unwrap_or(rest.len()));
    let body = body.get(2..).unwrap_or_default();
    let signed = sign(&SignInput {
        mode,
        header: None,
        secret: SECRET,
        url: URL,
        body,
        now_ms: NOW_MS,
        id: "msg_1",
    });
    let check = |headers: &HeaderMap| {
        prove(&VerifyInput {
            mode,
            header: None,
            secrets: &[SECRET],
            headers,
            body,
            url: URL,
            now_ms: NOW_MS,
            tracker_tolerance_seconds: 300,
        })
        .map(drop)
    };

    // An attacker's headers, with the names that the mode reads.
    let mut strange = HeaderMap::new();
    let names = signed.iter().map(|(name, _)| name).cycle();
    for (line, name) in lines.split(|byte| *byte == b'\n').take(30).zip(names) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            strange.append(name, value);
        }
    }
    let knows = lines
        .windows(SECRET.len())
        .any(|part| part == SECRET.as_bytes());
    assert!(check(&strange).is_err() || knows);

    // The owner's headers are valid; with a tracker's body its timestamp must be valid as well.
    let own: HeaderMap = signed.into_iter().collect();
    let refused = check(&own);
    assert!(refused.is_ok() || mode.as_str() == "tracker_a_webhook_signature");

    // Adding an attacker's headers can only lead to a rejection.
    for (name, value) in &strange {
        let mut both = own.clone();
        both.append(name, value.clone());
        let _either = check(&both);
    }
});
