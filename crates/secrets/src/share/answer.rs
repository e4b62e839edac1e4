//! Answers the requests of sealed nodes.

use super::{delete_old, is_kept};
use crate::VaultError;
use crate::owner_seal::{OwnerSeal, SUBJECT};
use crate::seen::Seen;
use crate::state::Inner;
use gatehouse_store::{StoreError, VaultShareRow};
use gatehouse_vault::{ClusterKey, Dek, SharePlace};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Inner {
    /// Answers the requests of other nodes. `own` is a request of this node that it no longer needs.
    pub(super) async fn answer_requests(
        self: &Arc<Self>,
        cluster: &ClusterKey,
        own: Option<String>,
    ) -> Result<(), VaultError> {
        // The gate delays a seal until the answers are written.
        let _shared = self.gate.read().await;
        let (seen, _, Some(dek)) = self.known() else {
            return Ok(());
        };
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_vault_shares().await }));
        let rows: Result<Vec<VaultShareRow>, StoreError> = read.await;
        let (mut rows, now) = (rows?, self.now());
        rows.retain(|row| Some(&row.id) != own.as_ref());
        let answers = self.answers(cluster, &rows, &seen, &dek);
        if answers.is_empty() && own.is_none() && rows.iter().all(|row| is_kept(row, now)) {
            return Ok(());
        }
        let inner = Arc::clone(self);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                inner.require_unchanged(conn, &seen).await?;
                delete_old(conn, now).await?;
                if let Some(own) = own {
                    conn.delete_vault_share(&own).await?;
                }
                if answers.is_empty() || !OwnerSeal::read(conn).await?.is_over(None) {
                    return Ok(());
                }
                for (id, answer) in &answers {
                    conn.update_vault_share_answer(id, answer).await?;
                }
                Ok::<_, VaultError>(conn.insert_change(SUBJECT, now).await?)
            })
        });
        write.await
    }

    fn answers(
        &self,
        cluster: &ClusterKey,
        rows: &[VaultShareRow],
        seen: &Seen,
        dek: &Dek,
    ) -> Vec<(String, String)> {
        let now = self.now();
        let waits = |row: &&VaultShareRow| {
            row.answer.is_none()
                && row.generation == seen.generation
                && row.dek_id == dek.id().as_str()
                && is_kept(row, now)
        };
        let mut answers = Vec::new();
        for row in rows.iter().filter(waits) {
            let Some(request) = &row.request else {
                continue;
            };
            let place = SharePlace {
                dek_id: row.dek_id.clone(),
                generation: row.generation,
                request: row.id.clone(),
            };
            match cluster.answer(&*self.random, &place, request, dek) {
                Ok(answer) => {
                    self.sharing.has_warned.store(false, Ordering::SeqCst);
                    answers.push((row.id.clone(), answer));
                }
                Err(_) => self.sharing.warn("a request is not authentic"),
            }
        }
        answers
    }
}
