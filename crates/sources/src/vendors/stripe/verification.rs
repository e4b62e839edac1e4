//! Stripe's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Part, Scheme, Time};

pub(super) static MODE: Mode = Mode {
    name: "payments_webhook_signature",
    alias: Some("stripe_webhook_signature"),
    label: "Stripe signature",
    description: "`Payments-Signature`: HMAC-SHA256 of the timestamp and body.",
    proof: "The header Payments-Signature carries t=<time>,v1=<signature>: the time in Unix seconds, \
        and the HMAC-SHA256 of time, a dot and the body, in hex. The key is the secret, \
        {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://docs.stripe.com/webhooks#verify-manually>. The test scheme `v0` is ignored.
static SCHEME: Scheme = Scheme {
    headers: &["payments-signature", "stripe-signature"],
    sends: "v1=",
    signed: &[Part::Timestamp, Part::Text("."), Part::Body],
    time: Time::Item("t="),
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Stripe publishes no body with its signature. Its documentation shows only the header's format, which also
    /// has a `v0` signature. The value was computed with `openssl dgst -sha256 -hmac`.
    #[test]
    fn a_computed_value_verifies() {
        let case = Case::new(
            MODE,
            "whsec_test_secret",
            b"{\"id\":\"evt_test_webhook\",\"object\":\"event\"}",
        )
        .at(1_492_774_577_000);
        let header = "t=1492774577,v1=88a022085c6bdb887b02cb26ff76dd681234d9675c0f22844059f55552a8883a,\
            v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39";
        good(&case.clone().with("stripe-signature", header));
        good(&case.with("payments-signature", header));
    }
}
