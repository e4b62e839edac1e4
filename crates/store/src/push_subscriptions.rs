//! Tables `push_keys` and `push_subscriptions`: notifications through push services.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{AuthSessionId, DeviceId, PushSubscriptionId, Timestamp};

/// A row of `push_subscriptions`. A subscription belongs to a session or a device and is deleted with it.
#[derive(Clone, PartialEq, Eq)]
pub struct PushSubscriptionRow {
    pub id: PushSubscriptionId,
    /// A URL of the push service. The URL contains a secret of the browser.
    pub endpoint: String,
    /// The browser's public key as base64url.
    pub p256dh: String,
    /// As base64url.
    pub auth_secret: String,
    pub session_id: Option<AuthSessionId>,
    pub device_id: Option<DeviceId>,
    pub created_at: Timestamp,
}

columns! {
    PushSubscriptionRow: id, endpoint, p256dh, auth_secret, session_id, device_id, created_at
}

/// A subscription whose credential is valid, with the name of the credential.
#[derive(Clone, PartialEq, Eq)]
pub struct LivePushSubscription {
    pub row: PushSubscriptionRow,
    /// The browser of the session.
    pub user_agent: Option<String>,
    /// The label of the device.
    pub label: Option<String>,
}

impl crate::sql::FromRow for LivePushSubscription {
    fn from_row(row: &crate::sql::Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            user_agent: row.try_get("user_agent")?,
            label: row.try_get("label")?,
            row: PushSubscriptionRow::from_row(row)?,
        })
    }
}

impl Conn {
    /// Returns the stored private key. Stores `new` first if there is none.
    pub async fn get_push_key(&mut self, new: &str, now: Timestamp) -> Result<String, StoreError> {
        let insert = query(
            "INSERT INTO push_keys (id, private_key, created_at) VALUES (1, $1, $2)
             ON CONFLICT (id) DO NOTHING",
        );
        self.run(insert.bind(new).bind(now.as_millis())).await?;
        let stored = self.find_push_key().await?;
        stored.ok_or(StoreError::Damaged { what: "push key" })
    }

    pub async fn find_push_key(&mut self) -> Result<Option<String>, StoreError> {
        self.find(query("SELECT private_key FROM push_keys WHERE id = 1"))
            .await
    }

    pub async fn find_push_subscription(
        &mut self,
        endpoint: &str,
    ) -> Result<Option<PushSubscriptionRow>, StoreError> {
        let query = query("SELECT * FROM push_subscriptions WHERE endpoint = $1");
        self.find(query.bind(endpoint)).await
    }

    /// Inserts a subscription, or replaces the one with the same endpoint.
    pub async fn update_push_subscription(
        &mut self,
        row: &PushSubscriptionRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO push_subscriptions
                 (id, endpoint, p256dh, auth_secret, session_id, device_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (endpoint) DO UPDATE SET id = excluded.id, p256dh = excluded.p256dh,
                 auth_secret = excluded.auth_secret, session_id = excluded.session_id,
                 device_id = excluded.device_id, created_at = excluded.created_at",
        );
        let query = query.bind(row.id.as_str()).bind(&row.endpoint);
        let query = query.bind(&row.p256dh).bind(&row.auth_secret);
        let query = query
            .bind(row.session_id.as_ref().map(AuthSessionId::as_str))
            .bind(row.device_id.as_ref().map(DeviceId::as_str))
            .bind(row.created_at.as_millis());
        self.run(query).await.map(drop)
    }

    /// Returns the subscriptions whose sessions and devices are valid, oldest first.
    pub async fn list_push_subscriptions(
        &mut self,
        now: Timestamp,
    ) -> Result<Vec<LivePushSubscription>, StoreError> {
        let query = query(
            "SELECT push_subscriptions.*, auth_sessions.user_agent AS user_agent,
                 auth_devices.label AS label
             FROM push_subscriptions
             LEFT JOIN auth_sessions ON auth_sessions.id = session_id
             LEFT JOIN auth_devices ON auth_devices.id = device_id
             WHERE auth_sessions.expires_at > $1 OR (auth_devices.id IS NOT NULL
                 AND (auth_devices.expires_at IS NULL OR auth_devices.expires_at > $1))
             ORDER BY push_subscriptions.id",
        );
        self.list(query.bind(now.as_millis())).await
    }

    /// Deletes a subscription and returns its row; `None` if there is none.
    pub async fn delete_push_subscription(
        &mut self,
        id: &PushSubscriptionId,
    ) -> Result<Option<PushSubscriptionRow>, StoreError> {
        let query = query("DELETE FROM push_subscriptions WHERE id = $1 RETURNING *");
        self.find(query.bind(id.as_str())).await
    }
}
