//! The facts in a certificate.

use gatehouse_domain::Timestamp;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;

/// The validity and the names of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    pub not_before: Timestamp,
    pub not_after: Timestamp,
    /// DNS names, in lower case.
    pub names: Vec<String>,
}

/// The text contains no readable certificate.
#[derive(Debug, thiserror::Error)]
#[error("the certificate cannot be read")]
pub struct FactsError;

impl CertificateFacts {
    /// Reads the first certificate of a chain in PEM.
    pub fn from_pem(chain: &str) -> Result<Self, FactsError> {
        let mut blocks = Pem::iter_from_buffer(chain.as_bytes());
        let first = blocks.find(|block| {
            block
                .as_ref()
                .is_ok_and(|block| block.label == "CERTIFICATE")
        });
        let first = first.and_then(Result::ok).ok_or(FactsError)?;
        let certificate = first.parse_x509().map_err(|_| FactsError)?;
        let seconds = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1000));
        let names = certificate
            .subject_alternative_name()
            .map_err(|_| FactsError)?;
        let names = names
            .iter()
            .flat_map(|extension| &extension.value.general_names);
        let names = names.filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
            _ => None,
        });
        Ok(Self {
            not_before: seconds(certificate.validity().not_before.timestamp()),
            not_after: seconds(certificate.validity().not_after.timestamp()),
            names: names.collect(),
        })
    }
}
