//! TLS for PostgreSQL with the parameters of libpq: <https://www.postgresql.org/docs/current/libpq-ssl.html>.

mod stream;

use crate::{OpenError, StoreError};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(crate) use stream::Connector;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_rustls::TlsConnector;

/// Which parts of a server's certificate are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// `disable`, `prefer` and `require`: none.
    Nothing,
    /// `verify-ca`: the issuer.
    Issuer,
    /// `verify-full`: the issuer and the name.
    IssuerAndName,
}

/// How connections are encrypted.
#[derive(Clone, Debug)]
pub(crate) struct TlsPolicy {
    mode: SslMode,
    check: Check,
    roots: Option<PathBuf>,
}

impl TlsPolicy {
    /// Removes `sslmode` and `sslrootcert` from a URL and parses them.
    pub(crate) fn take_from(url: &str) -> Result<(String, Self), OpenError> {
        let mut policy = Self {
            mode: SslMode::Prefer,
            check: Check::Nothing,
            roots: None,
        };
        let Some((server, parameters)) = url.split_once('?') else {
            return Ok((url.to_owned(), policy));
        };
        let mut others = Vec::new();
        for parameter in parameters.split('&') {
            match parameter.split_once('=') {
                Some(("sslmode", mode)) => (policy.mode, policy.check) = read_mode(mode)?,
                // `system` is the default of this crate.
                Some(("sslrootcert", "system")) => policy.roots = None,
                Some(("sslrootcert", path)) => {
                    let path = percent_encoding::percent_decode_str(path).decode_utf8();
                    policy.roots = Some(PathBuf::from(
                        path.map_err(|_| OpenError::UnknownUrl)?.as_ref(),
                    ));
                }
                _ => others.push(parameter),
            }
        }
        // As in libpq, a specified root certificate is always used.
        if policy.roots.is_some()
            && policy.mode == SslMode::Require
            && policy.check == Check::Nothing
        {
            policy.check = Check::Issuer;
        }
        let url = if others.is_empty() {
            server.to_owned()
        } else {
            format!("{server}?{}", others.join("&"))
        };
        Ok((url, policy))
    }

    pub(crate) fn apply(&self, config: &mut Config) {
        config.ssl_mode(self.mode);
    }

    pub(crate) fn connector(&self) -> Result<Connector, OpenError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = self.verifier(&provider)?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Connector(TlsConnector::from(Arc::new(config))))
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, OpenError> {
        let chain: Option<Arc<dyn ServerCertVerifier>> = match (self.check, &self.roots) {
            (Check::Nothing, _) => None,
            (_, Some(path)) => Some(verifier_of_file(path, provider)?),
            (_, None) => {
                let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(provider))
                    .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))?;
                Some(Arc::new(verifier))
            }
        };
        Ok(Verifier {
            chain,
            check: self.check,
            provider: Arc::clone(provider),
        })
    }
}

fn verifier_of_file(
    path: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, OpenError> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path)
        .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))?;
    for certificate in certificates {
        certificate
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()))
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))?;
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))?;
    Ok(verifier)
}

fn read_mode(mode: &str) -> Result<(SslMode, Check), OpenError> {
    match mode {
        "disable" => Ok((SslMode::Disable, Check::Nothing)),
        "allow" | "prefer" => Ok((SslMode::Prefer, Check::Nothing)),
        "require" => Ok((SslMode::Require, Check::Nothing)),
        "verify-ca" => Ok((SslMode::Require, Check::Issuer)),
        "verify-full" => Ok((SslMode::Require, Check::IssuerAndName)),
        _ => Err(OpenError::UnknownUrl),
    }
}

/// Verifies as much of the certificate as the mode requires. Always verifies that the server has the private key of
/// its certificate.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<dyn ServerCertVerifier>>,
    check: Check,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Issuer => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    // `outbound/src/tls.rs` repeats these lines: the only crate that both could share is `domain`, which does not
    // use TLS.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
