//! Certificates that the server signs itself.

use super::files::CertificateFiles;
use super::{TlsError, of_der};
use gatehouse_config::Settings;
use gatehouse_store::FileOwner;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;
use std::io::{self, Write as _};
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

/// Returns the certificate stored in `directory`, or `None` if it is missing.
pub(super) fn existing(directory: &Path) -> Result<Option<CertifiedKey>, TlsError> {
    let (cert, key) = paths(directory);
    if !(cert.exists() && key.exists()) {
        return Ok(None);
    }
    Ok(Some(CertificateFiles::open(&cert, &key)?.1))
}

/// Returns the certificate stored in `directory`. Generates it if it is missing.
pub(super) fn stored(directory: &Path, names: &[String]) -> Result<CertifiedKey, TlsError> {
    let (cert, key) = paths(directory);
    if !(cert.exists() && key.exists()) {
        let made = rcgen::generate_simple_self_signed(names)?;
        write_private(&key, &made.signing_key.serialize_pem())?;
        write_private(&cert, &made.cert.pem())?;
    }
    Ok(CertificateFiles::open(&cert, &key)?.1)
}

/// Creates a certificate that is not stored.
pub(super) fn temporary(names: &[String]) -> Result<CertifiedKey, TlsError> {
    let made = rcgen::generate_simple_self_signed(names)?;
    let key = PrivateKeyDer::from(made.signing_key);
    Ok(of_der(vec![made.cert.into()], key)?)
}

fn write_private(path: &Path, text: &str) -> Result<(), TlsError> {
    write_new(path, text).map_err(|source| TlsError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Replaces an existing file. Replaces a link itself, not its target.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    FileOwner::of_parent(path).give(&file, path);
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let directory =
            std::env::temp_dir().join(format!("gatehouse-self-signed-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (other, path) = (directory.join("other"), directory.join("key.pem"));
        let text_of = |path: &Path| io::read_to_string(std::fs::File::open(path).unwrap()).unwrap();
        let mut file = std::fs::File::create(&other).unwrap();
        file.write_all(b"other").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        write_private(&path, "first").unwrap();
        assert_eq!(text_of(&other), "other");
        assert!(path.symlink_metadata().unwrap().is_file());
        write_private(&path, "second").unwrap();
        assert_eq!(text_of(&path), "second");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
