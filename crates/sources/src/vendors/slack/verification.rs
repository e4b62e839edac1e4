//! Slack's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Part, Scheme, Time};

pub(super) static MODE: Mode = Mode {
    name: "slack_signature",
    alias: None,
    label: "Slack signature",
    description: "`X-Slack-Signature`: HMAC-SHA256 of the version, timestamp and body.",
    proof: "The header X-Slack-Request-Timestamp carries the time in Unix seconds, and \
        X-Slack-Signature carries v0= and the HMAC-SHA256 of v0:<time>:<body>, in hex. The key \
        is the secret, {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://docs.slack.dev/authentication/verifying-requests-from-slack>
static SCHEME: Scheme = Scheme {
    headers: &["x-slack-signature"],
    prefixes: &["v0="],
    sends: "v0=",
    signed: &[
        Part::Text("v0:"),
        Part::Timestamp,
        Part::Text(":"),
        Part::Body,
    ],
    time: Time::Headers(&["x-slack-request-timestamp"]),
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::VerifyError;
    use crate::verify::tests::{Case, NOW_MS, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Slack, "Verifying requests from Slack", the worked example.
    #[test]
    fn the_published_value_verifies() {
        let body = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
            &channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
            &command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands\
            %2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
            &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let case = Case::new(MODE, "8f742231b10e8888abcd99yyyzzz85a5", body)
            .with("x-slack-request-timestamp", "1531420618")
            .with(
                "x-slack-signature",
                "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
            )
            .at(1_531_420_618_000);
        good(&case);
        assert_eq!(case.at(NOW_MS).verify(), Err(VerifyError::Stale));
    }
}
