//! Changes of credentials reach the other nodes and the subscribers of this one.

use crate::support::{Gate, HERE, PASSWORD, caller};
use gatehouse_auth::api::PairDeviceRequest;
use gatehouse_auth::passkeys::api::RenameRequest;
use gatehouse_domain::{Clock, PasskeyId, Scope};
use gatehouse_store::testing::databases;
use gatehouse_store::{NewChanges, PasskeyRow, StoreError};
use tokio::sync::broadcast::Receiver;

/// The method whose data the tests try to send to a device.
const METHOD: &str = "chat.history";

/// Collects the reports about changes.
struct Reports {
    position: i64,
    events: Receiver<&'static str>,
}

impl Reports {
    async fn of(gate: &Gate) -> Self {
        let mut reports = Self {
            position: 0,
            events: gate.auth.changes_events(),
        };
        reports.next(gate).await;
        reports
    }

    /// Returns the subjects for other nodes, and the names for subscribers.
    async fn next(&mut self, gate: &Gate) -> (Vec<String>, Vec<&'static str>) {
        let after = self.position;
        let read: Result<NewChanges, StoreError> = gate
            .store
            .read(move |conn| Box::pin(async move { conn.list_new_changes(after).await }))
            .await;
        let new = read.unwrap();
        self.position = new.last;
        let subjects = new.rows.into_iter().map(|row| row.subject).collect();
        let names = std::iter::from_fn(|| self.events.try_recv().ok()).collect();
        (subjects, names)
    }
}

fn reported(subject: &str, name: &'static str) -> (Vec<String>, Vec<&'static str>) {
    (vec![subject.to_owned()], vec![name])
}

fn phone() -> PairDeviceRequest {
    PairDeviceRequest {
        label: "phone".into(),
        scopes: None,
        expires_at: None,
        allowed_cidrs: None,
        only: None,
    }
}

#[tokio::test]
async fn a_new_credential_is_reported_to_other_nodes() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let mut reports = Reports::of(&gate).await;
        gate.key(&cookie, &[Scope::Read]).await;
        let expected = reported("auth_api_keys", "api_keys");
        assert_eq!(reports.next(&gate).await, expected);
        let owner = gate.context(HERE, &cookie).await;
        gate.auth.pair_device(&owner, phone()).await.unwrap();
        let expected = reported("auth_devices", "devices");
        assert_eq!(reports.next(&gate).await, expected);
        gate.login(HERE, "", PASSWORD).await.unwrap();
        let expected = reported("auth_sessions", "sessions");
        assert_eq!(reports.next(&gate).await, expected);
    }
}

#[tokio::test]
async fn a_new_name_of_a_passkey_is_reported_to_other_nodes() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let id = PasskeyId::from_text("pk_1");
        let row = PasskeyRow {
            id: id.clone(),
            credential_id: "credential".into(),
            credential: "{}".into(),
            name: "old".into(),
            rp_id: "localhost".into(),
            created_at: gate.clock.now(),
            last_used_at: None,
            made_by: None,
        };
        let written: Result<(), StoreError> = gate
            .store
            .write(move |conn| Box::pin(async move { conn.insert_passkey(&row).await }))
            .await;
        written.unwrap();
        let owner = gate.context(HERE, &cookie).await;
        let mut reports = Reports::of(&gate).await;
        let request = RenameRequest { name: "new".into() };
        let caller = caller(&owner);
        let renamed = gate.auth.rename_passkey(&caller, id, request);
        renamed.await.unwrap();
        let expected = reported("auth_state", "passkeys");
        assert_eq!(reports.next(&gate).await, expected);
    }
}

#[tokio::test]
async fn a_node_may_notify_a_device_that_another_node_paired() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let owner = gate.context(HERE, &cookie).await;
        let id = gate.auth.pair_device(&owner, phone()).await.unwrap().id;
        // A restarted node has loaded nothing into memory.
        gate.restart().await;
        let auth = &gate.auth;
        assert!(!auth.device_may_receive(&id, Scope::Read, METHOD));
        let now = gate.clock.now();
        let written: Result<(), StoreError> = gate
            .store
            .write(move |conn| {
                Box::pin(async move { conn.insert_change("auth_devices", now).await })
            })
            .await;
        written.unwrap();
        auth.look_at_feed().await.unwrap();
        assert!(auth.device_may_receive(&id, Scope::Read, METHOD));
    }
}
