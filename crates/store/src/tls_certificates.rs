//! Tables `tls_accounts`, `tls_certificates` and `tls_challenges`: certificates that are ordered by ACME.

mod accounts;

use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
pub use accounts::TlsAccountRow;
use gatehouse_domain::Timestamp;

/// A row of `tls_certificates`.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsCertificateRow {
    pub directory: String,
    /// Sorted, separated by commas.
    pub names: String,
    /// The certificate chain in PEM; `None` before the first certificate.
    pub chain: Option<String>,
    /// In PEM.
    pub private_key: Option<String>,
    pub not_before: Option<Timestamp>,
    pub not_after: Option<Timestamp>,
    /// When the next order is due.
    pub next_order_at: Timestamp,
    /// The number of failed orders since the last success.
    pub failures: i64,
    /// Why the last order failed; `None` if it succeeded.
    pub error: Option<String>,
}

columns! {
    TlsCertificateRow:
    directory, names, chain, private_key, not_before, not_after, next_order_at, failures, error
}

struct Digest(Vec<u8>);

impl FromRow for Digest {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get("digest")?))
    }
}

/// The key of a row of `tls_certificates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsCertificateKey {
    pub directory: String,
    pub names: String,
}

/// The end of an order that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedOrder {
    pub error: String,
    pub next_order_at: Timestamp,
}

impl Conn {
    pub async fn find_tls_certificate(
        &mut self,
        key: &TlsCertificateKey,
    ) -> Result<Option<TlsCertificateRow>, StoreError> {
        let query = query("SELECT * FROM tls_certificates WHERE directory = $1 AND names = $2");
        self.find(query.bind(&key.directory).bind(&key.names)).await
    }

    /// Returns the certificate that remains valid for the longest time, for any names.
    pub async fn find_longest_tls_certificate(
        &mut self,
        now: Timestamp,
    ) -> Result<Option<TlsCertificateRow>, StoreError> {
        let query = query(
            "SELECT * FROM tls_certificates WHERE chain IS NOT NULL AND not_after > $1
             ORDER BY not_after DESC, names LIMIT 1",
        );
        self.find(query.bind(now.as_millis())).await
    }

    /// Lets `node` place an order if an order is due and no other node is ordering. Creates the row if there is
    /// none.
    pub async fn claim_tls_order(
        &mut self,
        key: &TlsCertificateKey,
        node: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let insert = query(
            "INSERT INTO tls_certificates (directory, names, next_order_at) VALUES ($1, $2, $3)
             ON CONFLICT (directory, names) DO NOTHING",
        );
        let insert = insert.bind(&key.directory).bind(&key.names);
        self.run(insert.bind(now.as_millis())).await?;
        let claim = query(
            "UPDATE tls_certificates SET ordered_by = $3, ordered_until = $5
             WHERE directory = $1 AND names = $2 AND next_order_at <= $4 AND ordered_until <= $4",
        );
        let claim = claim
            .bind(&key.directory)
            .bind(&key.names)
            .bind(node)
            .bind(now.as_millis())
            .bind(until.as_millis());
        Ok(self.run(claim).await? > 0)
    }

    /// Ends the claims of this node, so that other nodes can place the orders.
    pub async fn release_tls_orders(&mut self, node: &str) -> Result<(), StoreError> {
        let query = query(
            "UPDATE tls_certificates SET ordered_by = NULL, ordered_until = 0 WHERE ordered_by = $1",
        );
        self.run(query.bind(node)).await.map(drop)
    }

    /// Stores a new certificate and ends the order.
    pub async fn update_tls_certificate(
        &mut self,
        row: &TlsCertificateRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE tls_certificates SET chain = $3, private_key = $4, not_before = $5,
                 not_after = $6, next_order_at = $7, failures = 0, error = NULL,
                 ordered_by = NULL, ordered_until = 0
             WHERE directory = $1 AND names = $2",
        );
        let query = query
            .bind(&row.directory)
            .bind(&row.names)
            .bind(&row.chain)
            .bind(&row.private_key)
            .bind(row.not_before.map(Timestamp::as_millis))
            .bind(row.not_after.map(Timestamp::as_millis))
            .bind(row.next_order_at.as_millis());
        self.run(query).await.map(drop)
    }

    /// Ends an order of this node that failed, and counts it. The certificate stays.
    pub async fn update_failed_tls_order(
        &mut self,
        key: &TlsCertificateKey,
        node: &str,
        failed: &FailedOrder,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE tls_certificates SET failures = failures + 1, error = $4, next_order_at = $5,
                 ordered_by = NULL, ordered_until = 0
             WHERE directory = $1 AND names = $2 AND ordered_by = $3",
        );
        let query = query
            .bind(&key.directory)
            .bind(&key.names)
            .bind(node)
            .bind(&failed.error)
            .bind(failed.next_order_at.as_millis());
        self.run(query).await.map(drop)
    }

    /// Removes certificates and challenges that expired before `before`. Keeps the certificate with this key.
    pub async fn delete_expired_tls(
        &mut self,
        key: &TlsCertificateKey,
        before: Timestamp,
    ) -> Result<(), StoreError> {
        let certificates = query(
            "DELETE FROM tls_certificates
             WHERE not_after < $1 AND NOT (directory = $2 AND names = $3)",
        );
        let certificates = certificates.bind(before.as_millis());
        let certificates = certificates.bind(&key.directory).bind(&key.names);
        self.run(certificates).await?;
        let challenges = query("DELETE FROM tls_challenges WHERE expires_at < $1");
        self.run(challenges.bind(before.as_millis()))
            .await
            .map(drop)
    }

    /// Returns the digest to present for a name. Returns `None` if the name is not being verified.
    pub async fn find_tls_challenge(
        &mut self,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let query = query("SELECT digest FROM tls_challenges WHERE name = $1 AND expires_at > $2");
        let found: Option<Digest> = self.find(query.bind(name).bind(now.as_millis())).await?;
        Ok(found.map(|Digest(digest)| digest))
    }

    /// Inserts or replaces the challenge of a name.
    pub async fn update_tls_challenge(
        &mut self,
        name: &str,
        digest: Vec<u8>,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO tls_challenges (name, digest, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET digest = excluded.digest,
                 expires_at = excluded.expires_at",
        );
        let query = query.bind(name).bind(digest).bind(expires_at.as_millis());
        self.run(query).await.map(drop)
    }

    pub async fn delete_tls_challenge(&mut self, name: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM tls_challenges WHERE name = $1");
        self.run(query.bind(name)).await.map(drop)
    }
}
