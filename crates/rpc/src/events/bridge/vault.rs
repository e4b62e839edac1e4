//! Events about the state of the vault.

use crate::events::{
    EventBus, VAULT_PROGRESS, VAULT_STATUS, VaultProgressParams, VaultStatusParams,
};
use gatehouse_secrets::Progress;
use gatehouse_services::{Services, VaultStatus};
use std::sync::Arc;

pub(super) async fn vault_status(services: Arc<Services>, bus: EventBus) {
    let mut status = services.secrets.subscribe_status();
    while status.changed().await.is_ok() {
        let status = VaultStatus::from(*status.borrow_and_update());
        bus.publish_kind(&VAULT_STATUS, &VaultStatusParams { status });
    }
}

pub(super) async fn vault_progress(services: Arc<Services>, bus: EventBus) {
    let mut progress = services.secrets.progress();
    while progress.changed().await.is_ok() {
        let now = progress.borrow_and_update().clone();
        if let Some(Progress {
            operation,
            done,
            total,
        }) = now
        {
            let params = VaultProgressParams {
                operation,
                done,
                total,
            };
            bus.publish_kind(&VAULT_PROGRESS, &params);
        }
    }
}
