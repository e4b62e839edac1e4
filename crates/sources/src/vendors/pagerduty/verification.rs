//! `PagerDuty`'s signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{BODY, Method, Scheme};

pub(super) static MODE: Mode = Mode {
    name: "incident_v2_signature",
    alias: Some("pagerduty_v2_signature"),
    label: "PagerDuty signature",
    description: "`X-Incident-Signature`: a list of HMAC-SHA256 signatures of the body.",
    proof: "The header X-Incident-Signature carries v1= and the HMAC-SHA256 of the body, in hex; \
        several signatures are separated by commas. The key is the secret, {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://docs.pagerduty.com/developer/verifying-webhook-signatures>
static SCHEME: Scheme = Scheme {
    headers: &["x-incident-signature", "x-pagerduty-signature"],
    sends: "v1=",
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::VerifyError;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// `PagerDuty`'s documentation shows a header without its body. The value is from the tests of its Go
    /// library, for the body in `vector.json`.
    #[test]
    fn the_published_value_verifies() {
        let body = include_bytes!("vector.json");
        let case = Case::new(
            MODE,
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
}
