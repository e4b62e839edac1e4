//! Shopify's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Encoding, Method, Scheme};

pub(super) static MODE: Mode = Mode {
    name: "shopify_hmac_sha256",
    alias: None,
    label: "Shopify signature",
    description: "`X-Shopify-Hmac-Sha256`: Base64-encoded HMAC-SHA256 of the body.",
    proof: "The header X-Shopify-Hmac-Sha256 carries the HMAC-SHA256 of the body, in Base64. The key \
        is the secret, {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://shopify.dev/docs/apps/build/webhooks/verify-deliveries>. The second name is used by Shopify's
/// newer "events"; see `ShopifyEventsHeader` in its Node library.
static SCHEME: Scheme = Scheme {
    headers: &["x-shopify-hmac-sha256", "shopify-hmac-sha256"],
    encoding: Encoding::Base64,
    prefixes: &[],
    separator: None,
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Shopify publishes no example. The value was computed with `openssl dgst -sha256 -hmac … -binary | base64`.
    #[test]
    fn a_computed_value_verifies() {
        let case = Case::new(
            MODE,
            "shpss_secret",
            b"{\"id\":820982911946154508,\"email\":\"jon@example.com\"}",
        );
        good(&case.with(
            "x-shopify-hmac-sha256",
            "vo+n5h/cLxNKGlgJ0Fd1aDzU0aOaajK8Hs9m0hPqWiQ=",
        ));
    }
}
