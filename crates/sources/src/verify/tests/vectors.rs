//! Published vendor values or, where none exist, values computed with another program (`openssl dgst -mac
//! HMAC`, Python's `hmac`). Each test names its source.

use super::*;

fn good(case: &Case) {
    assert_eq!(case.verify(), Ok(()));
    let mut other = case.clone();
    other.body.push(b' ');
    assert_eq!(other.verify(), Err(VerifyError::Wrong));
    let mut other = case.clone();
    other.secrets = vec!["another secret".to_owned()];
    assert!(other.verify().is_err());
}

/// GitHub Docs, "Validating webhook deliveries", "Testing the webhook payload validation".
#[test]
fn codehost_a() {
    let case = Case::new(
        AuthMode::CodehostAHmacSha256,
        "It's a Secret to Everybody",
        b"Hello, World!",
    );
    let hex = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    good(
        &case
            .clone()
            .with("x-hub-signature-256", &format!("sha256={hex}")),
    );
    good(&case.clone().with("x-hub-signature-256", hex));
    good(&case.with(
        "x-hub-signature-256",
        &format!("sha256={}", hex.to_uppercase()),
    ));
}

/// Slack, "Verifying requests from Slack", the worked example.
#[test]
fn slack() {
    let body = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
        &channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
        &command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands\
        %2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
        &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    let case = Case::new(
        AuthMode::SlackSignature,
        "8f742231b10e8888abcd99yyyzzz85a5",
        body,
    )
    .with("x-slack-request-timestamp", "1531420618")
    .with(
        "x-slack-signature",
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    )
    .at(1_531_420_618_000);
    good(&case);
    assert_eq!(case.at(NOW_MS).verify(), Err(VerifyError::Stale));
}

/// The value in the tests of the Standard Webhooks reference libraries, and earlier of Svix.
#[test]
fn standard_webhooks() {
    let case = Case::new(
        AuthMode::StandardWebhooks,
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        b"{\"test\": 2432232314}",
    )
    .at(1_614_265_330_000);
    let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let neutral = case
        .clone()
        .with("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
        .with("webhook-timestamp", "1614265330")
        .with("webhook-signature", signature);
    good(&neutral);
    let svix = case
        .with("svix-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
        .with("svix-timestamp", "1614265330")
        .with("svix-signature", signature);
    good(&svix);
    let mut without_prefix = neutral;
    without_prefix.secrets = vec!["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()];
    good(&without_prefix);
}

/// Twilio, "Security", "Validating requests". The second set is from the tests of its libraries.
#[test]
fn twilio() {
    for (number, signature) in [
        ("%2B12349013030", "0/KCTR6DLpKmkAf8muzZqo1nDgQ="),
        ("%2B14158675309", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
    ] {
        let body = format!(
            "To=%2B18005551212&CallSid=CA1234567890ABCDE&Digits=1234&From={number}&Caller={number}"
        );
        let mut case = Case::new(AuthMode::TwilioSignature, "12345", body.as_bytes())
            .with("x-twilio-signature", signature);
        for url in [
            "https://mycompany.com/myapp.php?foo=1&bar=2",
            "https://mycompany.com:443/myapp.php?foo=1&bar=2",
        ] {
            url.clone_into(&mut case.url);
            good(&case);
        }
        for url in [
            "http://mycompany.com/myapp.php?foo=1&bar=2",
            "https://mycompany.com:8443/myapp.php?foo=1&bar=2",
            "https://mycompany.com/myapp.php?foo=1",
            "",
        ] {
            url.clone_into(&mut case.url);
            assert_eq!(case.verify(), Err(VerifyError::Wrong), "{url}");
        }
    }
}

/// From the tests of Twilio's libraries: a repeated name.
#[test]
fn twilio_with_repeated_names() {
    let body = b"Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234";
    let mut case = Case::new(AuthMode::TwilioSignature, "12345", body)
        .with("x-twilio-signature", "IK+Dwps556ElfBT0I3Rgjkr1wJU=");
    case.url = "https://mycompany.com/myapp.php?foo=1&bar=2".to_owned();
    good(&case);
}

/// From the tests of Twilio's libraries: a body that is not a form is signed by its hash in the URL.
#[test]
fn twilio_with_the_bodys_hash() {
    let body = b"{\"property\": \"value\", \"boolean\": true}";
    let mut case = Case::new(AuthMode::TwilioSignature, "12345", body)
        .with("x-twilio-signature", "a9nBmqA0ju/hNViExpshrM61xv4=");
    case.url = "https://mycompany.com/myapp.php?foo=1&bar=2&bodySHA256=\
        0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620"
        .to_owned();
    good(&case);
    case.url = case.url.replace("0a1f", "0a1e");
    assert_eq!(case.verify(), Err(VerifyError::Wrong));
}

/// `PagerDuty`'s documentation shows a header without its body. The value is from the tests of its Go
/// library, for the body in `incident.json`.
#[test]
fn incident() {
    let body = include_bytes!("incident.json");
    let case = Case::new(
        AuthMode::IncidentV2Signature,
        "lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK",
        body.trim_ascii_end(),
    );
    let right = "v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd";
    let wrong = "v1=7020c8a7ec668a9b7012bc3dd82e483394b038f4230acc6785efbf2a7d8bcaf5";
    good(&case.clone().with("x-pagerduty-signature", right));
    good(
        &case
            .clone()
            .with("x-incident-signature", &format!("{wrong},{right}")),
    );
    good(
        &case
            .clone()
            .with("x-pagerduty-signature", &format!("{right},{wrong}")),
    );
    let refused = case.with("x-pagerduty-signature", wrong);
    assert_eq!(refused.verify(), Err(VerifyError::Wrong));
}

/// Stripe publishes no body with its signature. Its documentation shows the header's format, with a `v0`
/// signature alongside. Computed with `openssl dgst -sha256 -hmac`.
#[test]
fn payments() {
    let case = Case::new(
        AuthMode::PaymentsWebhookSignature,
        "whsec_test_secret",
        b"{\"id\":\"evt_test_webhook\",\"object\":\"event\"}",
    )
    .at(1_492_774_577_000);
    let header = "t=1492774577,v1=88a022085c6bdb887b02cb26ff76dd681234d9675c0f22844059f55552a8883a,\
        v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39";
    good(&case.clone().with("stripe-signature", header));
    good(&case.with("payments-signature", header));
}

/// Linear publishes no value. Computed with `openssl dgst -sha256 -hmac`.
#[test]
fn tracker_a() {
    let case = Case::new(
        AuthMode::TrackerAWebhookSignature,
        "lin_wh_secret",
        b"{\"action\":\"create\",\"type\":\"Comment\",\"webhookTimestamp\":1677611643000}",
    )
    .at(1_677_611_643_000);
    let hex = "3daaafadf39857cfc79e6718f62490fc0ee78dbdf36efebcb7a74b8250b3af03";
    good(&case.clone().with("linear-signature", hex));
    good(&case.clone().with("tracker-a-signature", hex));
    assert_eq!(
        case.with("linear-signature", hex).at(NOW_MS).verify(),
        Err(VerifyError::Stale)
    );
}

/// Sentry publishes no value. Computed with `openssl dgst -sha256 -hmac`.
#[test]
fn errors() {
    let case = Case::new(
        AuthMode::ErrorsWebhookSignature,
        "sentry client secret",
        "{\"action\":\"created\",\"data\":{\"issue\":{\"title\":\"Überlauf\"}}}".as_bytes(),
    );
    let hex = "3fc2d07e2a3942fbb0ecf46ed821cd8d0f73c6b9d241b067e12513efed1add0a";
    good(&case.clone().with("sentry-hook-signature", hex));
    good(&case.with("errors-hook-signature", hex));
}

/// Shopify publishes no value. Computed with `openssl dgst -sha256 -hmac … -binary | base64`.
#[test]
fn shopify() {
    let case = Case::new(
        AuthMode::ShopifyHmacSha256,
        "shpss_secret",
        b"{\"id\":820982911946154508,\"email\":\"jon@example.com\"}",
    );
    good(&case.with(
        "x-shopify-hmac-sha256",
        "vo+n5h/cLxNKGlgJ0Fd1aDzU0aOaajK8Hs9m0hPqWiQ=",
    ));
}
