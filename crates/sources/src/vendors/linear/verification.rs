//! Linear's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Scheme, Time};

pub(super) static MODE: Mode = Mode {
    name: "tracker_a_webhook_signature",
    alias: Some("linear_webhook_signature"),
    label: "Linear signature",
    description: "`Tracker-A-Signature`: HMAC-SHA256 of the body, which contains the timestamp.",
    proof: "The header Tracker-A-Signature carries the HMAC-SHA256 of the body, in hex; where the \
        body has webhookTimestamp (Unix milliseconds), it must be recent. The key is the secret, \
        {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://linear.app/developers/webhooks#securing-webhooks>
static SCHEME: Scheme = Scheme {
    headers: &["tracker-a-signature", "linear-signature"],
    time: Time::Body("webhookTimestamp"),
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::VerifyError;
    use crate::verify::tests::{Case, NOW_MS, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Linear publishes no example. The value was computed with `openssl dgst -sha256 -hmac`.
    #[test]
    fn a_computed_value_verifies() {
        let case = Case::new(
            MODE,
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
}
