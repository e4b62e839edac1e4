//! The secrets that are written in the headers of a server's settings.

use crate::secrets::{MIN_BYTES, Redactor, by_name, names_secrets};
use data_encoding::{BASE64, BASE64_NOPAD};
use secrecy::SecretString;
use std::collections::BTreeMap;

/// A header contains a secret if its name contains one of these words.
const SECRET_NAMES: [&str; 6] = ["key", "token", "secret", "password", "auth", "cookie"];

/// Returns a redactor for the headers that look like secrets.
pub(super) fn written_secrets(headers: &BTreeMap<String, String>) -> Redactor {
    let headers = headers.iter();
    // Secrets that a header refers to by name are removed anyway.
    let written = headers.filter(|(_, value)| !names_secrets(value));
    let values = written.flat_map(|(name, value)| secrets_of(name, value.trim()));
    let long = values.filter(|value| value.len() >= MIN_BYTES);
    let named = long.map(|value| ("token".to_owned(), SecretString::from(value)));
    by_name(&named.collect::<Vec<_>>())
}

/// Returns the secret parts of a header, including short ones.
fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    if !SECRET_NAMES.iter().any(|part| name.contains(part)) {
        return Vec::new();
    }
    if name.contains("cookie") {
        let pairs = value.split(';').map(str::trim);
        let values = pairs.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        return values.map(str::to_owned).collect();
    }
    let (scheme, credentials) = value.split_once(' ').unwrap_or(("", value));
    let credentials = credentials.trim_start();
    let mut secrets = vec![credentials.to_owned()];
    if !name.contains("authorization") {
        secrets.push(value.to_owned());
    }
    if scheme.eq_ignore_ascii_case("basic") {
        secrets.extend(password_of(credentials));
    }
    secrets
}

/// Returns the password in the credentials of basic authentication (RFC 7617).
fn password_of(credentials: &str) -> Option<String> {
    let bytes = credentials.as_bytes();
    let decoded = BASE64.decode(bytes).or_else(|_| BASE64_NOPAD.decode(bytes));
    let pair = String::from_utf8(decoded.ok()?).ok()?;
    let (_, password) = pair.split_once(':')?;
    Some(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(name: &str, value: &str, text: &str) -> String {
        let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        written_secrets(&headers).redact(text.to_owned())
    }

    #[test]
    fn a_header_with_the_name_of_a_secret_is_removed_from_8_bytes_on() {
        for name in [
            "X-Api-Key",
            "x-token",
            "client-secret",
            "X-Auth",
            "x-password",
        ] {
            assert_eq!(
                redacted(name, "12345678", "a 12345678"),
                "a {{secret:token}}"
            );
            assert_eq!(redacted(name, "1234567", "a 1234567"), "a 1234567");
        }
        assert_eq!(redacted("x-tenant", "12345678", "a 12345678"), "a 12345678");
        assert_eq!(
            redacted("x-key", "Key {{secret:TOKEN}}", "Key {{secret:TOKEN}}"),
            "Key {{secret:TOKEN}}"
        );
    }

    #[test]
    fn a_secret_after_a_scheme_is_removed_without_the_scheme_too() {
        assert_eq!(
            redacted("x-key", "Bearer 12345678", "12345678, Bearer 12345678"),
            "{{secret:token}}, {{secret:token}}"
        );
        assert_eq!(
            redacted("Authorization", "Bearer 12345678", "Bearer 12345678"),
            "Bearer {{secret:token}}"
        );
    }

    #[test]
    fn the_password_of_basic_authentication_is_removed() {
        // The second header has no padding.
        for header in [
            "Basic dXNlcjpvcGVuOnNlc2FtZQ==",
            "basic dXNlcjpvcGVuOnNlc2FtZQ",
        ] {
            let credentials = header.split_once(' ').map_or("", |(_, text)| text);
            let text = format!("user open:sesame {credentials}");
            assert_eq!(
                redacted("authorization", header, &text),
                "user {{secret:token}} {{secret:token}}"
            );
        }
    }

    #[test]
    fn the_values_of_cookies_are_removed() {
        assert_eq!(
            redacted("cookie", "lang=de; id=12345678=", "lang=de id=12345678="),
            "lang=de id={{secret:token}}"
        );
    }
}
