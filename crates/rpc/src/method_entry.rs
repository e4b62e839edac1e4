//! Defines a method: one entry of the method table. Dispatch, the scope check, the OpenRPC document and the
//! page's typed client all derive from it.

mod audit;

use crate::envelope::Outcome;
use crate::order::Order;
pub use audit::Audit;
use gatehouse_auth::{AuthIdentity, RequestContext, Subject};
use gatehouse_domain::{Actor, ErrorCode, Problem, Scope, input};
use gatehouse_services::Services;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A future that owns everything it needs.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One RPC method.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub name: &'static str,
    /// The description for the documentation.
    pub summary: &'static str,
    /// The scope that the caller needs; `None` requires only authentication.
    pub scope: Option<Scope>,
    /// Whether the method is refused while the vault is sealed.
    pub needs_open_vault: bool,
    /// Whether the params may be as long as a message, for texts and audio. Other methods accept at most
    /// [`MAX_PARAMS_BYTES`].
    pub long_params: bool,
    /// Whether the work stops when the caller disconnects. Such a method must not leave a change half done.
    pub ends_with_caller: bool,
    /// How calls on the same socket wait for each other.
    pub order: Order,
    /// What the audit log records about a successful call.
    pub audit: Audit,
    /// Errors of this method, in addition to the errors that every method has.
    pub errors: &'static [ErrorCode],
    /// The schema of the params, an object.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    pub result: fn(&mut SchemaGenerator) -> Schema,
    /// Reads the params immediately and returns the work as a future.
    pub handler: fn(Call, Option<&RawValue>) -> Boxed<Outcome>,
}

/// The maximum params size for methods without long texts or audio, in bytes. Every text that such params
/// may contain is far smaller.
pub const MAX_PARAMS_BYTES: usize = 2 * 1024 * 1024;
/// The maximum memory for one byte of JSON as a [`serde_json::Value`], in bytes. `0,` becomes a 32-byte value, and a
/// growing list doubles its capacity.
const BYTES_OF_A_VALUE: usize = 32;

impl Method {
    /// Returns whether the params are short enough for this method.
    pub(crate) fn takes(&self, params: Option<&RawValue>) -> bool {
        self.long_params || params.is_none_or(|raw| raw.get().len() <= MAX_PARAMS_BYTES)
    }

    /// Returns the maximum number of bytes that reading these params may allocate. Refused params
    /// are not read, so they allocate nothing.
    pub(crate) fn weight(&self, params: Option<&RawValue>) -> usize {
        let length = params.map_or(0, |raw| raw.get().len());
        match (self.long_params, self.takes(params)) {
            // These params contain only texts and numbers, and a text is no longer than its JSON.
            (true, _) => length,
            (false, true) => length.saturating_mul(BYTES_OF_A_VALUE),
            (false, false) => 0,
        }
    }

    /// Returns whether the scope of the method allows more than reading. Such a call is checked against the database
    /// before it runs.
    pub(crate) const fn can_change(&self) -> bool {
        !matches!(self.scope, None | Some(Scope::Read))
    }

    /// Returns whether `only` of a credential applies to the method. Methods that require only authentication are open
    /// to every credential, because clients call them first.
    const fn is_under_only(&self) -> bool {
        self.scope.is_some()
    }

    /// Returns whether `only` of the caller's credential permits the method.
    pub fn is_open_to(&self, identity: &AuthIdentity) -> bool {
        !self.is_under_only() || identity.may_call(self.name)
    }
}

/// A permitted call: the caller, and the services that the call may use.
#[derive(Clone, Debug)]
pub struct Call {
    pub services: Arc<Services>,
    /// Every method of this server.
    pub methods: &'static [Method],
    /// The origin of the call.
    pub context: Arc<RequestContext>,
    pub identity: AuthIdentity,
    /// Held until the next ordered message of the socket may start. `None` without a socket.
    pub turn: Option<Arc<DropGuard>>,
    /// Stops the agent's turn that the call waits for.
    pub cancel: CancellationToken,
}

impl Call {
    /// Lets the next ordered message of the socket start, before this call is answered.
    pub fn accepted(&mut self) {
        self.turn = None;
    }

    /// Returns the caller, for the audit log.
    pub fn actor(&self) -> Actor {
        self.context.actor()
    }

    /// Requires a recently confirmed session, a password or an API key. Methods use this if they reveal a secret or let
    /// the caller use one.
    pub async fn require_person(&self) -> Result<(), Problem> {
        match self.identity.subject {
            Subject::Session(_) | Subject::ApiKey(_) | Subject::SocketPassword { .. } => {
                self.services.auth.require_step_up(&self.identity).await
            }
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup | Subject::Device(_) => {
                Err(Problem::new(
                    ErrorCode::Forbidden,
                    "This requires an API key with operator.admin, or a session.",
                ))
            }
        }
    }
}

/// Params of a method without params.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// Result of a method that returns no data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    /// Always true.
    pub ok: bool,
}

pub const DONE: Done = Done { ok: true };

/// Parses params. Absent params count as the empty object.
pub fn read_params<P: DeserializeOwned>(params: Option<&RawValue>) -> Result<P, Problem> {
    input::from_slice(params.map_or("{}", RawValue::get).as_bytes()).map_err(|problem| {
        // The message was valid JSON, so the only other error is an invalid text, such as half a surrogate pair.
        match problem.code {
            ErrorCode::ParseError => Problem::invalid_params("", "not a valid string"),
            _ => problem,
        }
    })
}

/// Serializes a handler's result.
pub fn outcome_of<R: Serialize>(result: Result<R, Problem>) -> Outcome {
    to_raw_value(&result?).map_err(|error| {
        tracing::error!(%error, "a result could not be serialized");
        Problem::internal()
    })
}

/// Declares one entry of the table: name, summary, scope, then `handler(Params) -> Result`.
macro_rules! method {
    (
        $name:literal, $summary:literal, $scope:expr,
        $handler:ident($params:ty) -> $result:ty
        $(, open_vault: $open:literal)? $(, long_params: $long:literal)? $(, ends_with_caller: $ends:literal)?
        $(, order: $order:ident)? $(, errors: [$($error:ident),*])?
        $(, audit: $audit:expr)?
    ) => {
        $crate::method_entry::Method {
            name: $name,
            summary: $summary,
            scope: $scope,
            needs_open_vault: false $(|| $open)?,
            long_params: false $(|| $long)?,
            ends_with_caller: false $(|| $ends)?,
            order: $crate::method_entry::order_of!($($order)?),
            audit: $crate::method_entry::audit_of!($($audit)?),
            errors: &[$($(gatehouse_domain::ErrorCode::$error),*)?],
            params: |generator| <$params as schemars::JsonSchema>::json_schema(generator),
            result: |generator| generator.subschema_for::<$result>(),
            handler: |call, params| match $crate::method_entry::read_params::<$params>(params) {
                Ok(params) => Box::pin(async move {
                    $crate::method_entry::outcome_of::<$result>($handler(call, params).await)
                }),
                Err(problem) => Box::pin(std::future::ready(Err(problem))),
            },
        }
    };
}
pub(crate) use method;

/// Defaults to `Order::Free`.
macro_rules! order_of {
    () => {
        $crate::order::Order::Free
    };
    ($order:ident) => {
        $crate::order::Order::$order
    };
}
pub(crate) use order_of;

/// Defaults to `Audit::Reads`.
macro_rules! audit_of {
    () => {
        $crate::method_entry::Audit::Reads
    };
    ($audit:expr) => {
        $audit
    };
}
pub(crate) use audit_of;

#[cfg(test)]
mod tests;
