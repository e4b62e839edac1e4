//! Paired devices: a program on a telephone or in another room that connects to `/ws` with a token of
//! its own. A token opens sockets only, never HTTP, and is kept only as a hash.

mod live;

pub use live::{DevicePresence, LiveDevice};

use crate::api::{Device, DeviceList, DevicePaired, Done, PairDeviceRequest};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::identity::{AuthIdentity, Subject};
use crate::live::{hash_of, to_hex};
use crate::state::{Auth, Settled};
use crate::visit::Visit;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{Actor, DeviceId, Scope, ScopeSet};
use gatehouse_store::{AuditEntry, DeviceRow};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// What every device token begins with.
pub(crate) const TOKEN_PREFIX: &str = "gd_";
const MAX_LABEL_CHARS: usize = 100;

fn check_label(label: &str) -> Result<String, AuthError> {
    let label = label.trim();
    if !(1..=MAX_LABEL_CHARS).contains(&label.chars().count()) {
        let reason = format!("1 to {MAX_LABEL_CHARS} characters");
        return Err(AuthError::field("label", reason));
    }
    if label.chars().any(char::is_control) {
        return Err(AuthError::field("label", "no control characters"));
    }
    Ok(label.to_owned())
}

/// What a device may do: what was asked for, else reading and writing as far as its creator may.
fn scopes_for(asked: Option<Vec<Scope>>, creator: &AuthIdentity) -> Result<ScopeSet, AuthError> {
    let usual = [Scope::Read, Scope::Write];
    let scopes: ScopeSet = match asked {
        Some(list) => list.into_iter().collect(),
        None => usual
            .into_iter()
            .filter(|scope| creator.allows(*scope))
            .collect(),
    };
    if scopes.is_empty() {
        return Err(AuthError::field("scopes", "at least one scope"));
    }
    if !creator.scopes.may_grant(scopes) {
        return Err(AuthError::WiderThanCreator);
    }
    Ok(scopes)
}

impl Auth {
    /// `pairing.create`.
    pub async fn pair_device(
        &self,
        visit: &Visit,
        request: PairDeviceRequest,
    ) -> Result<DevicePaired, AuthError> {
        let creator = visit.require(Scope::Pairing)?.clone();
        let scopes = scopes_for(request.scopes, &creator)?;
        if scopes.allows(Scope::Admin) && !self.is_confirmed(&creator) {
            return Err(AuthError::ConfirmationRequired);
        }
        let inner = &self.0;
        let secret = BASE64URL_NOPAD.encode(&inner.random.bytes::<32>());
        let token = format!("{TOKEN_PREFIX}{secret}");
        let dies_at_setup = matches!(
            creator.subject,
            Subject::LoopbackDisabled { is_local: false }
        );
        let row = DeviceRow {
            id: DeviceId::generate(&*inner.clock, &*inner.random),
            token_hash: to_hex(&hash_of(&token)),
            label: check_label(&request.label)?,
            scopes,
            created_at: inner.now(),
            last_seen_at: None,
            dies_at_setup,
        };
        let id = row.id.clone();
        self.insert_device(visit.actor(), creator, row).await?;
        Ok(DevicePaired { id, token, scopes })
    }

    async fn insert_device(
        &self,
        actor: Actor,
        creator: AuthIdentity,
        row: DeviceRow,
    ) -> Result<(), AuthError> {
        let live = LiveDevice::from_row(&row)?;
        let (auth, now) = (self.clone(), self.0.now());
        let random = Arc::clone(&self.0.random);
        self.change(
            move |conn| {
                Box::pin(async move {
                    // Ended meanwhile, such as by a reset, which this device would outlive.
                    if !auth.is_live(&creator) {
                        return Err(AuthError::NotAuthenticated);
                    }
                    if row.dies_at_setup && Settled::read(conn).await?.facts.setup_complete {
                        return Err(AuthError::NotAuthenticated);
                    }
                    conn.insert_device(&row).await?;
                    let entry = AuditEntry {
                        kind: kinds::DEVICE_PAIRED,
                        actor: &actor,
                        detail: json!({ "device": row.id, "label": row.label, "scopes": row.scopes }),
                    };
                    conn.append_audit(&entry, now, &*random).await?;
                    Ok(())
                })
            },
            move |inner, ()| {
                inner.devices.insert(live);
                inner.announce(&["devices"]);
            },
        )
        .await
    }

    /// `pairing.list`. The scope is the caller's to check.
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
            }
        };
        Ok(DeviceList {
            devices: rows.into_iter().map(item).collect(),
        })
    }

    /// `pairing.revoke`: its sockets close.
    pub async fn revoke_device(&self, visit: &Visit, id: DeviceId) -> Result<Done, AuthError> {
        visit.require(Scope::Pairing)?;
        let (actor, now) = (visit.actor(), self.0.now());
        let (random, in_job) = (Arc::clone(&self.0.random), id.clone());
        self.change(
            move |conn| {
                Box::pin(async move {
                    // Once it is gone, nothing else knows what it was called.
                    let all = conn.list_devices().await?;
                    let label = all.into_iter().find(|row| row.id == in_job);
                    let label = label.map(|row| row.label);
                    if !conn.delete_device(&in_job).await? {
                        return Err(AuthError::NotFound("device"));
                    }
                    let entry = AuditEntry {
                        kind: kinds::DEVICE_REVOKED,
                        actor: &actor,
                        detail: json!({ "device": in_job, "label": label }),
                    };
                    conn.append_audit(&entry, now, &*random).await?;
                    conn.insert_change("auth_devices", now).await?;
                    Ok(())
                })
            },
            move |inner, ()| {
                inner.devices.end_where(|device| *device.id() == id);
                inner.announce(&["devices"]);
            },
        )
        .await?;
        Ok(Done::OK)
    }
}
