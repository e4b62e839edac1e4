//! One endpoint as data. The router, the access checks and the OpenAPI document derive from the table of endpoints. A
//! test checks that the decision table covers every route.

use crate::routes::endpoint::Endpoint;
use gatehouse_domain::Scope;
use schemars::{Schema, SchemaGenerator};

/// An HTTP method in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// GET. The router also serves HEAD.
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// The scope that a route requires, beyond the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Any caller. The handler needs no identity, or authenticates the caller by the body's
    /// content.
    Public,
    /// Any identity that `check_auth()` allowed.
    Identity,
    /// An administrator, or a caller who is completing setup and has the setup code.
    AdminOrSetup,
    /// An identity with this scope that `check_auth()` allowed. Sessions have every scope.
    Scope(Scope),
}

/// Whether a route needs a recent confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepUp {
    /// No confirmation, or the handler decides depending on the request.
    No,
    Always,
    /// A confirmation, or a correct password in the request.
    OrPassword,
}

impl StepUp {
    pub(crate) const fn is_needed(self) -> bool {
        !matches!(self, Self::No)
    }
}

/// Returns the schema of a request or response type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One endpoint.
#[derive(Clone, Copy)]
pub struct Route {
    /// The operation ID in the OpenAPI document: the subject and the verb.
    pub id: &'static str,
    pub verb: Verb,
    /// The path, with parameters in braces.
    pub path: &'static str,
    pub access: Access,
    pub step_up: StepUp,
    /// Whether the body contains method calls. `only` of a credential then applies to each call.
    pub carries_calls: bool,
    /// Whether the body may contain the setup code.
    pub takes_setup_code: bool,
    /// A one-line description.
    pub summary: &'static str,
    /// The schema of the request body.
    pub body: Option<SchemaOf>,
    /// The media type of the request body.
    pub body_type: &'static str,
    /// The schema of the JSON response.
    pub answer: Option<SchemaOf>,
    /// The media type of the response; any type but JSON means bytes.
    pub answer_type: &'static str,
    pub(crate) handler: fn() -> Endpoint,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({:?})", self.verb.name(), self.path, self.access)
    }
}
