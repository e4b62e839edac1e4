//! An authenticated request: all facts about it after the check.

use crate::client_address::Client;
use crate::error::AuthError;
use crate::host::Authority;
use crate::identity::{AuthIdentity, Decision};
use crate::locality::Locality;
use crate::throttle::ThrottleClass;
use gatehouse_domain::{Actor, ErrorCode, Problem, Scope};
use gatehouse_store::StoreError;
use http::{HeaderMap, Method, Uri};
use std::net::IpAddr;

/// The facts about a request before authentication.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    pub method: &'a Method,
    /// The request target.
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
    /// The TCP source address.
    pub peer: IpAddr,
    /// Whether the request came over the server's own TLS.
    pub over_tls: bool,
}

/// Why a request could not be authenticated.
#[derive(Debug, thiserror::Error)]
pub enum RecogniseError {
    #[error("the request names two different hosts")]
    HostConflict,
    /// The database failed, so the request is refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RecogniseError> for Problem {
    fn from(error: RecogniseError) -> Self {
        match error {
            RecogniseError::HostConflict => Self::new(
                ErrorCode::InvalidRequest,
                "The request names two different hosts.",
            ),
            // Any database error is reported as unavailable storage, because the request is refused and a retry may
            // succeed.
            RecogniseError::Store(error) if error.is_unavailable() => error.into(),
            RecogniseError::Store(_) => StoreError::unavailable_problem(),
        }
    }
}

/// A request after authentication.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub locality: Locality,
    /// The client for rate limits.
    pub client: Client,
    /// Whether the browser used TLS.
    pub https: bool,
    /// The host of the request, if it is valid.
    pub host: Option<Authority<'static>>,
    /// The result of `check_auth()`.
    pub decision: Decision,
    /// Whether the request asks for a WebSocket or another protocol.
    pub is_upgrade: bool,
    /// The rate limit that applies.
    pub class: Option<ThrottleClass>,
}

impl RequestContext {
    /// Returns the caller's identity, or the error that there is none.
    pub fn identity(&self) -> Result<&AuthIdentity, AuthError> {
        match &self.decision {
            Decision::Allowed(identity) => Ok(identity),
            Decision::SetupRequired => Err(AuthError::SetupRequired),
            Decision::Unauthorized => Err(AuthError::NotAuthenticated),
        }
    }

    /// Returns the caller's identity, if it has the scope.
    pub fn require(&self, scope: Scope) -> Result<&AuthIdentity, AuthError> {
        let identity = self.identity()?;
        if identity.allows(scope) {
            Ok(identity)
        } else {
            Err(AuthError::ScopeMissing(scope))
        }
    }

    /// Returns the actor for audit rows and limits.
    pub fn actor(&self) -> Actor {
        let name = self.decision.identity().map(AuthIdentity::actor_name);
        Actor {
            name: name.unwrap_or_else(|| "anonymous".to_owned()),
            client_ip: Some(self.client.ip),
            client: self.client.key,
        }
    }

    /// Returns the actor with a verified address, for network rules. The address cannot be forged by the client.
    pub fn vouched_actor(&self) -> Actor {
        Actor {
            client_ip: Some(self.client.vouched_ip),
            ..self.actor()
        }
    }

    /// Returns the key for counting wrong passwords: the credential, or the client if there is none.
    pub(crate) fn credential_id(&self) -> String {
        use crate::identity::Subject;
        match self.decision.identity().map(|identity| &identity.subject) {
            Some(Subject::Session(session)) => session.id().as_str().to_owned(),
            Some(Subject::ApiKey(key)) => key.id().as_str().to_owned(),
            Some(Subject::Device(presence)) => presence.device().id().as_str().to_owned(),
            _ => format!("client {}", self.client.key),
        }
    }
}

/// The caller of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    pub context: &'a RequestContext,
    /// The browser's User-Agent header.
    pub user_agent: Option<&'a str>,
}

/// The result of an operation: a body and Set-Cookie values.
pub struct Outcome<T> {
    pub body: T,
    /// Values of Set-Cookie headers. They are secrets.
    pub cookies: Vec<String>,
}

impl<T> Outcome<T> {
    /// Returns whether the response deletes the browser's session cookie.
    pub fn ends_browser_session(&self) -> bool {
        let forgets = |line: &String| line.starts_with("service_session=;");
        self.cookies.iter().any(forgets)
    }

    pub(crate) const fn plain(body: T) -> Self {
        Self {
            body,
            cookies: Vec::new(),
        }
    }
}
