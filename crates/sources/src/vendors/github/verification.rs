//! GitHub's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Scheme};

pub(super) static MODE: Mode = Mode {
    name: "codehost_a_hmac_sha256",
    alias: Some("github_hmac_sha256"),
    label: "GitHub signature (X-Hub-Signature-256)",
    description: "`X-Hub-Signature-256`: HMAC-SHA256 of the body.",
    proof: "The header X-Hub-Signature-256 carries sha256= and the HMAC-SHA256 of the body, in hex. \
        The key is the secret, {secret}.",
    secret_from_sender: false,
    method: Method::Signature(&SCHEME),
};

/// <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
static SCHEME: Scheme = Scheme {
    headers: &["x-hub-signature-256"],
    sends: "sha256=",
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// GitHub Docs, "Validating webhook deliveries", "Testing the webhook payload validation".
    #[test]
    fn the_published_value_verifies() {
        let case = Case::new(MODE, "It's a Secret to Everybody", b"Hello, World!");
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
}
