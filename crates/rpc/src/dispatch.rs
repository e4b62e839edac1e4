//! Runs a call: finds the method, checks the scope and the vault, runs the handler and records metrics.
//! WebSockets and `POST /api/rpc` share this code.

mod prepared;

use crate::envelope::{Id, Incoming, parse, refusal, utf8};
use crate::events::EventBus;
use crate::mcp_endpoint::running::RunningTools;
use crate::memory_budget::{ByteBudget, Holder, Limits, Share};
use crate::method_entry::{Boxed, Call, Method};
use crate::methods::METHODS;
use crate::order::Ticket;
use crate::reply::{Answers, Reply};
use crate::unauthenticated_sockets::UnauthenticatedSockets;
use gatehouse_auth::{AuthError, AuthIdentity, BeforeSetup, Decision, RequestContext};
use gatehouse_domain::{Problem, RequestId};
use gatehouse_services::Services;
use prepared::Caller;
pub(crate) use prepared::{Form, Prepared, order, prepare, refuse, weight};
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
    /// The number of calls that may run. Further calls are refused.
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

    /// Returns the counter of unauthenticated sockets.
    pub fn census(&self) -> &UnauthenticatedSockets {
        &self.census
    }

    /// Returns the memory budget for messages from and to callers.
    pub fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// Returns the calls through MCP that can be canceled.
    pub(crate) const fn running_tools(&self) -> &RunningTools {
        &self.running_tools
    }

    /// Calls that continue after their caller disconnected. Shutdown closes the tracker and waits for them.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Handles the body of `POST /api/rpc`. Returns `None` if it contained only notifications. An internal error in the
    /// response contains the request's ID. The params are read immediately, so `text` is not needed while the future
    /// runs.
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

    /// Runs the calls in order. The work continues even if the future is dropped, so a committed change is also
    /// applied. Only a method whose work is useless without its response stops when the caller disconnects. A message
    /// with a ticket waits for the preceding one.
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

/// Returns the error for an unauthenticated caller.
pub(crate) fn not_authenticated(context: &RequestContext) -> Problem {
    match context.decision {
        Decision::SetupRequired => AuthError::SetupRequired.into(),
        Decision::Allowed(_) | Decision::Unauthorized => AuthError::NotAuthenticated.into(),
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
