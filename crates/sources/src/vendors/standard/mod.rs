//! Standard Webhooks, the signature that many senders share. Webhooks of such senders use the generic profile.

use crate::auth_mode::Mode;
use crate::vendors::Vendor;
use crate::verify::scheme::{BODY, Encoding, Key, Method, Part, Scheme, Time};

pub(super) const VENDOR: Vendor = Vendor {
    profile: None,
    modes: &[&MODE],
};

pub(crate) static MODE: Mode = Mode {
    name: "standard_webhooks",
    alias: None,
    label: "Standard Webhooks signature",
    description: "Standard Webhooks: HMAC-SHA256 of the id, timestamp and body.",
    proof: "The headers Webhook-Id and Webhook-Timestamp (Unix seconds) carry id and time; \
        Webhook-Signature carries v1, (with the comma) and the HMAC-SHA256 of id, a dot, time, a \
        dot and the body, in Base64. The key is the Base64-decoded part of the secret, {secret}, \
        after whsec_.",
    secret_from_sender: false,
    method: Method::Signature(&SCHEME),
};

/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>. The
/// alternative header names are from Svix, where the scheme originated.
static SCHEME: Scheme = Scheme {
    headers: &["webhook-signature", "svix-signature"],
    encoding: Encoding::Base64,
    prefixes: &["v1,"],
    bare: false,
    sends: "v1,",
    separator: Some(' '),
    key: Key::Whsec,
    signed: &[
        Part::Id,
        Part::Text("."),
        Part::Timestamp,
        Part::Text("."),
        Part::Body,
    ],
    id_headers: &["webhook-id", "svix-id"],
    time: Time::Headers(&["webhook-timestamp", "svix-timestamp"]),
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// The value is from the tests of the Standard Webhooks reference libraries, which copied it from Svix.
    #[test]
    fn the_published_value_verifies() {
        let case = Case::new(
            MODE,
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
}
