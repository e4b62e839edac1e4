//! The browsers that get notifications: subscribe, list and remove.

mod error;

use super::encrypt::BrowserKeys;
use crate::Services;
use data_encoding::BASE64URL_NOPAD;
pub use error::PushError;
use gatehouse_auth::audit::kinds;
use gatehouse_auth::{AuthIdentity, Subject};
use gatehouse_domain::{Actor, AuthSessionId, DeviceId, PushSubscriptionId, Scope, Timestamp};
use gatehouse_outbound::{AddressSource, OutboundError};
use gatehouse_store::{AuditEntry, LivePushSubscription, PushSubscriptionRow, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The subject of the change after a browser subscribed or was removed.
pub(super) const CHANGED: &str = "push";
/// The maximum number of browsers with a subscription.
const MAX_SUBSCRIPTIONS: usize = 50;
/// Maximum length of an endpoint. The endpoints of the known push services are shorter than 500 bytes.
const MAX_ENDPOINT_BYTES: usize = 2_048;

/// A subscription as the browser's `PushSubscription.toJSON()` returns it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSubscription {
    /// The URL of the push service for this browser.
    pub endpoint: String,
    pub keys: SubscriptionKeys,
}

/// The keys of a subscription, as base64url.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionKeys {
    /// The browser's public key.
    pub p256dh: String,
    /// The authentication secret.
    pub auth: String,
}

/// A browser that gets notifications.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PushSubscription {
    pub id: PushSubscriptionId,
    /// The credential that the subscription ends with: `session` or `device` and an ID.
    pub credential: String,
    /// The host of the push service.
    pub push_service: String,
    /// The browser of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// The label of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When the browser subscribed.
    pub created_at: Timestamp,
}

fn host_of(endpoint: &str) -> String {
    let url = Url::parse(endpoint).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.unwrap_or_default().to_owned()
}

/// Returns the name of the credential that subscribed, in the form of the gate.
pub(super) fn holder_of(row: &PushSubscriptionRow) -> String {
    match (&row.session_id, &row.device_id) {
        (Some(session), _) => format!("session {session}"),
        (None, Some(device)) => format!("device {device}"),
        (None, None) => String::new(),
    }
}

impl From<LivePushSubscription> for PushSubscription {
    fn from(live: LivePushSubscription) -> Self {
        let row = live.row;
        Self {
            credential: holder_of(&row),
            push_service: host_of(&row.endpoint),
            id: row.id,
            user_agent: live.user_agent,
            label: live.label,
            created_at: row.created_at,
        }
    }
}

/// The credential of a subscription. Both end together.
type Owner = (Option<AuthSessionId>, Option<DeviceId>);

fn owner_of(identity: &AuthIdentity) -> Result<Owner, PushError> {
    match &identity.subject {
        Subject::Session(session) => Ok((Some(session.id().clone()), None)),
        Subject::Device(presence) => Ok((None, Some(presence.device().id().clone()))),
        _ => Err(PushError::NoCredential),
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, PushError> {
    let text = text.trim_end_matches('=');
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes());
    bytes.map_err(|_| PushError::Keys)
}

pub(super) fn browser_keys(p256dh: &str, auth: &str) -> Result<BrowserKeys, PushError> {
    BrowserKeys::read(&decoded(p256dh)?, &decoded(auth)?).ok_or(PushError::Keys)
}

impl Services {
    /// Sends notifications to this browser until the caller's session or device ends. Returns the ID of the
    /// subscription.
    pub async fn subscribe_push(
        &self,
        actor: Actor,
        identity: &AuthIdentity,
        new: NewSubscription,
    ) -> Result<PushSubscriptionId, PushError> {
        let (session_id, device_id) = owner_of(identity)?;
        self.check_endpoint(&new.endpoint)?;
        browser_keys(&new.keys.p256dh, &new.keys.auth)?;
        let (now, random) = (self.clock.now(), Arc::clone(&self.random));
        let row = PushSubscriptionRow {
            id: PushSubscriptionId::generate(&*self.clock, &*random),
            endpoint: new.endpoint,
            p256dh: new.keys.p256dh,
            auth_secret: new.keys.auth,
            session_id,
            device_id,
            created_at: now,
        };
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let known = conn.find_push_subscription(&row.endpoint).await?;
                if let Some(known) = known {
                    let same = PushSubscriptionRow {
                        id: known.id.clone(),
                        created_at: known.created_at,
                        ..row.clone()
                    };
                    if known == same {
                        return Ok(known.id);
                    }
                }
                let others = conn.list_push_subscriptions(now).await?.into_iter();
                let others = others.filter(|other| other.row.endpoint != row.endpoint);
                if others.count() >= MAX_SUBSCRIPTIONS {
                    return Err(PushError::TooMany);
                }
                conn.update_push_subscription(&row).await?;
                let entry = AuditEntry {
                    kind: kinds::PUSH_SUBSCRIBED,
                    actor: &actor,
                    detail: json!({
                        "subscription": row.id, "push_service": host_of(&row.endpoint),
                    }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                conn.insert_change(CHANGED, now).await?;
                Ok(row.id)
            })
        });
        write.await
    }

    fn check_endpoint(&self, endpoint: &str) -> Result<(), PushError> {
        let refused = |reason: &str| PushError::Endpoint(reason.to_owned());
        if endpoint.len() > MAX_ENDPOINT_BYTES {
            let reason = format!("at most {MAX_ENDPOINT_BYTES} bytes");
            return Err(PushError::Endpoint(reason));
        }
        let url = Url::parse(endpoint).map_err(|_| refused("is not a URL"))?;
        if url.scheme() != "https" {
            return Err(refused("must begin with https://"));
        }
        let checked = self.outbound.check_url(AddressSource::Public, &url);
        checked.map_err(|error| match error {
            OutboundError::BadUrl(reason) => refused(reason),
            _ => refused("is not an address on the public internet"),
        })
    }

    /// Returns the browsers that get notifications, oldest first.
    pub async fn list_pushes(&self) -> Result<Vec<PushSubscription>, PushError> {
        let live = self.live_pushes().await?;
        Ok(live.into_iter().map(PushSubscription::from).collect())
    }

    pub(super) async fn live_pushes(&self) -> Result<Vec<LivePushSubscription>, StoreError> {
        let now = self.clock.now();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_push_subscriptions(now).await }));
        read.await
    }

    /// Ends a subscription. A subscription of another client requires the scope of devices.
    pub async fn unsubscribe_push(
        &self,
        actor: Actor,
        identity: &AuthIdentity,
        id: PushSubscriptionId,
    ) -> Result<(), PushError> {
        let own = owner_of(identity).ok();
        let may_remove_others = identity.allows(Scope::Pairing);
        let (now, random) = (self.clock.now(), Arc::clone(&self.random));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let deleted = conn.delete_push_subscription(&id).await?;
                let row = deleted.ok_or(PushError::NotFound)?;
                let is_own = own == Some((row.session_id, row.device_id));
                if !is_own && !may_remove_others {
                    return Err(PushError::NotOwn);
                }
                let entry = AuditEntry {
                    kind: kinds::PUSH_REMOVED,
                    actor: &actor,
                    detail: json!({
                        "subscription": id, "push_service": host_of(&row.endpoint),
                    }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                conn.insert_change(CHANGED, now).await?;
                Ok(())
            })
        });
        write.await
    }
}
