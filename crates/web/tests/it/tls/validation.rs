//! How the authority of the tests verifies a name: it connects, as RFC 8737, section 3, describes.

use super::handshake;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::time::Duration;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// 1.3.6.1.5.5.7.1.31
const ACME_IDENTIFIER: &str = "1.3.6.1.5.5.7.1.31";

/// Returns what is wrong.
pub(super) async fn validate(
    address: SocketAddr,
    name: &str,
    key_authorization: &str,
) -> Result<(), String> {
    let alpn: &[u8] = b"acme-tls/1";
    let connected =
        tokio::time::timeout(Duration::from_secs(5), handshake(address, name, Some(alpn)));
    let found = connected.await.map_err(|_| "no answer")?;
    let found = found.map_err(|error| format!("Error getting validation data: {error}"))?;
    if found.alpn.as_deref() != Some(alpn) {
        return Err("the server did not choose acme-tls/1".to_owned());
    }
    let (_, certificate) =
        X509Certificate::from_der(&found.certificate).map_err(|error| error.to_string())?;
    certificate
        .verify_signature(None)
        .map_err(|_| "the certificate is not self-signed")?;
    let names = certificate
        .subject_alternative_name()
        .map_err(|error| error.to_string())?
        .ok_or("no subjectAltName")?;
    if names.value.general_names != [GeneralName::DNSName(name)] {
        return Err(format!("subjectAltName is {:?}", names.value.general_names));
    }
    let mut identifiers = certificate
        .extensions()
        .iter()
        .filter(|extension| extension.oid.to_id_string() == ACME_IDENTIFIER);
    let identifier = identifiers.next().ok_or("no acmeIdentifier")?;
    if identifiers.next().is_some() || !identifier.critical {
        return Err("acmeIdentifier must be there once and critical".to_owned());
    }
    let mut expected = vec![4, 32];
    expected.extend(Sha256::digest(key_authorization.as_bytes()));
    if identifier.value != expected {
        return Err("acmeIdentifier has another digest".to_owned());
    }
    Ok(())
}
