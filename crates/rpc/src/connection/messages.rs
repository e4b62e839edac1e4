//! The messages of a connection: the first one must be `connect`; later ones are calls.

use super::io::Ending;
use super::{Connection, Finished, MAX_CALLS, Output, State};
use crate::dispatch::{Admitted, not_authenticated, order, weight};
use crate::envelope::{Id, Incoming, answer, batch_answer, parse, refusal};
use crate::memory_budget::Share;
use crate::method_entry::{outcome_of, read_params};
use crate::methods::METHODS;
use crate::methods::connect::{ConnectParams, hello};
use gatehouse_auth::{AuthIdentity, Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem};
use std::sync::Arc;

/// The maximum number of messages queued while `connect` is being checked.
const MAX_QUEUED: usize = 64;

impl Connection {
    pub(super) fn text(&mut self, text: String, held: Option<Share>, out: &mut Vec<Output>) {
        if text.len() > self.max_message_bytes() {
            return self.oversized(out);
        }
        match &self.state {
            State::Waiting { .. } => self.first_message(&text, out),
            State::Connecting if self.queued.len() >= MAX_QUEUED => {
                let problem = Problem::rate_limited(1000);
                self.refuse(
                    out,
                    &Id::null(),
                    &problem,
                    "too many messages before connect",
                );
            }
            State::Connecting => self.queued.push_back((text, held)),
            State::Ready(identity) => {
                let identity = identity.clone();
                self.calls(&identity, &text, out);
                // The params have been read and are charged separately.
                drop((text, held));
            }
            State::Closed => {}
        }
    }

    /// Processes the first message, which must authenticate the client.
    fn first_message(&mut self, text: &str, out: &mut Vec<Output>) {
        let not_connect = "The first message must be a single `connect`.";
        let item = match parse(text) {
            Ok(Incoming::Single(item)) => item,
            Ok(Incoming::Batch(_)) => {
                let problem = Problem::new(ErrorCode::InvalidRequest, not_connect);
                return self.refuse(out, &Id::null(), &problem, "malformed message");
            }
            Err(problem) => return self.refuse(out, &Id::null(), &problem, "malformed message"),
        };
        let request = match item {
            Ok(request) => request,
            Err(bad) => return self.refuse(out, &bad.id, &bad.problem, "malformed message"),
        };
        let id = request.id.unwrap_or_else(Id::null);
        if request.method != "connect" {
            let problem = not_authenticated(&self.context);
            return self.refuse(out, &id, &problem, "not authenticated");
        }
        let params = match read_params::<ConnectParams>(request.params) {
            Ok(params) => params,
            Err(problem) => return self.refuse(out, &id, &problem, "malformed connect"),
        };
        let Some(auth) = params.into_auth() else {
            let problem = not_authenticated(&self.context);
            return self.refuse(out, &id, &problem, "not authenticated");
        };
        self.state = State::Connecting;
        let (services, context) = (Arc::clone(self.rpc.services()), Arc::clone(&self.context));
        out.push(Output::Call(Box::pin(async move {
            Finished(Ending::Connect(
                id,
                services.auth.socket_login(&context, auth).await,
            ))
        })));
    }

    pub(super) fn finished(&mut self, Finished(ending): Finished, out: &mut Vec<Output>) {
        match ending {
            Ending::Calls {
                answer,
                calls,
                bytes,
                next,
            } => {
                self.calls = self.calls.saturating_sub(calls);
                self.bytes = self.bytes.saturating_sub(bytes);
                out.extend(answer.map(Output::Send));
                out.extend(next.map(Output::Answered));
            }
            Ending::Connect(id, Err(problem)) => self.refuse(out, &id, &problem, "refused"),
            Ending::Connect(id, Ok(identity)) => self.welcome(&id, &identity, out),
        }
    }

    fn welcome(&mut self, id: &Id, identity: &AuthIdentity, out: &mut Vec<Output>) {
        let mut context = RequestContext::clone(&self.context);
        context.decision = Decision::Allowed(identity.clone());
        self.context = Arc::new(context);
        self.place = None;
        self.state = State::Ready(identity.clone());
        if self.credential_ended() {
            // The credential ended while it was being checked.
            let problem = not_authenticated(&self.context);
            return self.refuse(out, id, &problem, "credential ended");
        }
        let hello = answer(
            id,
            &outcome_of(Ok(hello(self.rpc.services(), METHODS, identity))),
        );
        out.push(Output::Send(hello.into()));
        while let Some((text, held)) = self.queued.pop_front() {
            self.text(text, held, out);
        }
    }

    fn calls(&mut self, identity: &AuthIdentity, text: &str, out: &mut Vec<Output>) {
        let incoming = match parse(text) {
            Ok(incoming) => incoming,
            Err(problem) => return out.push(Output::Send(refusal(&Id::null(), &problem).into())),
        };
        let bytes = text.len();
        let fits = self.bytes.saturating_add(bytes) <= self.max_message_bytes().saturating_mul(2);
        let mut held = self.rpc.budget().share(self.holder());
        let free = MAX_CALLS.saturating_sub(self.calls);
        let admitted = incoming.len().min(free);
        if admitted == 0 || !fits || !held.grow(weight(&incoming)) {
            out.extend(too_many(incoming).map(|answer| Output::Send(answer.into())));
            return;
        }
        self.calls += admitted;
        self.bytes += bytes;
        let (ticket, next) = self.line.join(order(&incoming)).unzip();
        let admission = Admitted {
            calls: admitted,
            held,
            request_id: None,
            ticket,
        };
        let work = self.rpc.run(&self.context, identity, incoming, admission);
        out.push(Output::Call(Box::pin(async move {
            Finished(Ending::Calls {
                answer: work.await,
                calls: admitted,
                bytes,
                next,
            })
        })));
    }
}

/// Returns the response to a message of which no call can run now.
fn too_many(incoming: Incoming<'_>) -> Option<String> {
    let (items, listed) = incoming.into_items();
    let problem = Problem::rate_limited(1000);
    let mut answers: Vec<String> = items
        .into_iter()
        .filter_map(|item| match item {
            Ok(request) => request.id.map(|id| refusal(&id, &problem)),
            Err(bad) => Some(refusal(&bad.id, &bad.problem)),
        })
        .collect();
    if listed {
        batch_answer(&answers)
    } else {
        answers.pop()
    }
}
