//! A request as far as the gate is concerned: what is known of it after it was recognised once.

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

/// What the server knows of a request before it is recognised.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its target.
    pub uri: &'a Uri,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// The TCP source address.
    pub peer: IpAddr,
    /// It came over our own TLS.
    pub over_tls: bool,
}

/// A request could not be recognised.
#[derive(Debug, thiserror::Error)]
pub enum RecogniseError {
    /// It names two hosts.
    #[error("the request names two hosts")]
    HostConflict,
    /// The database failed: the gate stays shut.
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
            // Whatever the database said: shut, and worth another try.
            RecogniseError::Store(error) if error.is_unavailable() => error.into(),
            RecogniseError::Store(_) => Self::new(
                ErrorCode::StorageUnavailable,
                "The database cannot be used right now; nothing was changed.",
            ),
        }
    }
}

/// A request that was recognised.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Where it comes from.
    pub locality: Locality,
    /// Who it counts against.
    pub client: Client,
    /// The browser spoke TLS.
    pub https: bool,
    /// The host it named, where that can be read.
    pub host: Option<Authority<'static>>,
    /// What `check_auth()` decided.
    pub decision: Decision,
    /// Its limit.
    pub class: Option<ThrottleClass>,
}

impl Visit {
    /// Who is asking.
    pub fn identity(&self) -> Result<&AuthIdentity, AuthError> {
        match &self.decision {
            Decision::Allowed(identity) => Ok(identity),
            Decision::SetupRequired => Err(AuthError::SetupRequired),
            Decision::Unauthorized => Err(AuthError::NotAuthenticated),
        }
    }

    /// Who is asking, when they hold the scope.
    pub fn require(&self, scope: Scope) -> Result<&AuthIdentity, AuthError> {
        let identity = self.identity()?;
        if identity.allows(scope) {
            Ok(identity)
        } else {
            Err(AuthError::ScopeMissing(scope))
        }
    }

    /// Who is asking, for audit rows and limits.
    pub fn actor(&self) -> Actor {
        let name = self.decision.identity().map(AuthIdentity::actor_name);
        Actor {
            name: name.unwrap_or_else(|| "anonymous".to_owned()),
            client_ip: Some(self.client.ip),
            client: self.client.key,
        }
    }

    /// The same, where its address decides: a rule about networks looks at no address that the client
    /// may have written itself.
    pub fn vouched_actor(&self) -> Actor {
        Actor {
            client_ip: Some(self.client.vouched_ip),
            ..self.actor()
        }
    }

    /// What wrong passwords count by: the credential, or the client where there is none.
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

/// Who calls an operation.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The request.
    pub visit: &'a Visit,
    /// What the browser calls itself.
    pub user_agent: Option<&'a str>,
}

/// What an operation answers: a body, and Set-Cookie values.
pub struct Outcome<T> {
    /// The body.
    pub body: T,
    /// Values of Set-Cookie headers; secrets.
    pub cookies: Vec<String>,
}

impl<T> Outcome<T> {
    /// Whether the browser that asked has no session any more.
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
