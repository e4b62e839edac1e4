//! The check of the certificate in `doctor`.

use super::acme::find_row;
use super::{CertificateFacts, FactsError};
use crate::Services;
use crate::doctor::check::Check;
use gatehouse_config::{Settings, Tls};
use gatehouse_domain::Timestamp;
use gatehouse_store::TlsCertificateRow;
use std::path::Path;
use std::time::Duration;

const ID: &str = "certificate";
/// How long before its expiry a certificate file is reported, at most. A certificate with a short validity is
/// reported in the last third of its validity.
const SOON: Duration = Duration::from_hours(14 * 24);
const ACME_HINT: &str = "Port 443 of each name in server.tls.acme.domains must reach this server, without a proxy that \
                         terminates TLS.";

/// Checks the certificate. Returns `None` without TLS and for a self-signed certificate.
pub(crate) async fn check(services: &Services, settings: &Settings) -> Option<Check> {
    let now = services.clock.now();
    match &settings.server.tls {
        Tls::Off | Tls::SelfSigned => None,
        Tls::Files { cert, .. } => {
            let reload_error = services.certificates.reload_error();
            Some(of_file(read(cert).await, reload_error, now))
        }
        Tls::Acme(acme) => {
            // The check of the database reports an error.
            let row = find_row(services, acme).await.ok()?;
            Some(of_row(row.as_ref(), now))
        }
    }
}

async fn read(cert: &Path) -> Result<CertificateFacts, FactsError> {
    let chain = tokio::fs::read_to_string(cert).await;
    CertificateFacts::from_pem(&chain.map_err(|_| FactsError)?)
}

fn of_file(
    facts: Result<CertificateFacts, FactsError>,
    reload_error: Option<String>,
    now: Timestamp,
) -> Check {
    const HINT: &str = "Renew the files of server.tls. They are read again when they change.";
    if let Some(error) = reload_error {
        let message = format!("The changed certificate files are not in use: {error}.");
        return Check::bad(ID, message, HINT);
    }
    match facts {
        Err(error) => Check::bad(ID, format!("Certificate file: {error}."), HINT),
        Ok(facts) if facts.not_after <= now => {
            let message = format!("The certificate expired at {}.", facts.not_after);
            Check::bad(ID, message, HINT)
        }
        Ok(facts) if facts.not_after <= now.after(soon(&facts)) => {
            let message = format!("The certificate expires at {}.", facts.not_after);
            Check::bad(ID, message, HINT)
        }
        Ok(facts) => Check::fine(
            ID,
            format!("The certificate is valid until {}.", facts.not_after),
        ),
    }
}

/// Returns how long before its expiry a certificate is reported.
fn soon(facts: &CertificateFacts) -> Duration {
    SOON.min(facts.not_before.until(facts.not_after) / 3)
}

fn of_row(row: Option<&TlsCertificateRow>, now: Timestamp) -> Check {
    let Some(row) = row else {
        return Check::bad(ID, "No certificate has been ordered yet.", ACME_HINT);
    };
    let state = match row.not_after {
        None => "There is no certificate; a self-signed one is in use.".to_owned(),
        Some(end) if end <= now => format!("The certificate expired at {end}."),
        Some(end) => format!("The certificate is valid until {end}."),
    };
    let next = row.next_order_at;
    if let Some(error) = &row.error {
        let message = format!("{state} The last order failed: {error}. The next is at {next}.");
        return Check::bad(ID, message, ACME_HINT);
    }
    if row.not_after.is_none_or(|end| end <= now) {
        return Check::bad(ID, format!("{state} One is being ordered."), ACME_HINT);
    }
    Check::fine(ID, format!("{state} It will be renewed at {next}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3_600_000;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(days * DAY)
    }

    #[test]
    fn a_file_is_reported_two_weeks_before_its_end() {
        let found = |days| {
            let facts = CertificateFacts {
                not_before: at(0),
                not_after: at(90),
                names: Vec::new(),
            };
            of_file(Ok(facts), None, at(days))
        };
        assert!(found(75).ok);
        for days in [76, 89, 90, 91] {
            assert!(!found(days).ok, "{days}");
        }
        assert!(found(90).message.contains("expired"));
        assert!(!of_file(Err(FactsError), None, at(0)).ok);
        let facts = CertificateFacts {
            not_before: at(0),
            not_after: at(90),
            names: Vec::new(),
        };
        let reload = of_file(Ok(facts), Some("the key does not match".to_owned()), at(1));
        assert!(!reload.ok && reload.message.contains("the key does not match"));
    }

    #[test]
    fn a_file_that_is_valid_for_days_is_reported_in_its_last_third() {
        let found = |days| {
            let facts = CertificateFacts {
                not_before: at(0),
                not_after: at(6),
                names: Vec::new(),
            };
            of_file(Ok(facts), None, at(days)).ok
        };
        assert!(found(0) && found(3));
        assert!(!found(4) && !found(6));
    }

    #[test]
    fn an_order_is_reported_until_it_succeeds() {
        let mut row = TlsCertificateRow {
            directory: String::new(),
            names: "a.example".to_owned(),
            chain: None,
            private_key: None,
            not_before: None,
            not_after: None,
            next_order_at: at(1),
            failures: 0,
            error: None,
        };
        assert!(!of_row(None, at(0)).ok);
        assert!(!of_row(Some(&row), at(0)).ok);
        row.not_after = Some(at(90));
        assert!(of_row(Some(&row), at(89)).ok);
        assert!(!of_row(Some(&row), at(90)).ok);
        row.error = Some("the name does not resolve".to_owned());
        let found = of_row(Some(&row), at(70));
        assert!(!found.ok && found.message.contains("the name does not resolve"));
        assert!(found.message.contains("valid until"));
    }
}
