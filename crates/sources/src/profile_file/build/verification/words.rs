//! The description of a signature.

use crate::verify::scheme::{Algorithm, Encoding, Scheme, Time, TimeFormat};
use crate::verify::shell::vendor_header;
use std::fmt::Write as _;

/// Returns the descriptions for the API's schema and for the setup guide.
pub(super) fn words(scheme: &Scheme, template: &str) -> (String, String) {
    let header = vendor_header(scheme.headers, None);
    let algorithm = match scheme.algorithm {
        Algorithm::Sha256 => "HMAC-SHA256",
        Algorithm::Sha1 => "HMAC-SHA1",
        Algorithm::Sha512 => "HMAC-SHA512",
        Algorithm::Ed25519 => "Ed25519 signature",
    };
    let signed = template
        .replace("{body}", "<body>")
        .replace("{timestamp}", "<time>")
        .replace("{id}", "<id>")
        .replace("{url}", "<url>");
    let description = format!("`{header}`: {algorithm} of {signed}.");
    let encoding = match scheme.encoding {
        Encoding::Hex => "hex",
        Encoding::Base64 => "Base64",
    };
    let mut proof = String::new();
    if let Time::Headers(names) = scheme.time {
        let unit = match scheme.time_format {
            TimeFormat::Seconds => "Unix seconds",
            TimeFormat::Milliseconds => "Unix milliseconds",
            TimeFormat::Rfc3339 => "RFC 3339",
        };
        let name = vendor_header(names, None);
        proof.extend(["The header ", &name, " carries the time in ", unit, ". "]);
    }
    if !scheme.id_headers.is_empty() {
        let name = vendor_header(scheme.id_headers, None);
        proof.extend(["The header ", &name, " carries the id. "]);
    }
    let before = match (scheme.time, scheme.separator) {
        (Time::Item(item), Some(separator)) => {
            format!("{item}<time>{separator}{} and ", scheme.sends)
        }
        _ if scheme.sends.is_empty() => String::new(),
        _ => format!("{} and ", scheme.sends),
    };
    // Writing to a string cannot fail.
    let _ = write!(
        proof,
        "The header {header} carries {before}the {algorithm} of {signed}, in {encoding}. "
    );
    proof.push_str(if scheme.algorithm == Algorithm::Ed25519 {
        "Only the sender has the private key; its public key is the webhook's secret."
    } else {
        "The key is the secret, {secret}."
    });
    (description, proof)
}
