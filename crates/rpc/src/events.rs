//! Server events. One bounded bus carries every event to all connections, and serializes each event only once. Each
//! event states which identities may receive it. The bus is independent of connections.

mod bridge;
mod deliveries;
mod kinds;
mod records;
mod relay;
mod vault_shares;

pub use bridge::bridge;
pub use records::Records;

use crate::envelope::notification;
use crate::method_entry::Method;
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::Scope;
use gatehouse_services::VaultStatus;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::broadcast;

/// How many events a listener may fall behind before it misses some.
const QUEUE: usize = 1024;

/// A kind of event.
#[derive(Clone, Copy, Debug)]
pub struct EventKind {
    pub name: &'static str,
    /// The description for the documentation.
    pub summary: &'static str,
    /// The scope that a listener needs.
    pub scope: Scope,
    /// Methods that return the same information. A credential with `only` receives the event if it may call
    /// one of them.
    pub returned_by: &'static [&'static str],
    pub params: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

/// Every kind of event.
pub const EVENTS: &[EventKind] = &[
    VAULT_STATUS,
    VAULT_PROGRESS,
    AUTH_CHANGED,
    RECORDS_CHANGED,
    kinds::CHAT_DELTA,
    kinds::CHAT_TOOL,
    kinds::CHAT_MESSAGE,
    kinds::CHAT_DONE,
    kinds::CHAT_AUDIO,
    kinds::WEBHOOKS_DELIVERY,
    kinds::CHANNEL_MESSAGE,
    kinds::APPROVAL_REQUESTED,
    kinds::APPROVAL_RESOLVED,
    kinds::BUDGET_WARNING,
    #[cfg(feature = "voice")]
    kinds::VOICE_PERSONA,
    #[cfg(feature = "voice")]
    kinds::VOICE_SETTINGS,
];

const VAULT_STATUS: EventKind = EventKind {
    name: "vault.status",
    summary: "The vault was created, sealed, unlocked, disabled or enabled.",
    scope: Scope::Read,
    returned_by: &["system.status"],
    params: |generator| generator.subschema_for::<VaultStatusParams>(),
};

const VAULT_PROGRESS: EventKind = EventKind {
    name: "vault.progress",
    summary: "The progress of a long vault operation.",
    scope: Scope::Read,
    returned_by: &["system.status"],
    params: |generator| generator.subschema_for::<VaultProgressParams>(),
};

const AUTH_CHANGED: EventKind = EventKind {
    name: "auth.changed",
    summary: "Credentials or the state of authentication changed.",
    scope: Scope::Read,
    returned_by: &[
        "/api/auth/api-keys",
        "/api/auth/sessions",
        "/api/auth/passkeys",
        "pairing.list",
    ],
    params: |generator| generator.subschema_for::<AuthChangedParams>(),
};

const RECORDS_CHANGED: EventKind = EventKind {
    name: "records.changed",
    summary: "Records of the named kind changed. The event may be sent more than once.",
    scope: Scope::Read,
    // Depends on the records; see `Records::returned_by`.
    returned_by: &[],
    params: |generator| generator.subschema_for::<RecordsChangedParams>(),
};

/// Params of `vault.status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultStatusParams {
    /// The new status.
    pub status: VaultStatus,
}

/// Params of `vault.progress`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultProgressParams {
    /// The running operation.
    pub operation: &'static str,
    /// The number of records processed so far.
    pub done: u64,
    /// The total number of records.
    pub total: u64,
}

/// Params of `auth.changed`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthChangedParams {
    /// What changed: `sessions`, `api_keys`, `devices`, `passkeys`, `password`, `setup` or `auth_disabled`.
    pub what: &'static str,
}

/// Params of `records.changed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordsChangedParams {
    /// The kind of records. The methods that list them start with this name.
    pub what: Records,
}

/// A published event.
#[derive(Debug)]
pub struct Event {
    pub name: &'static str,
    /// The complete message, identical for every listener.
    pub frame: String,
    /// The scope that a listener needs.
    pub scope: Scope,
    /// See [`EventKind::returned_by`].
    pub returned_by: &'static [&'static str],
    /// Whether the event comes from another node.
    pub(crate) is_relayed: bool,
}

impl Event {
    /// Returns whether a connection with this identity may receive the event.
    pub(crate) fn may_receive(&self, identity: &AuthIdentity, methods: &[Method]) -> bool {
        identity.scopes.allows(self.scope)
            && (identity.only().is_none()
                || self
                    .returned_by
                    .iter()
                    .any(|name| may_ask(identity, name, methods)))
    }
}

/// Returns whether `only` permits an identity to call this method.
fn may_ask(identity: &AuthIdentity, name: &str, methods: &[Method]) -> bool {
    let method = methods.iter().find(|method| method.name == name);
    method.map_or_else(
        || identity.may_call(name),
        |method| method.is_open_to(identity),
    )
}

/// Publishes events to all subscribers.
#[derive(Clone, Debug)]
pub struct EventBus(broadcast::Sender<Arc<Event>>);

impl Default for EventBus {
    fn default() -> Self {
        Self(broadcast::Sender::new(QUEUE))
    }
}

impl EventBus {
    /// Publishes an event to all current subscribers with the scope.
    pub fn publish(&self, name: &'static str, params: &impl Serialize, scope: Scope) {
        let kind = EVENTS.iter().find(|kind| kind.name == name);
        let returned_by = kind.map_or(&[][..], |kind| kind.returned_by);
        self.send(name, params, scope, returned_by);
    }

    fn publish_kind(&self, kind: &EventKind, params: &impl Serialize) {
        self.send(kind.name, params, kind.scope, kind.returned_by);
    }

    fn publish_records(&self, what: Records) {
        let (kind, params) = (&RECORDS_CHANGED, RecordsChangedParams { what });
        self.send(kind.name, &params, kind.scope, what.returned_by());
    }

    fn send(
        &self,
        name: &'static str,
        params: &impl Serialize,
        scope: Scope,
        returned_by: &'static [&'static str],
    ) {
        if self.has_listeners() {
            self.publish_event(Event {
                name,
                frame: notification(name, params),
                scope,
                returned_by,
                is_relayed: false,
            });
        }
    }

    fn has_listeners(&self) -> bool {
        self.0.receiver_count() > 0
    }

    fn publish_event(&self, event: Event) {
        // It is not an error if there are no listeners.
        drop(self.0.send(Arc::new(event)));
    }

    /// Subscribes to future events. A listener that falls [`QUEUE`] events behind receives an error.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests;
