//! Certificates that the service signs itself.

use super::files::CertificateFiles;
use super::{TlsError, of_der};
use gatehouse_config::Settings;
use gatehouse_store::FileOwner;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Returns the host names and addresses of the certificate.
pub(super) fn names(settings: &Settings) -> Vec<String> {
    let external = settings.server.external_url.as_ref();
    let external = external.and_then(|url| url.host_str());
    // A certificate contains an IPv6 address without the brackets of a URL.
    let external = external.map(|host| host.trim_matches(['[', ']']));
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"]
        .into_iter()
        .chain(external)
        .map(Into::into)
        .collect();
    names.dedup();
    names
}

fn paths(directory: &Path) -> (PathBuf, PathBuf) {
    let path = |name| directory.join(name);
    (path("self-signed-cert.pem"), path("self-signed-key.pem"))
}

/// Returns the certificate stored in `directory`; `None` when it is missing.
pub(super) fn existing(directory: &Path) -> Result<Option<CertifiedKey>, TlsError> {
    let (cert, key) = paths(directory);
    if !(cert.exists() && key.exists()) {
        return Ok(None);
    }
    Ok(Some(CertificateFiles::open(&cert, &key)?.1))
}

/// Returns the certificate stored in `directory`; generates it when it is missing.
pub(super) fn stored(directory: &Path, names: &[String]) -> Result<CertifiedKey, TlsError> {
    let (cert, key) = paths(directory);
    if !(cert.exists() && key.exists()) {
        let made = rcgen::generate_simple_self_signed(names)?;
        write_private(&key, &made.signing_key.serialize_pem())?;
        write_private(&cert, &made.cert.pem())?;
    }
    Ok(CertificateFiles::open(&cert, &key)?.1)
}

/// Makes a certificate that is not stored.
pub(super) fn temporary(names: &[String]) -> Result<CertifiedKey, TlsError> {
    let made = rcgen::generate_simple_self_signed(names)?;
    let key = PrivateKeyDer::from(made.signing_key);
    Ok(of_der(vec![made.cert.into()], key)?)
}

fn write_private(path: &Path, text: &str) -> Result<(), TlsError> {
    let is_new = path.symlink_metadata().is_err();
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| {
            if is_new {
                FileOwner::of(path.parent().unwrap_or(path)).give(&file, path);
            }
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
        });
    written.map_err(|source| TlsError::Write {
        path: path.to_owned(),
        source,
    })
}
