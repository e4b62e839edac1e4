//! The identity of an authenticated request. Only `check_auth()` and the socket login create one.

use crate::devices::live::DevicePresence;
use crate::live_credential::{LiveKey, LiveSession};
use crate::only::Only;
use gatehouse_domain::{Scope, ScopeSet, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The actor name of remote callers while auth is disabled.
pub const STRANGER: &str = "remote (auth disabled)";

/// How a caller was authenticated. The three names are from the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AuthMethod {
    /// Admitted because the connection is local, or because auth is disabled.
    Loopback,
    /// By a session, regardless of its login method, or by the password on a socket.
    Password,
    /// By an API key, or by a paired device's token on a socket.
    ApiKey,
}

impl AuthMethod {
    /// Returns the name in API responses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "Loopback",
            Self::Password => "Password",
            Self::ApiKey => "ApiKey",
        }
    }
}

/// An admitted caller.
#[derive(Clone, Debug)]
pub struct AuthIdentity {
    pub method: AuthMethod,
    pub scopes: ScopeSet,
    pub subject: Subject,
}

/// The credential behind an identity. The numbers are the rows of the decision table of `check_auth()`.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Row 1: auth is disabled.
    LoopbackDisabled {
        /// Whether the connection is local. A later change of settings may limit row 1 to local
        /// connections.
        is_local: bool,
    },
    /// Row 2: setup is not complete and the connection is local.
    LoopbackSetup,
    /// Row 4: a valid session.
    Session(Arc<LiveSession>),
    /// Row 5: a valid API key.
    ApiKey(Arc<LiveKey>),
    /// Row 5, on a socket: a paired device.
    Device(Arc<DevicePresence>),
    /// A socket that sent the password. Ends when the password changes.
    SocketPassword {
        /// The SHA-256 of the stored hash of that password.
        mark: [u8; 32],
        /// When the password was sent.
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

    /// Returns whether the identity has this scope.
    pub const fn allows(&self, scope: Scope) -> bool {
        self.scopes.allows(scope)
    }

    /// Returns the methods and paths that the identity may call; `None` if only its scopes limit it.
    pub fn only(&self) -> Option<&Only> {
        match &self.subject {
            Subject::ApiKey(key) => key.only(),
            Subject::Device(presence) => presence.device().only(),
            _ => None,
        }
    }

    /// Returns whether `only` permits this method, or this path of the route table.
    pub fn may_call(&self, name: &str) -> bool {
        self.only().is_none_or(|only| only.allows(name))
    }

    /// Returns the session, if the identity has one.
    pub(crate) fn as_session(&self) -> Option<&Arc<LiveSession>> {
        match &self.subject {
            Subject::Session(session) => Some(session),
            _ => None,
        }
    }

    /// Returns whether this is a remote caller admitted because auth is disabled.
    pub const fn is_unauthenticated_remote(&self) -> bool {
        matches!(self.subject, Subject::LoopbackDisabled { is_local: false })
    }

    /// Returns the name in audit rows and logs, which is an ID and never a secret.
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

/// The result of `check_auth()`.
#[derive(Clone, Debug)]
pub enum Decision {
    Allowed(AuthIdentity),
    /// Row 3 of the decision table: setup is not complete.
    SetupRequired,
    /// Row 6 of the decision table: no valid credential.
    Unauthorized,
}

impl Decision {
    /// Returns the identity, if the caller was admitted.
    pub const fn identity(&self) -> Option<&AuthIdentity> {
        match self {
            Self::Allowed(identity) => Some(identity),
            Self::SetupRequired | Self::Unauthorized => None,
        }
    }
}
