//! Calls to a model without an agent. The caller supplies the whole conversation and the tools, and runs the tool calls
//! itself. Budgets apply and the usage is stored, as in turns.

pub(crate) mod running;

use crate::budget_values::Exhausted;
use crate::budgets::find_exhausted;
use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::line::is_line;
use crate::one_off::{AnswerPiece, AnswerStream};
use crate::start::MAX_MODEL_CHARACTERS;
use crate::tokens::{tokens_beside, tokens_in, tokens_of};
use crate::usage::{Cause, Used, count};
use futures_util::stream::{self, BoxStream, StreamExt};
use gatehouse_domain::trace::{self, ActiveSpan, SpanKind};
use gatehouse_domain::{Actor, Problem, UtcDay};
use gatehouse_models::{
    CallProgress, ChatRequest, Chunk, ModelError, ModelRef, ProviderKind, Reason, Usage,
};
use gatehouse_store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

/// The number of pieces of an answer that may wait for a slow reader.
const PIECES: usize = 64;

/// The time in which a reader must accept a piece.
const STALLED: Duration = Duration::from_mins(2);

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// The ID of the provider.
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
    pub request: ChatRequest,
    pub actor: Actor,
}

/// Why a model was not called or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelCallError {
    #[error("the model does not exist")]
    UnknownModel,
    #[error(transparent)]
    Agents(#[from] AgentsError),
    #[error(transparent)]
    Model(ModelError),
}

impl From<ModelError> for ModelCallError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Failed {
                reason: Some(Reason::UnknownModel),
                ..
            } => Self::UnknownModel,
            error => Self::Model(error),
        }
    }
}

impl From<StoreError> for ModelCallError {
    fn from(error: StoreError) -> Self {
        Self::Agents(error.into())
    }
}

impl From<ModelCallError> for Problem {
    fn from(error: ModelCallError) -> Self {
        match error {
            ModelCallError::UnknownModel => Self::not_found("model"),
            ModelCallError::Agents(error) => error.into(),
            ModelCallError::Model(error) => error.into(),
        }
    }
}

impl Agents {
    /// Calls a model. Returns when its answer begins.
    pub async fn call_model(&self, call: ModelCall) -> Result<AnswerStream, ModelCallError> {
        let inner = &self.0;
        if inner.stopping.is_cancelled() {
            return Err(AgentsError::ShuttingDown.into());
        }
        let kind = inner.models.provider_kind(&call.provider);
        let kind = kind.ok_or(ModelCallError::UnknownModel)?;
        if kind == ProviderKind::Anthropic
            && let Some(option) = call.request.openai_option()
        {
            let reason = match option {
                "response_format" => "this provider has no such format; ask for it in the prompt",
                _ => "this provider has no such option",
            };
            return Err(AgentsError::invalid(option, reason).into());
        }
        if !is_line(&call.model, MAX_MODEL_CHARACTERS) || call.model.trim() != call.model {
            return Err(ModelCallError::UnknownModel);
        }
        let permit = inner.model_calls.admit()?;
        let choosing = inner.models.choose(Some(&call.provider), Some(&call.model));
        let model = choosing.await?;
        let cause = Cause {
            agent: String::new(),
            webhook: String::new(),
            api_key: Cause::api_key_of(&call.actor.name),
        };
        inner.check_call(&cause, &model).await?;
        inner.models.learn_facts(&model, false).await;
        let request = call.request;
        let messages = request.messages.iter().map(tokens_in).sum::<u64>();
        let system = request.system.as_deref();
        let running = RunningCall {
            inner: Arc::clone(inner),
            sent_tokens: messages + tokens_beside(system, &request.tools),
            said: String::new(),
            progress: CallProgress::default(),
            cause,
            model,
            span: inner.tracer.begin(
                "api.model_call",
                SpanKind::Server,
                trace::current().map(|it| it.context()),
            ),
            _permit: permit,
        };
        let (begins, begun) = oneshot::channel();
        let (pieces, answer) = mpsc::channel(PIECES);
        // The call runs in its own task, so its usage is stored even if the caller drops this
        // future.
        inner.tasks.spawn(running.run(request, begins, pieces));
        begun
            .await
            .unwrap_or_else(|_| Err(AgentsError::ShuttingDown.into()))?;
        let answer = stream::unfold(answer, |mut answer| async move {
            let piece = answer.recv().await?;
            Some((piece, answer))
        });
        Ok(answer.boxed())
    }
}

impl Inner {
    /// Fails if a budget that applies to the call is used up.
    async fn check_call(&self, cause: &Cause, model: &ModelRef) -> Result<(), AgentsError> {
        let (cause, model, now) = (cause.clone(), model.to_string(), self.clock.now());
        let read = self.store.read(move |conn| {
            Box::pin(async move { find_exhausted(conn, &cause, Some(&model), &[], now).await })
        });
        let exhausted: Result<Option<Exhausted>, StoreError> = read.await;
        exhausted?.map_or(Ok(()), |exhausted| Err(exhausted.into()))
    }
}

/// A call whose answer has begun.
struct RunningCall {
    inner: Arc<Inner>,
    cause: Cause,
    model: ModelRef,
    /// The estimated size of the request.
    sent_tokens: u64,
    /// The reasoning, text and arguments received so far.
    said: String,
    progress: CallProgress,
    /// The span of the caller's request.
    span: ActiveSpan,
    _permit: OwnedSemaphorePermit,
}

type Pieces = mpsc::Sender<Result<AnswerPiece, Problem>>;

type Begins = oneshot::Sender<Result<(), ModelCallError>>;

impl RunningCall {
    /// Calls the model and forwards its answer.
    async fn run(self, request: ChatRequest, mut begins: Begins, pieces: Pieces) {
        let cancel = self.inner.model_calls.cancel.clone();
        let models = &self.inner.models;
        let asking = models.chat_noting(&self.model, request, &self.progress);
        let asked = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            () = begins.closed() => None,
            asked = self.span.run(asking) => Some(asked),
        };
        match asked {
            None => self.store_part().await,
            Some(Err(error)) => drop(begins.send(Err(error.into()))),
            Some(Ok(chunks)) => match begins.send(Ok(())) {
                Ok(()) => self.pass_on(chunks, pieces).await,
                Err(_) => self.store_part().await,
            },
        }
    }

    /// Forwards the chunks of the answer. Stores the usage of the call before it forwards the last chunk.
    async fn pass_on(
        mut self,
        mut chunks: BoxStream<'static, Result<Chunk, ModelError>>,
        pieces: Pieces,
    ) {
        let cancel = self.inner.model_calls.cancel.clone();
        let last = loop {
            let chunk = tokio::select! {
                biased;
                () = cancel.cancelled() => break Err(AgentsError::ShuttingDown.into()),
                () = pieces.closed() => break Err(AgentsError::ShuttingDown.into()),
                chunk = chunks.next() => chunk,
            };
            let piece = match chunk {
                Some(Ok(Chunk::Text(text))) => AnswerPiece::Text(text),
                Some(Ok(Chunk::ToolCall(call))) => AnswerPiece::ToolCall(call),
                Some(Ok(Chunk::Reasoning(text))) => {
                    self.said.push_str(&text);
                    continue;
                }
                Some(Ok(Chunk::State(_))) => continue,
                Some(Ok(Chunk::End { usage, stop })) => break Ok(AnswerPiece::End { usage, stop }),
                Some(Err(error)) => break Err(ModelCallError::from(error).into()),
                // The stream of a model ends with `End` or an error.
                None => break Err(Problem::internal()),
            };
            match &piece {
                AnswerPiece::Text(text) => self.said.push_str(text),
                AnswerPiece::ToolCall(call) => self.said.push_str(&call.arguments),
                AnswerPiece::NextStep | AnswerPiece::End { .. } => {}
            }
            // A stalled reader must not keep the call open.
            let sent = tokio::select! {
                biased;
                () = cancel.cancelled() => break Err(AgentsError::ShuttingDown.into()),
                sent = tokio::time::timeout(STALLED, pieces.send(Ok(piece))) => sent,
            };
            if !matches!(sent, Ok(Ok(()))) {
                break Err(AgentsError::ShuttingDown.into());
            }
        };
        drop(chunks);
        match &last {
            Ok(AnswerPiece::End { usage, .. }) => {
                let estimate = Usage {
                    input_tokens: self.sent_tokens,
                    output_tokens: tokens_of(&self.said),
                    ..Usage::default()
                };
                self.store_usage(Used::by_whole(*usage, estimate)).await;
            }
            _ => self.store_part().await,
        }
        drop(tokio::time::timeout(STALLED, pieces.send(last)).await);
    }

    /// Stores the usage of a call that ended early.
    async fn store_part(&self) {
        if let Some(used) = Used::by_part(&self.progress, self.sent_tokens) {
            self.store_usage(used).await;
        }
    }

    async fn store_usage(&self, used: Used) {
        let (inner, cause) = (&self.inner, self.cause.clone());
        let (now, random) = (inner.clock.now(), Arc::clone(&inner.random));
        let facts = inner.models.facts(&self.model);
        let mut row = cause.row(UtcDay::of(now), &self.model.to_string(), used, &facts);
        row.turns = 1;
        row.is_configured = inner.models.is_configured(&self.model);
        count(&row, &inner.model_labels);
        let write = inner.store.write(move |conn| {
            Box::pin(async move { Inner::store_usage(conn, &[row], &cause, (now, &*random)).await })
        });
        match write.await {
            Ok(warnings) => inner.publish_warnings(warnings),
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "what a call to a model used could not be stored"
            ),
        }
    }
}
