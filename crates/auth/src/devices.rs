//! Paired devices: programs on a phone or another machine that connect to `/ws` with their own token. A token is
//! valid only for sockets, not for HTTP, and only its hash is stored.

pub(crate) mod live;

pub use live::{DevicePresence, LiveDevice};

use crate::api::{Device, DeviceList, DevicePaired, Done, PairDeviceRequest};
use crate::api_keys::{check_label, dies_at_setup};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::identity::AuthIdentity;
use crate::lineage::{Descendants, Limits, may_keep_children};
use crate::live_credential::{Live, TOKEN_PREFIX, hash_of, to_hex};
use crate::only::{Only, TargetKinds};
use crate::recorded::{Changed, Recorded};
use crate::request_context::RequestContext;
use crate::state::Auth;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Actor, DeviceId, Scope, ScopeSet};
use gatehouse_store::DeviceRow;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the scopes of a new device: the requested ones. By default, read and write, as far as the creator has
/// them.
fn scopes_for(asked: Option<Vec<Scope>>, creator: &AuthIdentity) -> ScopeSet {
    let usual = [Scope::Read, Scope::Write];
    match asked {
        Some(list) => list.into_iter().collect(),
        None => usual
            .into_iter()
            .filter(|scope| creator.allows(*scope))
            .collect(),
    }
}

impl Auth {
    /// `pairing.create`.
    pub async fn pair_device(
        &self,
        context: &RequestContext,
        request: PairDeviceRequest,
    ) -> Result<DevicePaired, AuthError> {
        let creator = context.require(Scope::Pairing)?.clone();
        let label = check_label(&request.label)?;
        let limits = Limits {
            scopes: scopes_for(request.scopes, &creator),
            expires_at: request.expires_at,
            allowed_cidrs: request.allowed_cidrs,
            only: self.read_only(request.only.as_deref(), TargetKinds::Methods)?,
        };
        let limits = limits.check(self.0.now())?.within(&creator)?;
        let scopes = limits.scopes;
        if scopes.allows(Scope::Admin) {
            self.require_confirmed(&creator).await?;
        }
        let inner = &self.0;
        let secret = BASE64URL_NOPAD.encode(&inner.random.bytes::<32>());
        let token = format!("{TOKEN_PREFIX}{secret}");
        let row = DeviceRow {
            id: DeviceId::generate(&*inner.clock, &*inner.random),
            token_hash: to_hex(&hash_of(&token)),
            label,
            scopes,
            created_at: inner.now(),
            last_seen_at: None,
            expires_at: limits.expires_at,
            allowed_cidrs: limits.allowed_cidrs,
            made_by: Some(creator.actor_name()),
            only: limits.only.as_ref().map(Only::to_texts),
            dies_at_setup: dies_at_setup(&creator),
        };
        let id = row.id.clone();
        self.insert_device(context.actor(), creator, row).await?;
        Ok(DevicePaired { id, token, scopes })
    }

    async fn insert_device(
        &self,
        actor: Actor,
        creator: AuthIdentity,
        row: DeviceRow,
    ) -> Result<(), AuthError> {
        let live = LiveDevice::from_row(&row)?;
        let auth = self.clone();
        self.record(
            Recorded::new(kinds::DEVICE_PAIRED, actor, &[Changed::DEVICES]),
            move |conn| {
                Box::pin(async move {
                    auth.require_live_row(conn, &creator).await?;
                    conn.insert_device(&row).await?;
                    let detail = json!({
                        "device": row.id, "label": row.label, "scopes": row.scopes,
                        "only": row.only,
                    });
                    Ok((detail, ()))
                })
            },
            move |inner, ()| drop(inner.devices.insert(live)),
        )
        .await
    }

    /// `pairing.list`. The caller must check the scope.
    pub async fn list_devices(&self) -> Result<DeviceList, AuthError> {
        let rows = self.read_all_devices().await?;
        let live = self.0.devices.all();
        let live: HashMap<&str, &Arc<LiveDevice>> = live
            .iter()
            .map(|device| (device.id().as_str(), device))
            .collect();
        let item = |row: DeviceRow| {
            let here = live.get(row.id.as_str());
            Device {
                online: here.is_some_and(|device| device.is_online()),
                last_seen_at: here
                    .and_then(|device| device.last_seen_at())
                    .max(row.last_seen_at),
                id: row.id,
                label: row.label,
                scopes: row.scopes,
                created_at: row.created_at,
                expires_at: row.expires_at,
                allowed_cidrs: row.allowed_cidrs,
                only: row.only,
                made_by: row.made_by,
            }
        };
        Ok(DeviceList {
            devices: rows.into_iter().map(item).collect(),
        })
    }

    /// Returns whether a device may receive data through a push service. `method` returns the same data to callers
    /// with `scope`. A device that is limited to certain networks receives nothing, because the push service is
    /// outside those networks.
    pub fn device_may_receive(&self, id: &DeviceId, scope: Scope, method: &str) -> bool {
        let now = self.0.now();
        self.0.devices.all().iter().any(|device| {
            device.id() == id
                && device.is_live(now)
                && device.scopes().allows(scope)
                && device.allowed_cidrs().is_none()
                && device.only().is_none_or(|only| only.allows(method))
        })
    }

    /// `pairing.revoke`: closes the device's sockets and ends the credentials that it created, unless
    /// they are kept.
    pub async fn revoke_device(
        &self,
        context: &RequestContext,
        id: DeviceId,
        keep_children: bool,
    ) -> Result<Done, AuthError> {
        let identity = context.require(Scope::Pairing)?.clone();
        let (now, in_job) = (self.0.now(), id.clone());
        self.record(
            Recorded::new(kinds::DEVICE_REVOKED, context.actor(), &[Changed::DEVICES]),
            move |conn| {
                Box::pin(async move {
                    may_keep_children(conn, &identity, keep_children).await?;
                    // Reads the row before it is deleted.
                    let all = conn.list_devices().await?;
                    let row = all.into_iter().find(|row| row.id == in_job);
                    let made_by = row.as_ref().and_then(|row| row.made_by.clone());
                    let label = row.map(|row| row.label);
                    if !conn.delete_device(&in_job).await? {
                        return Err(AuthError::NotFound("device"));
                    }
                    let name = format!("device {in_job}");
                    let below = if keep_children {
                        Descendants::keep(conn, &name, made_by.as_deref()).await?
                    } else {
                        Descendants::delete(conn, &name, now).await?
                    };
                    let detail =
                        json!({ "device": in_job, "label": label, "children": below.count() });
                    Ok((detail, below))
                })
            },
            move |inner, below| {
                below.end_in(inner);
                inner.devices.end_where(|device| *device.id() == id);
            },
        )
        .await?;
        Ok(Done::OK)
    }
}
