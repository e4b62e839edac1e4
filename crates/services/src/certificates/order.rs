//! One order of a certificate (RFC 8555, section 7.4) with the challenge TLS-ALPN-01 (RFC 8737).

mod account;
mod challenges;

use super::http_client::AcmeHttp;
use super::{CertificateFacts, PemCertificate};
use crate::Services;
use gatehouse_config::Acme;
use gatehouse_store::StoreError;
use instant_acme::{Error, Identifier, NewOrder, OrderStatus, RetryPolicy};
use std::time::Duration;

/// How long the whole order may take.
const ORDER_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the authority may take to verify the names, and then to issue the certificate.
const STEP_TIMEOUT: Duration = Duration::from_mins(2);
/// The maximum length of an error, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// The type of the error for an account that does not exist at the authority (RFC 8555, section 6.7).
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// A new certificate.
#[derive(Debug)]
pub(super) struct Issued {
    pub(super) certificate: PemCertificate,
    pub(super) facts: CertificateFacts,
}

/// Why there is no certificate.
#[derive(Debug)]
pub(super) struct OrderFailure {
    /// The reason for the owner, without a period.
    pub(super) message: String,
    /// The delay that the authority requested.
    pub(super) retry_after: Option<Duration>,
}

/// A step of an order failed.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error("{}", described(.0))]
    Acme(#[from] Error),
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Other(String),
}

fn described(error: &Error) -> String {
    let mut text = match error {
        Error::Api(problem) => {
            let detail = problem.detail.clone().or_else(|| problem.r#type.clone());
            let mut text = detail.unwrap_or_else(|| "an error without details".to_owned());
            for part in problem
                .subproblems
                .iter()
                .filter_map(|it| it.detail.as_ref())
            {
                text = format!("{text}; {part}");
            }
            format!("the certificate authority refused: {text}")
        }
        Error::Timeout(_) => "the certificate authority took too long".to_owned(),
        Error::Json(_) => "the certificate authority sent an answer that cannot be read".to_owned(),
        Error::Other(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            text
        }
        other => other.to_string(),
    };
    if let Some((end, _)) = text.char_indices().nth(MAX_ERROR_CHARS) {
        text.truncate(end);
    }
    text.trim_end_matches('.')
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Returns whether the account does not exist at the authority, which may have lost or deleted it.
fn is_unknown_account(error: &Error) -> bool {
    matches!(error, Error::Api(problem) if problem.r#type.as_deref() == Some(NO_ACCOUNT))
}

/// Sets the configured contact on an account with a different contact. Does nothing before the first order.
pub(super) async fn update_contact(services: &Services, acme: &Acme) -> Result<(), OrderFailure> {
    let ordering = Ordering::new(services, acme);
    let update = async {
        let stored = ordering.stored_account().await?;
        if stored.is_some_and(|row| row.email != acme.email) {
            ordering.account().await?;
        }
        Ok::<_, StepError>(())
    };
    ordering.limited(STEP_TIMEOUT, update).await
}

/// Orders a certificate. Challenges are stored for all nodes and removed afterward.
pub(super) async fn order(services: &Services, acme: &Acme) -> Result<Issued, OrderFailure> {
    let ordering = Ordering::new(services, acme);
    let outcome = ordering.limited(ORDER_TIMEOUT, ordering.run()).await;
    ordering.remove_challenges().await;
    outcome
}

struct Ordering<'a> {
    services: &'a Services,
    acme: &'a Acme,
    http: AcmeHttp,
}

impl<'a> Ordering<'a> {
    fn new(services: &'a Services, acme: &'a Acme) -> Self {
        let is_https = acme.directory.scheme() == "https";
        Self {
            services,
            acme,
            http: AcmeHttp::new(services.outbound.clone(), services.clock.clone(), is_https),
        }
    }

    async fn limited<T>(
        &self,
        timeout: Duration,
        steps: impl Future<Output = Result<T, StepError>>,
    ) -> Result<T, OrderFailure> {
        let outcome = tokio::time::timeout(timeout, steps).await;
        let late = |_| Err(StepError::Other("it took too long".to_owned()));
        outcome.unwrap_or_else(late).map_err(|error| OrderFailure {
            message: error.to_string(),
            retry_after: self.http.retry_after(),
        })
    }

    async fn run(&self) -> Result<Issued, StepError> {
        let identifiers: Vec<Identifier> = self
            .acme
            .domains
            .iter()
            .cloned()
            .map(Identifier::Dns)
            .collect();
        let wanted = NewOrder::new(&identifiers);
        let mut order = match self.account().await?.new_order(&wanted).await {
            Err(error) if is_unknown_account(&error) => {
                self.create_account().await?.new_order(&wanted).await?
            }
            placed => placed?,
        };
        self.prepare_challenges(&mut order).await?;
        let steps = RetryPolicy::new().timeout(STEP_TIMEOUT);
        let ready = order.poll_ready(&steps).await;
        if !matches!(ready, Ok(OrderStatus::Ready)) {
            let reasons = self.refusals(&mut order).await;
            if !reasons.is_empty() {
                return Err(StepError::Other(reasons));
            }
            ready?;
            let message = "the certificate authority refused the order without a reason";
            return Err(StepError::Other(message.to_owned()));
        }
        let private_key = order.finalize().await?;
        let chain = order.poll_certificate(&steps).await?;
        let facts = CertificateFacts::from_pem(&chain)
            .map_err(|error| StepError::Other(error.to_string()))?;
        if let Some(missing) = self
            .acme
            .domains
            .iter()
            .find(|it| !facts.names.contains(it))
        {
            let message = format!("the certificate that was issued lacks the name {missing}");
            return Err(StepError::Other(message));
        }
        Ok(Issued {
            certificate: PemCertificate { chain, private_key },
            facts,
        })
    }
}
