//! One chat request, with retries until the first chunk of the answer arrives.

use crate::call_error::{refused, unknown_provider};
use crate::candidates::Endpoint;
use crate::chat::ChatRequest;
use crate::family::ChatCall;
use crate::family_of_kind::family;
use crate::handle::{Inner, Models};
use crate::keys::Key;
use crate::model_ref::ModelRef;
use crate::progress::{Arrived, CallProgress};
use crate::refusal::{self, Refusal};
use crate::reply::{Failure, Reply};
use crate::retry::{RETRIES, asked_wait};
use crate::traced::{self, ChunkStream};
use crate::{ModelError, ProviderKind};
use bytes::Bytes;
use gatehouse_domain::backoff;
use gatehouse_outbound::{read_capped, vendor_sentence};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Request, Response};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use url::Url;

/// The maximum number of bytes of an error body that are read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// The parts of a request that every attempt reuses.
struct Prepared<'a> {
    endpoint: &'a Endpoint<'a>,
    provider: &'a str,
    key: &'a Key<'a>,
    url: Url,
    headers: HeaderMap,
    kind: ProviderKind,
    deadline: Instant,
}

impl Models {
    /// Sends a conversation. Returns when the first chunk has arrived. The last chunk is `End`. Dropping the future or
    /// the stream closes the connection.
    ///
    /// Transient failures (429, 5xx, no connection) before the first chunk are retried up to three times within 20
    /// seconds.
    pub async fn chat(
        &self,
        model: &ModelRef,
        request: ChatRequest,
    ) -> Result<ChunkStream, ModelError> {
        self.chat_noting(model, request, &CallProgress::default())
            .await
    }

    /// Does the same as [`Models::chat`], and records the progress for a caller that may end the call early.
    /// Failed attempts are not recorded.
    pub async fn chat_noting(
        &self,
        model: &ModelRef,
        request: ChatRequest,
        progress: &CallProgress,
    ) -> Result<ChunkStream, ModelError> {
        traced::call(model, self.ask(model, request, progress)).await
    }

    async fn ask(
        &self,
        model: &ModelRef,
        request: ChatRequest,
        progress: &CallProgress,
    ) -> Result<ChunkStream, ModelError> {
        let inner = &self.inner;
        let settings = inner.settings.load_full();
        let endpoint = inner
            .candidates(&settings)
            .find(&model.provider)
            .ok_or_else(|| unknown_provider(&model.provider))?;
        let key = inner.key(&endpoint).await?;
        key.check(&endpoint)?;
        inner.note_use(&endpoint, &key);
        let prepared = inner.prepare(&endpoint, &key, &model.model)?;
        let began = Instant::now();
        let timeouts = &inner.tuning.timeouts;
        let facts = self.facts(model);
        let mut learned = inner.learned_facts.of(model);
        learned.no_tools |= facts.tools == Some(false);
        let make_body = |learned| {
            let call = ChatCall {
                base_url: &endpoint.base_url,
                model: &model.model,
                request: &request,
                learned,
                max_output: facts.max_output,
            };
            Bytes::from(family(endpoint.kind).chat_body(&call).to_string())
        };
        let mut body = make_body(learned);
        let mut retry = 0;
        loop {
            let failure = match inner.attempt(&prepared, body.clone(), progress).await {
                Ok(reply) => return Ok(reply.into_stream()),
                Err(failure) => failure,
            };
            progress.set(None);
            if let Some(Refusal { reason, .. }) = failure.refusal
                && learned.learn(reason, &request, endpoint.kind)
            {
                tracing::info!(%model, reason = reason.as_str(), "the request is adapted to a model");
                inner.learned_facts.put(model, learned);
                body = make_body(learned);
                continue;
            }
            let wait = failure
                .wait
                .unwrap_or_else(|| backoff(timeouts.retry_base, retry, &*inner.random));
            let in_time = began.elapsed().saturating_add(wait) <= timeouts.retries_total;
            if retry == RETRIES || !failure.again || !in_time {
                return Err(failure.error);
            }
            tracing::debug!(provider = %endpoint.id, error = %failure.error, "retrying");
            retry += 1;
            sleep(wait).await;
        }
    }
}

impl Inner {
    fn prepare<'a>(
        &self,
        endpoint: &'a Endpoint<'a>,
        key: &'a Key<'a>,
        model: &str,
    ) -> Result<Prepared<'a>, ModelError> {
        let mut headers = endpoint.headers(key.text()).ok_or_else(|| {
            let id = &endpoint.id;
            ModelError::not_configured(
                format!("models.providers.{id}.api_key"),
                format!(
                    "The key of the model provider {id} contains characters that are not allowed \
                     in an HTTP header. Enter it again."
                ),
            )
        })?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        Ok(Prepared {
            endpoint,
            provider: &endpoint.id,
            key,
            url: endpoint.chat_url(model),
            headers,
            kind: endpoint.kind,
            deadline: Instant::now() + self.tuning.timeouts.whole,
        })
    }

    /// Makes one attempt. Returns when the first chunk has arrived.
    async fn attempt(
        &self,
        prepared: &Prepared<'_>,
        body: Bytes,
        progress: &CallProgress,
    ) -> Result<Reply, Failure> {
        let timed_out = || Failure::timeout(prepared.provider);
        let mut request = Request::new(Method::POST, prepared.url.clone());
        *request.headers_mut() = prepared.headers.clone();
        *request.body_mut() = Some(body.into());
        let timeouts = &self.tuning.timeouts;
        let until = prepared.deadline.min(Instant::now() + timeouts.first);
        let sent = timeout_at(until, self.send(prepared.endpoint, request)).await;
        let response = sent
            .map_err(|_| timed_out())?
            .map_err(|error| Failure::outbound(prepared.provider, error))?;
        if !response.status().is_success() {
            return Err(self.refused(prepared, response).await);
        }
        self.note_accepted(prepared.endpoint, prepared.key);
        progress.set(Some(Arrived::default()));
        let mut reply = Reply::new(
            response,
            prepared.provider.to_owned(),
            prepared.kind,
            &self.tuning,
            (prepared.deadline, progress),
        )?;
        reply.await_first(timeouts.first).await?;
        Ok(reply)
    }

    async fn refused(&self, prepared: &Prepared<'_>, response: Response) -> Failure {
        let status = response.status().as_u16();
        let header_wait = asked_wait(response.headers(), self.clock.now());
        // If the body does not arrive, the status is enough.
        let body = timeout(
            self.tuning.timeouts.list,
            read_capped(response, MAX_ERROR_BYTES),
        )
        .await;
        let (body, _) = body.ok().and_then(Result::ok).unwrap_or_default();
        let wait = header_wait.or_else(|| refusal::asked_wait(&body));
        let refusal = refusal::with_status(status, &body);
        self.note_refused(prepared.endpoint, prepared.key, refusal.reason);
        let mut error = refused(prepared.provider, refusal, prepared.key, wait);
        // Vendors repeat the key when they reject it.
        if let ModelError::Failed { vendor_message, .. } = &mut error
            && !matches!(status, 401 | 403)
        {
            *vendor_message = vendor_sentence(&body, prepared.key.text().as_slice());
        }
        Failure {
            error,
            again: refusal.is_worth_a_retry(),
            wait,
            refusal: Some(refusal),
        }
    }
}
