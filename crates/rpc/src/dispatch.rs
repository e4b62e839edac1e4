//! Runs a call: finds the method, checks the scope and the vault, runs the handler and records metrics.
//! WebSockets and `POST /api/rpc` share this code.

use crate::audited::Note;
use crate::envelope::{Id, Incoming, Item, NO_METHOD, Outcome, parse, refusal, utf8};
use crate::events::EventBus;
use crate::mcp_endpoint::running::RunningTools;
use crate::memory_budget::{ByteBudget, Holder, Limits, Share};
use crate::method_entry::{Boxed, Call, MAX_PARAMS_BYTES, Method};
use crate::methods::METHODS;
use crate::order::{Order, Ticket};
use crate::reply::{Answers, Reply};
use crate::unauthenticated_sockets::UnauthenticatedSockets;
use gatehouse_auth::{AuthError, AuthIdentity, BeforeSetup, Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem, RequestId};
use gatehouse_secrets::Status;
use gatehouse_services::{Services, to_problem};
use gatehouse_store::Guard;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The entry point for calls. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rpc {
    services: Arc<Services>,
    events: EventBus,
    census: UnauthenticatedSockets,
    budget: ByteBudget,
    tasks: TaskTracker,
    running_tools: RunningTools,
}

/// The facts about a message's calls that are available before they run.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Number of calls that may run. The others are refused.
    pub calls: usize,
    /// The memory charged for the params until all calls are done.
    pub held: Share,
    /// The request ID for the log, if the transport has one.
    pub request_id: Option<RequestId>,
    /// The message's position among the ordered messages of its socket.
    pub ticket: Option<Ticket>,
}

impl Rpc {
    pub fn new(services: Arc<Services>) -> Self {
        let limits = Limits::for_messages(services.config.max_message_bytes());
        Self {
            services,
            events: EventBus::default(),
            census: UnauthenticatedSockets::default(),
            budget: ByteBudget::new(limits),
            tasks: TaskTracker::new(),
            running_tools: RunningTools::default(),
        }
    }

    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Publishes events to the connections.
    pub const fn events(&self) -> &EventBus {
        &self.events
    }

    /// The counter of unauthenticated sockets.
    pub fn census(&self) -> &UnauthenticatedSockets {
        &self.census
    }

    /// The memory budget for messages from and to callers.
    pub fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// The calls through MCP that can be canceled.
    pub(crate) const fn running_tools(&self) -> &RunningTools {
        &self.running_tools
    }

    /// Calls that continue after their caller disconnected. Shutdown closes the tracker and waits for them.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Handles the body of `POST /api/rpc`. Returns `None` when it contained only notifications. An internal
    /// error in the response carries the request's ID. The params are read immediately, so `text` is not
    /// needed while the future runs.
    pub fn call_text(
        &self,
        context: &RequestContext,
        text: &[u8],
        request_id: Option<RequestId>,
    ) -> Boxed<Option<Reply>> {
        match self.admit_text(context, text, request_id) {
            Ok(work) => work,
            Err(problem) => {
                let answer = Reply::from(refusal(&Id::null(), &problem));
                Box::pin(std::future::ready(Some(answer)))
            }
        }
    }

    fn admit_text(
        &self,
        context: &RequestContext,
        text: &[u8],
        request_id: Option<RequestId>,
    ) -> Result<Boxed<Option<Reply>>, Problem> {
        let Decision::Allowed(identity) = &context.decision else {
            return Err(not_authenticated(context));
        };
        let incoming = parse(utf8(text)?)?;
        let mut held = self.budget.share(Holder::of(context));
        if !held.grow(weight(&incoming)) {
            return Err(Problem::rate_limited(1000));
        }
        let admitted = Admitted {
            calls: incoming.len(),
            held,
            request_id,
            ticket: None,
        };
        let context = Arc::new(context.clone());
        Ok(self.run(&context, identity, incoming, admitted))
    }

    /// Reads the params of all calls immediately, and runs them as [`Rpc::run_prepared`] does.
    pub(crate) fn run(
        &self,
        context: &Arc<RequestContext>,
        identity: &AuthIdentity,
        incoming: Incoming<'_>,
        admitted: Admitted,
    ) -> Boxed<Option<Reply>> {
        let (items, listed) = incoming.into_items();
        let ticket = admitted.ticket.as_ref();
        let mut prepared = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            let call = Call {
                services: Arc::clone(&self.services),
                methods: METHODS,
                context: Arc::clone(context),
                identity: identity.clone(),
                turn: ticket.map(|ticket| Arc::clone(&ticket.accepted)),
                cancel: CancellationToken::new(),
            };
            prepared.push(prepare(call, item, place < admitted.calls));
        }
        self.run_prepared(identity, prepared, listed, admitted)
    }

    /// Runs the calls in order. The future finishes even when it is dropped, so a committed change is also applied.
    /// Only a method whose work is useless without its response stops when the caller disconnects. A message with a
    /// ticket waits for the previous one.
    pub(crate) fn run_prepared(
        &self,
        identity: &AuthIdentity,
        prepared: Vec<Prepared>,
        listed: bool,
        admitted: Admitted,
    ) -> Boxed<Option<Reply>> {
        let tasks = self.tasks.clone();
        let max_bytes = self.services.config.max_message_bytes();
        let Admitted {
            held,
            request_id,
            ticket,
            ..
        } = admitted;
        let turn = ticket.map(Ticket::into_turn);
        let mut answers = Answers::new(held.sibling(), listed, max_bytes);
        let caller = Caller {
            services: Arc::clone(&self.services),
            identity: identity.clone(),
            guard: self.services.auth.guard(identity, BeforeSetup::AsSet),
            request_id,
        };
        let gone = CancellationToken::new();
        let waits = gone.clone().drop_guard();
        Box::pin(async move {
            let _waits = waits;
            let work = async move {
                if let Some(turn) = turn {
                    turn.await;
                }
                for step in prepared {
                    if let Some(problem) = answers.stop() {
                        let refused = Err(problem.clone());
                        step.id.iter().for_each(|id| answers.push(id, &refused));
                        continue;
                    }
                    if let Some((id, outcome)) = step.finish(&caller, &gone).await {
                        answers.push(&id, &outcome);
                    }
                }
                drop(held);
                answers.finish()
            };
            match tasks.spawn(work).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::error!(%error, "a call did not complete");
                    Some(refusal(&Id::null(), &Problem::internal()).into())
                }
            }
        })
    }
}

/// The error for an unauthenticated caller.
pub(crate) fn not_authenticated(context: &RequestContext) -> Problem {
    match context.decision {
        Decision::SetupRequired => AuthError::SetupRequired.into(),
        Decision::Allowed(_) | Decision::Unauthorized => AuthError::NotAuthenticated.into(),
    }
}

/// A call whose params have been read, or that has already been refused.
pub(crate) struct Prepared {
    /// `None` for a notification.
    id: Option<Id>,
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

/// The sender of a message, for the calls in it.
struct Caller {
    services: Arc<Services>,
    identity: AuthIdentity,
    guard: Guard,
    request_id: Option<RequestId>,
}

impl Caller {
    /// Fails when the credential has ended since the message was accepted, for example while the body was
    /// arriving or because of an earlier call in the batch.
    async fn require_live(&self, can_change: bool) -> Result<(), Problem> {
        let auth = &self.services.auth;
        auth.require_live(&self.identity).await?;
        if can_change {
            auth.require_setup_first(&self.identity)?;
            // This node's memory may not reflect a change by another node yet.
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
    /// A message that calls no method.
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

    /// Converts the outcome, however the call ends.
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
    // A client waits for the response to `connect`, even without an ID.
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

/// The order of a message: the strictest of its calls.
pub(crate) fn order(incoming: &Incoming<'_>) -> Order {
    let of = |item: &Item<'_>| Some(method_of(item)?.order);
    let orders = incoming.items().iter().filter_map(of);
    orders.max().unwrap_or(Order::Free)
}

fn method_of(item: &Item<'_>) -> Option<&'static Method> {
    let request = item.as_ref().ok()?;
    METHODS.iter().find(|method| method.name == request.method)
}

/// The bytes that reading the params of these calls may allocate.
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

/// Checks `only` and the scope of the caller.
pub(crate) fn require_permission(method: &Method, call: &Call) -> Result<(), Problem> {
    if !method.is_open_to(&call.identity) {
        return Err(AuthError::OutsideOnly.into());
    }
    method.scope.map_or(Ok(()), |scope| {
        call.services.auth.require_scope(&call.identity, scope)
    })
}

fn let_in(method: &Method, call: &Call) -> Result<(), Problem> {
    require_permission(method, call)?;
    if method.needs_open_vault && call.services.secrets.status() == Status::Sealed {
        return Err(Problem::vault_sealed());
    }
    Ok(())
}

impl Prepared {
    async fn finish(self, caller: &Caller, gone: &CancellationToken) -> Option<(Id, Outcome)> {
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
