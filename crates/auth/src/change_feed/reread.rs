//! Reads the credentials and the state of the database into memory.

use crate::devices::live::LiveDevice;
use crate::error::AuthError;
use crate::live_credential::{Live, LiveKey, LiveSession};
use crate::state::{Auth, Settled};
use gatehouse_store::{ApiKeyRow, AuthSessionRow, DeviceRow};
use std::collections::HashSet;

impl Auth {
    pub(super) async fn reread_state(&self) -> Result<(), AuthError> {
        let settled = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(Settled::read(conn).await?) }));
        self.0.settle(&settled.await?);
        Ok(())
    }

    pub(super) async fn reread_sessions(&self) -> Result<(), AuthError> {
        let rows = self.read_all_sessions().await?;
        let ids: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        self.0
            .sessions
            .end_where(|live| !ids.contains(live.id().as_str()));
        Ok(())
    }

    pub(super) async fn reread_keys(&self) -> Result<(), AuthError> {
        let rows = self.read_all_keys().await?;
        let ids: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        self.0
            .keys
            .end_where(|live| !ids.contains(live.id().as_str()));
        Ok(())
    }

    pub(super) async fn reread_devices(&self) -> Result<(), AuthError> {
        let rows = self.read_all_devices().await?;
        let ids: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        self.0
            .devices
            .end_where(|live| !ids.contains(live.id().as_str()));
        self.load_devices(&rows);
        Ok(())
    }

    /// Adds devices that are not in memory. Other credentials are added when they are used, but notifications are
    /// also sent to devices that never connected to this node. Call it only under the lock that orders all changes.
    fn load_devices(&self, rows: &[DeviceRow]) {
        let now = self.0.now();
        for row in rows.iter().take(crate::live_map::CAPACITY) {
            match LiveDevice::from_row(row) {
                Ok(device) if device.is_expired(now) => {}
                Ok(device) => drop(self.0.devices.insert(device)),
                Err(error) => tracing::warn!(%error, id = %row.id, "a device could not be loaded"),
            }
        }
    }

    pub(crate) async fn read_all_devices(&self) -> Result<Vec<DeviceRow>, AuthError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(conn.list_devices().await?) }));
        read.await
    }

    async fn read_all_sessions(&self) -> Result<Vec<AuthSessionRow>, AuthError> {
        let now = self.0.now();
        let read = self.0.store.read(move |conn| {
            Box::pin(
                async move { Ok::<_, AuthError>(conn.list_auth_sessions(now, i64::MAX).await?) },
            )
        });
        read.await
    }

    async fn read_all_keys(&self) -> Result<Vec<ApiKeyRow>, AuthError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(conn.list_api_keys().await?) }));
        read.await
    }

    /// Loads all credentials into memory. [`Auth::background`] calls it at startup. If the database has a single
    /// process, a credential that is not in memory after this call does not exist.
    pub async fn load_credentials(&self) -> Result<(), AuthError> {
        let _turn = self.0.changing.lock().await;
        let capacity = crate::live_map::CAPACITY;
        let sessions = self.read_all_sessions().await?;
        let fits = sessions.len() <= capacity;
        for row in sessions.iter().take(capacity) {
            match LiveSession::from_row(row) {
                Ok(session) => drop(self.0.sessions.insert(session)),
                Err(error) => tracing::warn!(%error, id = %row.id, "a session could not be loaded"),
            }
        }
        self.0.sessions.set_complete(fits);
        let keys = self.read_all_keys().await?;
        let fits = keys.len() <= capacity;
        for row in keys.iter().take(capacity) {
            match LiveKey::from_row(row) {
                Ok(key) => drop(self.0.keys.insert(key)),
                Err(error) => {
                    tracing::warn!(%error, id = %row.id, "an API key could not be loaded");
                }
            }
        }
        self.0.keys.set_complete(fits);
        let devices = self.read_all_devices().await?;
        let fits = devices.len() <= capacity;
        self.load_devices(&devices);
        self.0.devices.set_complete(fits);
        Ok(())
    }
}
