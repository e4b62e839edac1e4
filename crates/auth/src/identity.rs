//! Who a request was recognised as. Only `check_auth()` and the socket's login make these.

use crate::devices::DevicePresence;
use crate::live::{LiveKey, LiveSession};
use crate::only::Only;
use gatehouse_domain::{Scope, ScopeSet, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The actor of what is done from elsewhere while auth is disabled.
pub const STRANGER: &str = "remote (auth disabled)";

/// How somebody was recognised; the three names of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AuthMethod {
    /// Let in by where the request comes from, or because auth is disabled.
    Loopback,
    /// By a session, whichever way its login went, or by the password on a socket.
    Password,
    /// By an API key, or by a paired device's token on a socket.
    ApiKey,
}

impl AuthMethod {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "Loopback",
            Self::Password => "Password",
            Self::ApiKey => "ApiKey",
        }
    }
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub struct AuthIdentity {
    /// How.
    pub method: AuthMethod,
    /// What they may do.
    pub scopes: ScopeSet,
    /// By which credential.
    pub subject: Subject,
}

/// The credential behind an identity.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Row 1: auth is disabled.
    LoopbackDisabled {
        /// Whether the connection is local: row 1 may be narrowed to those later.
        is_local: bool,
    },
    /// Row 2: setup is not complete and the connection is local.
    LoopbackSetup,
    /// Row 4.
    Session(Arc<LiveSession>),
    /// Row 5.
    ApiKey(Arc<LiveKey>),
    /// Row 5, on a socket: a paired device.
    Device(Arc<DevicePresence>),
    /// A socket that sent the password; it ends when the password changes.
    SocketPassword {
        /// The SHA-256 of the stored hash of that password.
        mark: [u8; 32],
        /// When it was sent.
        since: Timestamp,
    },
}

impl AuthIdentity {
    pub(crate) fn loopback(subject: Subject) -> Self {
        Self {
            method: AuthMethod::Loopback,
            scopes: ScopeSet::all(),
            subject,
        }
    }

    pub(crate) fn session(session: Arc<LiveSession>) -> Self {
        Self {
            method: AuthMethod::Password,
            scopes: ScopeSet::all(),
            subject: Subject::Session(session),
        }
    }

    pub(crate) fn api_key(key: Arc<LiveKey>) -> Self {
        Self {
            method: AuthMethod::ApiKey,
            scopes: key.scopes(),
            subject: Subject::ApiKey(key),
        }
    }

    pub(crate) fn device(presence: DevicePresence) -> Self {
        Self {
            method: AuthMethod::ApiKey,
            scopes: presence.device().scopes(),
            subject: Subject::Device(Arc::new(presence)),
        }
    }

    pub(crate) fn socket_password(mark: [u8; 32], since: Timestamp) -> Self {
        Self {
            method: AuthMethod::Password,
            scopes: ScopeSet::all(),
            subject: Subject::SocketPassword { mark, since },
        }
    }

    /// Whether it may do what needs this scope.
    pub const fn allows(&self, scope: Scope) -> bool {
        self.scopes.allows(scope)
    }

    /// The methods and paths that it may call; `None` is all that its scopes allow.
    pub fn only(&self) -> Option<&Only> {
        match &self.subject {
            Subject::ApiKey(key) => key.only(),
            Subject::Device(presence) => presence.device().only(),
            _ => None,
        }
    }

    /// Whether `only` lets it call this method, or this path of the route table.
    pub fn may_call(&self, name: &str) -> bool {
        self.only().is_none_or(|only| only.allows(name))
    }

    /// The session, where it is one.
    pub(crate) fn as_session(&self) -> Option<&Arc<LiveSession>> {
        match &self.subject {
            Subject::Session(session) => Some(session),
            _ => None,
        }
    }

    /// Whether this is anybody from elsewhere, let in because auth is disabled.
    pub const fn is_stranger(&self) -> bool {
        matches!(self.subject, Subject::LoopbackDisabled { is_local: false })
    }

    /// The name in audit rows and logs: an id, never a secret.
    pub fn actor_name(&self) -> String {
        match &self.subject {
            Subject::LoopbackDisabled { is_local: false } => STRANGER.to_owned(),
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup => "loopback".to_owned(),
            Subject::Session(session) => format!("session {}", session.id()),
            Subject::ApiKey(key) => format!("api_key {}", key.id()),
            Subject::Device(presence) => format!("device {}", presence.device().id()),
            Subject::SocketPassword { .. } => "password".to_owned(),
        }
    }
}

/// What `check_auth()` decided.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Let in.
    Allowed(AuthIdentity),
    /// Row 3.
    SetupRequired,
    /// Row 6.
    Unauthorized,
}

impl Decision {
    /// The identity, where there is one.
    pub const fn identity(&self) -> Option<&AuthIdentity> {
        match self {
            Self::Allowed(identity) => Some(identity),
            Self::SetupRequired | Self::Unauthorized => None,
        }
    }
}
