//! Sentry's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Scheme};

pub(super) static MODE: Mode = Mode {
    name: "errors_webhook_signature",
    alias: Some("sentry_webhook_signature"),
    label: "Sentry signature",
    description: "`Errors-Hook-Signature`: HMAC-SHA256 of the body.",
    proof: "The header Errors-Hook-Signature carries the HMAC-SHA256 of the body, in hex. The key is \
        the secret, {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://docs.sentry.io/organization/integrations/integration-platform/webhooks/>
static SCHEME: Scheme = Scheme {
    headers: &["errors-hook-signature", "sentry-hook-signature"],
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Sentry publishes no example. The value was computed with `openssl dgst -sha256 -hmac`.
    #[test]
    fn a_computed_value_verifies() {
        let case = Case::new(
            MODE,
            "sentry client secret",
            "{\"action\":\"created\",\"data\":{\"issue\":{\"title\":\"Überlauf\"}}}".as_bytes(),
        );
        let hex = "3fc2d07e2a3942fbb0ecf46ed821cd8d0f73c6b9d241b067e12513efed1add0a";
        good(&case.clone().with("sentry-hook-signature", hex));
        good(&case.with("errors-hook-signature", hex));
    }
}
