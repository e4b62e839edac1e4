//! TLS termination: certificate files, or a generated self-signed certificate.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source of the certificate.
#[derive(Clone, Debug)]
pub enum TlsSource {
    /// PEM files.
    Files {
        /// The certificate and its chain.
        cert: PathBuf,
        key: PathBuf,
    },
    /// A certificate for these names, generated if missing and stored in this directory.
    SelfSigned {
        /// The data directory.
        directory: PathBuf,
        /// Host names and addresses of the certificate.
        names: Vec<String>,
    },
}

/// TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read the {what} file {}", path.display())]
    Read {
        /// `certificate` or `key`.
        what: &'static str,
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate and the key do not match, or one is unusable.
    #[error("the certificate cannot be used")]
    Unusable(#[from] rustls::Error),
    #[error("cannot create a self-signed certificate")]
    Make(#[from] rcgen::Error),
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// Builds the server configuration for TLS 1.2 and 1.3 with HTTP/2 and HTTP/1.1. Blocks on file I/O, so
/// call it at startup.
pub fn server_config(source: &TlsSource) -> Result<Arc<rustls::ServerConfig>, TlsError> {
    let (cert, key) = match source {
        TlsSource::Files { cert, key } => (cert.clone(), key.clone()),
        TlsSource::SelfSigned { directory, names } => self_signed(directory, names)?,
    };
    let read = |what, path: &Path| {
        let path = path.to_owned();
        move |source| TlsError::Read { what, path, source }
    };
    let chain = CertificateDer::pem_file_iter(&cert)
        .and_then(Iterator::collect)
        .map_err(read("certificate", &cert))?;
    let key = PrivateKeyDer::from_pem_file(&key).map_err(read("key", &key))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Returns the files of the self-signed certificate; generates them when one is missing.
fn self_signed(directory: &Path, names: &[String]) -> Result<(PathBuf, PathBuf), TlsError> {
    let cert = directory.join("self-signed-cert.pem");
    let key = directory.join("self-signed-key.pem");
    if !(cert.exists() && key.exists()) {
        let made = rcgen::generate_simple_self_signed(names)?;
        write_private(&key, &made.signing_key.serialize_pem())?;
        write_private(&cert, &made.cert.pem())?;
    }
    Ok((cert, key))
}

fn write_private(path: &Path, text: &str) -> Result<(), TlsError> {
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
        });
    written.map_err(|source| TlsError::Write {
        path: path.to_owned(),
        source,
    })
}
