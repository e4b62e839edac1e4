//! Reasons to wait that are not stored in the rows of deliveries: a disabled or paused webhook, and an account that
//! is disabled or does not respond.

use super::circuit::{Circuits, Gate};
use crate::delivery::Delivery;
use crate::handle::Inner;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::{DeliveryRow, StoreError, WAITS_FOR_RELEASE, WAITS_FOR_VAULT};
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

impl Inner {
    pub(crate) fn circuits(&self) -> MutexGuard<'_, Circuits> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the circuits of channels that were changed, disabled or deleted, or that accepted a test message.
    pub(crate) async fn follow_accounts(&self) -> Result<(), StoreError> {
        let accounts = self.channels.enabled_accounts().await?;
        self.circuits().follow(accounts);
        Ok(())
    }

    /// Returns what may currently be sent with an account.
    pub(crate) fn gate_of(&self, account: &str) -> Gate {
        self.circuits().gate(account, self.clock.monotonic_ms())
    }

    /// Converts rows for the API. The `error` of a held delivery explains the hold.
    pub(crate) async fn shown_deliveries(&self, rows: Vec<DeliveryRow>) -> Vec<Delivery> {
        let mut known: HashMap<String, Option<String>> = HashMap::new();
        let mut all = Vec::with_capacity(rows.len());
        for mut row in rows {
            if row.status == DeliveryStatus::Queued
                && !matches!(
                    row.error.as_deref(),
                    Some(WAITS_FOR_VAULT | WAITS_FOR_RELEASE)
                )
                && let Some(why) = self.hold_of(&row, &mut known).await
            {
                row.error = Some(why);
            }
            all.push(Delivery::from(row));
        }
        all
    }

    async fn hold_of(
        &self,
        row: &DeliveryRow,
        known: &mut HashMap<String, Option<String>>,
    ) -> Option<String> {
        let webhook = self.live.find_by_id(&row.webhook_id);
        if let Some(webhook) = webhook {
            if !webhook.enabled {
                return Some("Waits until the webhook is enabled.".to_owned());
            }
            if webhook.paused {
                return Some("Waits until the webhook is resumed.".to_owned());
            }
        }
        let target = row.target.as_ref().filter(|target| !target.is_empty())?;
        if let Some(why) = known.get(target) {
            return why.clone();
        }
        let why = self.hold_of_target(target).await;
        known.insert(target.clone(), why.clone());
        why
    }

    async fn hold_of_target(&self, target: &str) -> Option<String> {
        // If the query fails, no reason is shown.
        let account = self.channels.find_target_account(target).await.ok()??;
        if !account.is_enabled {
            return Some(format!(
                "Waits until the channel {} is enabled.",
                account.label
            ));
        }
        if self.gate_of(&account.id) == Gate::Closed {
            return None;
        }
        // Reads the accounts now, because the channel may have been changed or tested since the worker last read
        // them. The worker reads them only if it has a free slot.
        self.follow_accounts().await.ok()?;
        match self.gate_of(&account.id) {
            Gate::Closed => None,
            // Up to five minutes can pass between two probes, and the probe may be a different delivery.
            Gate::Probe | Gate::Open(_) => Some(format!(
                "Waits because the channel {} does not respond. Until it responds, one delivery at a time is \
                 attempted.",
                account.label
            )),
        }
    }
}
