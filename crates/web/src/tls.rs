//! TLS termination: selects the certificate, and answers certificate authorities (TLS-ALPN-01).

mod challenge;
mod files;
mod self_signed;

use crate::tls::files::{CertificateFiles, LoadError};
use arc_swap::ArcSwap;
use gatehouse_config::{Acme, Settings, Tls};
use gatehouse_services::Services;
use gatehouse_services::certificates::{
    AcmeKeeper, CertificateFacts, Install, PemCertificate, record_expiry, stored_certificate,
};
use gatehouse_store::StoreError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use challenge::Accepted;

/// TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error(transparent)]
    Files(#[from] LoadError),
    /// The certificate and the key do not match, or one of them is unusable.
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
    /// The stored certificate cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The certificate in use.
#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// The source of the certificate.
#[derive(Clone, Debug)]
enum Source {
    SelfSigned,
    Files(Box<CertificateFiles>),
    Acme(Acme),
}

/// The TLS configuration of connections. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<rustls::ServerConfig>,
    current: Arc<Current>,
    source: Source,
}

impl ServerTls {
    /// Sets up TLS 1.2 and 1.3 with HTTP/2 and HTTP/1.1. Returns `None` if TLS is off. Blocks on file I/O, so call it
    /// at startup.
    pub async fn open(services: &Services) -> Result<Option<Self>, TlsError> {
        let resolved = services.config.resolved();
        let settings = &resolved.settings;
        let (certificate, source) = match &settings.server.tls {
            Tls::Off => return Ok(None),
            Tls::SelfSigned => {
                let data_dir = services.config.layers().data_dir();
                let found = self_signed::stored(data_dir, &self_signed::names(settings))?;
                (found, Source::SelfSigned)
            }
            Tls::Files { cert, key } => {
                let (files, found) = CertificateFiles::open(cert, key)?;
                (found, Source::Files(Box::new(files)))
            }
            Tls::Acme(acme) => (
                acme_certificate(services, acme).await?,
                Source::Acme(acme.clone()),
            ),
        };
        Self::with(certificate, source, &[b"h2", b"http/1.1"]).map(Some)
    }

    /// Sets up TLS with HTTP/1.1 before the database is open. Returns `None` if the certificate is in the database or
    /// does not exist yet. Blocks on file I/O.
    pub fn open_early(settings: &Settings, data_dir: &Path) -> Result<Option<Self>, TlsError> {
        let (certificate, source) = match &settings.server.tls {
            Tls::Off | Tls::Acme(_) => return Ok(None),
            Tls::SelfSigned => match self_signed::existing(data_dir)? {
                Some(found) => (found, Source::SelfSigned),
                None => return Ok(None),
            },
            Tls::Files { cert, key } => {
                let (files, found) = CertificateFiles::open(cert, key)?;
                (found, Source::Files(Box::new(files)))
            }
        };
        Self::with(certificate, source, &[b"http/1.1"]).map(Some)
    }

    fn with(
        certificate: CertifiedKey,
        source: Source,
        protocols: &[&[u8]],
    ) -> Result<Self, TlsError> {
        let current = Arc::new(Current(ArcSwap::from_pointee(certificate)));
        let mut config = builder()?.with_cert_resolver(Arc::clone(&current) as _);
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Self {
            config: Arc::new(config),
            current,
            source,
        })
    }

    /// Renews the certificate, or reloads changed files, until `shutdown`.
    pub fn background(
        &self,
        services: &Arc<Services>,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let current = Arc::clone(&self.current);
        match &self.source {
            Source::SelfSigned => {}
            Source::Files(files) => {
                let services = Arc::clone(services);
                let files = files.clone();
                tasks.spawn(shutdown.run_until_cancelled_owned(async move {
                    files
                        .watch(|outcome| match outcome {
                            Ok(found) => {
                                current.0.store(Arc::new(found));
                                services.certificates.set_reload_error(None);
                            }
                            Err(error) => {
                                services.certificates.set_reload_error(Some(error));
                            }
                        })
                        .await;
                }));
            }
            Source::Acme(acme) => {
                let install: Install = Arc::new(move |pem| match certified(pem) {
                    Ok(found) => {
                        current.0.store(Arc::new(found));
                        Ok(())
                    }
                    Err(error) => Err(error.to_string()),
                });
                AcmeKeeper::new(services, acme, install).background(shutdown, tasks);
            }
        }
    }
}

/// Returns the stored certificate, or a self-signed one if none is stored yet. The start must not fail because an
/// authority is unreachable.
async fn acme_certificate(services: &Services, acme: &Acme) -> Result<CertifiedKey, TlsError> {
    if let Some(pem) = stored_certificate(services, acme).await? {
        match certified(&pem) {
            Ok(found) => {
                if let Ok(facts) = CertificateFacts::from_pem(&pem.chain) {
                    record_expiry(&facts);
                }
                return Ok(found);
            }
            Err(error) => tracing::error!(%error, "the stored certificate cannot be used"),
        }
    }
    tracing::warn!("no certificate has been issued yet; a self-signed one is used until then");
    self_signed::temporary(&acme.domains)
}

fn builder()
-> Result<rustls::ConfigBuilder<rustls::ServerConfig, rustls::server::WantsServerCert>, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    Ok(builder
        .with_safe_default_protocol_versions()?
        .with_no_client_auth())
}

/// Reads a certificate and its key, and checks that they belong together.
fn certified(pem: &PemCertificate) -> Result<CertifiedKey, rustls::Error> {
    let wrong = |what: &str| rustls::Error::General(format!("the {what} cannot be read"));
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.chain.as_bytes()).collect();
    let chain = chain.map_err(|_| wrong("certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(pem.private_key.as_bytes());
    let key = key.map_err(|_| wrong("key"))?;
    of_der(chain, key)
}

fn of_der(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, rustls::Error> {
    if chain.is_empty() {
        return Err(rustls::Error::NoCertificatesPresented);
    }
    CertifiedKey::from_der(chain, key, &rustls::crypto::aws_lc_rs::default_provider())
}
