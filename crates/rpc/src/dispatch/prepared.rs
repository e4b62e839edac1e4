//! A call of a message. Its params are read immediately; its work runs later.

use super::require_permission;
use crate::audited::Note;
use crate::envelope::{Id, Incoming, Item, NO_METHOD, Outcome};
use crate::method_entry::{Boxed, Call, MAX_PARAMS_BYTES, Method};
use crate::methods::METHODS;
use crate::order::Order;
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::{ErrorCode, Problem, RequestId};
use gatehouse_secrets::Status;
use gatehouse_services::{Services, to_problem};
use gatehouse_store::Guard;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A call whose params have been read, or that has already been refused.
pub(crate) struct Prepared {
    /// `None` for a notification.
    pub(super) id: Option<Id>,
    /// The label for the metrics.
    method: &'static str,
    ends_with_caller: bool,
    can_change: bool,
    work: Boxed<Outcome>,
    /// Converts the outcome to the form of another protocol.
    form: Option<Form>,
}

/// Converts the outcome of a call.
pub(crate) type Form = fn(Outcome) -> Outcome;

/// The sender of a message, used by the calls in it.
pub(super) struct Caller {
    pub(super) services: Arc<Services>,
    pub(super) identity: AuthIdentity,
    pub(super) guard: Guard,
    pub(super) request_id: Option<RequestId>,
}

impl Caller {
    /// Fails if the credential has ended after the message was accepted, for example while the body arrived or because
    /// of an earlier call in the batch.
    async fn require_live(&self, can_change: bool) -> Result<(), Problem> {
        let auth = &self.services.auth;
        auth.require_live(&self.identity).await?;
        if can_change {
            auth.require_setup_first(&self.identity)?;
            // This node's memory may not contain a change by another node yet.
            self.services
                .store
                .check_guard()
                .await
                .map_err(to_problem)?;
        }
        Ok(())
    }
}

impl Prepared {
    /// Creates a call for a message that calls no method.
    pub(crate) fn other(id: Id, work: Boxed<Outcome>) -> Self {
        Self {
            id: Some(id),
            method: "other",
            ends_with_caller: false,
            can_change: false,
            work,
            form: None,
        }
    }

    pub(crate) fn refused(id: Id, problem: Problem) -> Self {
        Self::other(id, refuse(problem))
    }

    /// Drops `kept` when the call has ended.
    pub(crate) fn keeping(self, kept: impl Send + 'static) -> Self {
        let work = self.work;
        let work = Box::pin(async move {
            let outcome = work.await;
            drop(kept);
            outcome
        });
        Self { work, ..self }
    }

    /// Converts the outcome. Applies to every end of the call.
    pub(crate) fn in_form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }
}

pub(crate) fn refuse(problem: Problem) -> Boxed<Outcome> {
    Box::pin(std::future::ready(Err(problem)))
}

pub(crate) fn prepare(call: Call, item: Item<'_>, admitted: bool) -> Prepared {
    let request = match item {
        Ok(request) => request,
        Err(bad) => return Prepared::refused(bad.id, bad.problem),
    };
    let found = METHODS.iter().find(|method| method.name == request.method);
    let method = found.map_or("other", |method| method.name);
    // A client waits for the response to `connect` even if it sent no ID.
    let id = request.id.or_else(|| (method == "connect").then(Id::null));
    let work = match found {
        _ if !admitted => refuse(Problem::rate_limited(1000)),
        None => refuse(Problem::new(ErrorCode::MethodNotFound, NO_METHOD)),
        Some(method) => match let_in(method, &call) {
            Ok(()) if !method.takes(request.params) => refuse(too_long()),
            Ok(()) => start(method, call, request.params),
            Err(problem) => refuse(problem),
        },
    };
    Prepared {
        id,
        method,
        ends_with_caller: found.is_some_and(|method| method.ends_with_caller),
        can_change: found.is_some_and(Method::can_change),
        work,
        form: None,
    }
}

/// Returns the order of a message: the strictest of its calls.
pub(crate) fn order(incoming: &Incoming<'_>) -> Order {
    let of = |item: &Item<'_>| Some(method_of(item)?.order);
    let orders = incoming.items().iter().filter_map(of);
    orders.max().unwrap_or(Order::Free)
}

fn method_of(item: &Item<'_>) -> Option<&'static Method> {
    let request = item.as_ref().ok()?;
    METHODS.iter().find(|method| method.name == request.method)
}

/// Returns the bytes that reading the params of these calls may allocate.
pub(crate) fn weight(incoming: &Incoming<'_>) -> usize {
    let of = |item: &Item<'_>| {
        let request = item.as_ref().ok()?;
        Some(method_of(item)?.weight(request.params))
    };
    incoming
        .items()
        .iter()
        .filter_map(of)
        .fold(0, usize::saturating_add)
}

fn too_long() -> Problem {
    Problem::too_large("value of `params`", MAX_PARAMS_BYTES)
}

fn start(method: &Method, call: Call, params: Option<&RawValue>) -> Boxed<Outcome> {
    let note = Note::of(method, &call, params);
    let work = (method.handler)(call, params);
    match note {
        None => work,
        Some(note) => Box::pin(note.over(work)),
    }
}

fn let_in(method: &Method, call: &Call) -> Result<(), Problem> {
    require_permission(method, call)?;
    if method.needs_open_vault && call.services.secrets.status() == Status::Sealed {
        return Err(Problem::vault_sealed());
    }
    Ok(())
}

impl Prepared {
    pub(super) async fn finish(
        self,
        caller: &Caller,
        gone: &CancellationToken,
    ) -> Option<(Id, Outcome)> {
        let services = &caller.services;
        let began = services.clock.monotonic_ms();
        let (work, can_change) = (self.work, self.can_change);
        let guarded = caller.guard.clone().over(async move {
            caller.require_live(can_change).await?;
            work.await
        });
        let outcome = if self.ends_with_caller {
            gone.run_until_cancelled(guarded).await?
        } else {
            guarded.await
        };
        let outcome = outcome
            .map_err(|problem| with_request_id(problem, services, caller.request_id.as_ref()));
        let took = services.clock.monotonic_ms().saturating_sub(began);
        count(self.method, &outcome, took);
        let outcome = match self.form {
            Some(form) => form(outcome),
            None => outcome,
        };
        Some((self.id?, outcome))
    }
}

fn with_request_id(problem: Problem, services: &Services, known: Option<&RequestId>) -> Problem {
    if problem.code.http_status() < 500 || problem.details.contains_key("request_id") {
        return problem;
    }
    let id = known
        .cloned()
        .unwrap_or_else(|| RequestId::generate(&*services.clock, &*services.random));
    tracing::warn!(request_id = %id, code = problem.code.name(), "a call failed");
    problem.with("request_id", id.as_str())
}

#[expect(clippy::cast_precision_loss, reason = "a duration in a histogram")]
fn count(method: &'static str, outcome: &Outcome, took_ms: u64) {
    let outcome = outcome
        .as_ref()
        .map_or_else(|problem| problem.code.name(), |_| "ok");
    metrics::counter!("rpc_calls_total", "method" => method, "outcome" => outcome).increment(1);
    metrics::histogram!("rpc_call_duration_seconds", "method" => method)
        .record(took_ms as f64 / 1000.0);
}
