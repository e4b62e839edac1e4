//! Twilio's signatures.

use crate::auth_mode::Mode;
use crate::verify::scheme::{Algorithm, BODY, Encoding, Method, Part, Scheme};

pub(super) static MODE: Mode = Mode {
    name: "twilio_signature",
    alias: None,
    label: "Twilio signature",
    description: "`X-Twilio-Signature`: Base64-encoded HMAC-SHA1 of the URL and the form fields.",
    proof: "The header X-Twilio-Signature contains the HMAC-SHA1 of the URL and the form fields, sorted by name, in \
        Base64. server.external_url must be the URL that the sender calls. The key is the secret, {secret}.",
    secret_from_sender: true,
    method: Method::Signature(&SCHEME),
};

/// <https://www.twilio.com/docs/usage/security#validating-requests>
static SCHEME: Scheme = Scheme {
    headers: &["x-twilio-signature"],
    algorithm: Algorithm::Sha1,
    encoding: Encoding::Base64,
    prefixes: &[],
    separator: None,
    signed: &[Part::UrlAndForm],
    ..BODY
};

#[cfg(test)]
mod tests {
    use crate::auth_mode::AuthMode;
    use crate::verify::VerifyError;
    use crate::verify::tests::{Case, good};

    const MODE: AuthMode = AuthMode::of(&super::MODE);

    /// Twilio, "Security", "Validating requests". The second set is from the tests of its libraries.
    #[test]
    fn the_published_values_verify() {
        for (number, signature) in [
            ("%2B12349013030", "0/KCTR6DLpKmkAf8muzZqo1nDgQ="),
            ("%2B14158675309", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
        ] {
            let body = format!(
                "To=%2B18005551212&CallSid=CA1234567890ABCDE&Digits=1234&From={number}&Caller={number}"
            );
            let mut case =
                Case::new(MODE, "12345", body.as_bytes()).with("x-twilio-signature", signature);
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

    /// From the tests of Twilio's libraries: a name is repeated.
    #[test]
    fn repeated_names_verify() {
        let body = b"Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234";
        let mut case = Case::new(MODE, "12345", body)
            .with("x-twilio-signature", "IK+Dwps556ElfBT0I3Rgjkr1wJU=");
        case.url = "https://mycompany.com/myapp.php?foo=1&bar=2".to_owned();
        good(&case);
    }

    /// From the tests of Twilio's libraries: a body that is not a form is signed by its hash in the URL.
    #[test]
    fn a_hash_of_the_body_in_the_url_verifies() {
        let body = b"{\"property\": \"value\", \"boolean\": true}";
        let mut case = Case::new(MODE, "12345", body)
            .with("x-twilio-signature", "a9nBmqA0ju/hNViExpshrM61xv4=");
        case.url = "https://mycompany.com/myapp.php?foo=1&bar=2&bodySHA256=\
            0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620"
            .to_owned();
        good(&case);
        case.url = case.url.replace("0a1f", "0a1e");
        assert_eq!(case.verify(), Err(VerifyError::Wrong));
    }
}
