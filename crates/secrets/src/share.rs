//! Nodes that share a database and a cluster secret share the data key. This module requests the key for a sealed
//! node. `answer` answers for an unsealed node, and `rotation` passes the key of a rotation to nodes that have the
//! previous key. The vault crate contains the cryptography, `owner_seal` the rule for a node that its owner sealed.

mod answer;
mod cluster;
mod rotation;
pub(crate) mod sharing;

use crate::VaultError;
use crate::lifecycle::UnsealCredential;
use crate::owner_seal::{OwnerSeal, SUBJECT, UNKNOWN};
use crate::seen::View;
use crate::state::Inner;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{Conn, StoreError, VaultShareRow};
use gatehouse_vault::{ClusterKey, Dek, ShareKey, SharePlace, Status, VaultRecord};
use sharing::Pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The age at which a sealed node replaces its request, in milliseconds.
const RENEWED_MS: i64 = 15_000;
/// How long a row is kept, in milliseconds. This is also the maximum allowed difference between the clocks of
/// nodes.
const KEPT_MS: i64 = 120_000;

fn is_kept(row: &VaultShareRow, now: Timestamp) -> bool {
    now.as_millis().abs_diff(row.created_at.as_millis()) <= KEPT_MS.unsigned_abs()
}

fn is_key_of(record: &VaultRecord, dek: &Dek) -> bool {
    dek.id().as_str() == record.dek_id && dek.matches_commitment(&record.dek_commitment)
}

async fn delete_old(conn: &mut Conn, now: Timestamp) -> Result<(), StoreError> {
    let at = |offset: i64| Timestamp::from_millis(now.as_millis().saturating_add(offset));
    conn.delete_old_vault_shares(at(-KEPT_MS), at(KEPT_MS))
        .await
}

impl Inner {
    async fn share_round(self: &Arc<Self>) -> Result<(), VaultError> {
        let Some(cluster) = self.sharing.cluster() else {
            return Ok(());
        };
        let mut pending = self.sharing.pending.lock().await;
        let view = self.view().await?;
        match (view.status, &view.record) {
            (Status::Sealed, Some(record)) => {
                if self.sealed_after() == Some(UNKNOWN) {
                    self.record_owner_seal().await?;
                }
                let asked = pending.take().filter(|asked| asked.seen == view.seen);
                *pending = self.request_key(cluster, &view, record, asked).await?;
                Ok(())
            }
            (Status::Unsealed, _) => {
                let own = pending.take().map(|asked| asked.place.request);
                self.answer_requests(cluster, own).await
            }
            _ => {
                *pending = None;
                Ok(())
            }
        }
    }

    /// Unseals with the answer to `asked`. If there is no answer yet, returns the request to wait for.
    async fn request_key(
        self: &Arc<Self>,
        cluster: &ClusterKey,
        view: &View,
        record: &VaultRecord,
        asked: Option<Pending>,
    ) -> Result<Option<Pending>, VaultError> {
        let id = asked.as_ref().map(|asked| asked.place.request.clone());
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let seal = OwnerSeal::read(conn).await?;
                let row = match id {
                    Some(id) => conn.find_vault_share(&id).await?,
                    None => None,
                };
                Ok::<_, VaultError>((seal, row))
            })
        });
        let (seal, row) = read.await?;
        if !seal.is_over(self.sealed_after()) {
            return Ok(None);
        }
        let Some(asked) = asked else {
            return self.insert_request(cluster, view, record, None).await;
        };
        let Some(answer) = row.and_then(|row| row.answer) else {
            let age = self.now().as_millis().abs_diff(asked.at.as_millis());
            if age < RENEWED_MS.unsigned_abs() {
                return Ok(Some(asked));
            }
            let old = asked.place.request;
            return self.insert_request(cluster, view, record, Some(old)).await;
        };
        match asked.key.open(cluster, &asked.place, &answer) {
            Ok(dek) if is_key_of(record, &dek) => {
                self.take_key(&asked, &Arc::new(dek)).await?;
                Ok(None)
            }
            _ => {
                self.sharing.warn("an answer is not authentic");
                let old = asked.place.request;
                self.insert_request(cluster, view, record, Some(old)).await
            }
        }
    }

    async fn insert_request(
        self: &Arc<Self>,
        cluster: &ClusterKey,
        view: &View,
        record: &VaultRecord,
        old: Option<String>,
    ) -> Result<Option<Pending>, VaultError> {
        let (began, at) = (self.begin(), self.now());
        let id = u128::from_be_bytes(self.random.bytes());
        let place = SharePlace {
            dek_id: record.dek_id.clone(),
            generation: view.seen.generation,
            request: format!("req_{id:032x}"),
        };
        let key = ShareKey::generate(&*self.random);
        let row = VaultShareRow {
            id: place.request.clone(),
            dek_id: place.dek_id.clone(),
            generation: place.generation,
            request: Some(key.request(cluster, &*self.random, &place)?),
            answer: None,
            created_at: at,
        };
        let (inner, seen) = (Arc::clone(self), view.seen.clone());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                inner.require_unchanged(conn, &seen).await?;
                delete_old(conn, at).await?;
                if let Some(old) = old {
                    conn.delete_vault_share(&old).await?;
                }
                conn.update_vault_share(&row).await?;
                Ok::<_, VaultError>(conn.insert_change(SUBJECT, at).await?)
            })
        });
        write.await?;
        let seen = view.seen.clone();
        Ok(Some(Pending {
            place,
            key,
            seen,
            began,
            at,
        }))
    }

    async fn take_key(self: &Arc<Self>, asked: &Pending, dek: &Arc<Dek>) -> Result<(), VaultError> {
        let _alone = self.alone_unless_superseded(asked.began).await?;
        let now = self.view_unchanged(&asked.seen).await?;
        if now.dek.is_some() {
            return Ok(());
        }
        let credential = UnsealCredential::AnotherNode {
            request: asked.place.request.clone(),
        };
        self.unseal_alone(&Actor::system(), credential, &now.seen, dek)
            .await?;
        self.sharing.has_warned.store(false, Ordering::SeqCst);
        tracing::info!("the vault was unsealed with the key of another node");
        Ok(())
    }

    /// Deletes an answered request in the transaction of the unseal. Returns `Superseded` if an owner has sealed a
    /// node in the meantime.
    pub(crate) async fn end_request(&self, conn: &mut Conn, id: &str) -> Result<(), VaultError> {
        if !OwnerSeal::read(conn).await?.is_over(self.sealed_after()) {
            return Err(VaultError::Superseded);
        }
        Ok(conn.delete_vault_share(id).await?)
    }
}
