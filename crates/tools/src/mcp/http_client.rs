//! The HTTP client of MCP servers. Fills secrets into each request and removes them from the answers. Answers a call
//! whose answer is too large: the MCP library ends the stream without the reason, or reports that the request could not
//! be sent.

mod token;
mod written;

use super::bearer::Bearer;
use super::oversized::too_large;
use crate::secrets::{Redactor, Request, RequestSecrets};
use arc_swap::ArcSwap;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use gatehouse_agents::Audience;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use secrecy::SecretString;
use serde_json::Value;
use sse_stream::{Error as SseError, Sse};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use url::Url;
use written::written_secrets;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Failure = StreamableHttpError<reqwest::Error>;

/// A client that limits the size of answers.
#[derive(Clone)]
pub(super) struct HttpClient {
    inner: reqwest::Client,
    /// The largest event of a stream.
    max_event_bytes: usize,
    /// The server's additional headers. They may name secrets.
    headers: Arc<BTreeMap<String, String>>,
    secrets: RequestSecrets,
    /// For requests without a fixed token.
    bearer: Bearer,
    /// The tokens that were sent, newest first.
    tokens: Arc<ArcSwap<Vec<(String, SecretString)>>>,
    /// Removes the secrets in the headers of the settings, and every other one that was sent: a server may return one
    /// later, or in another stream.
    sent: Arc<ArcSwap<Redactor>>,
}

/// A request with its secrets.
struct Prepared {
    uri: Arc<str>,
    headers: Headers,
}

impl HttpClient {
    pub(super) fn new(
        inner: reqwest::Client,
        max_event_bytes: usize,
        headers: BTreeMap<String, String>,
        secrets: RequestSecrets,
        bearer: Bearer,
    ) -> Self {
        Self {
            inner,
            bearer,
            max_event_bytes,
            sent: Arc::new(ArcSwap::from_pointee(written_secrets(&headers))),
            headers: Arc::new(headers),
            secrets,
            tokens: Arc::default(),
        }
    }

    /// Inserts the secrets. The error is for people and models, and contains no secret.
    async fn prepare(&self, uri: &str, mut headers: Headers) -> Result<Prepared, String> {
        let url = Url::parse(uri).map_err(|_| "The URL cannot be parsed.".to_owned())?;
        let request = Request {
            url,
            headers: &self.headers,
        };
        // The owner wrote the headers and the URL.
        let filled = self.secrets.fill(request, Audience::Trusted).await;
        let filled = filled.map_err(|error| error.message)?;
        if filled.redactor.is_needed() {
            self.sent.rcu(|sent| sent.and(&filled.redactor));
        }
        for (name, value) in filled.headers {
            if let Some(name) = name {
                headers.entry(name).or_insert(value);
            }
        }
        Ok(Prepared {
            uri: Arc::from(filled.url.as_str()),
            headers,
        })
    }

    /// Checks that the secrets of the URL and the headers can be sent.
    pub(super) async fn check(&self, url: &Url) -> Result<(), String> {
        let prepared = self.prepare(url.as_str(), Headers::new());
        prepared.await.map(drop)
    }

    /// The error without secrets.
    fn clean(&self, error: Failure) -> Failure {
        match error {
            StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
            StreamableHttpError::UnexpectedServerResponse(text) => {
                let text = self.redactor().redact(text.into_owned());
                StreamableHttpError::UnexpectedServerResponse(text.into())
            }
            StreamableHttpError::UnexpectedContentType(kind) => {
                let redact = |kind| self.redactor().redact(kind);
                StreamableHttpError::UnexpectedContentType(kind.map(redact))
            }
            other => other,
        }
    }

    fn clean_events(&self, events: Events) -> Events {
        let client = self.clone();
        let cleaned = events.map(move |event| {
            let redactor = client.redactor();
            event.map(|event| Sse {
                data: event.data.map(|data| clean_data(data, &redactor)),
                ..event
            })
        });
        cleaned.boxed()
    }

    fn clean_response(
        &self,
        response: Result<StreamableHttpPostResponse, Failure>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        match response {
            Ok(StreamableHttpPostResponse::Json(message, session)) => {
                let message = clean_message(message, &self.redactor())?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            Ok(StreamableHttpPostResponse::Sse(events, session)) => Ok(
                StreamableHttpPostResponse::Sse(self.clean_events(events), session),
            ),
            Ok(other) => Ok(other),
            Err(error) => Err(self.clean(error)),
        }
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let call = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let prepared = match (self.prepare(&uri, custom_headers).await, &call) {
            (Ok(prepared), _) => prepared,
            (Err(reason), Some(call)) => {
                let refusal = refusal(call.clone(), reason);
                return Ok(StreamableHttpPostResponse::Json(refusal, None));
            }
            (Err(reason), None) => return Err(refused(reason)),
        };
        let max_bytes = self.max_event_bytes;
        let sent = self.with_token(auth_header, |token| {
            self.inner.post_message_with_max_sse_event_size(
                Arc::clone(&prepared.uri),
                message.clone(),
                session_id.clone(),
                token,
                prepared.headers.clone(),
                max_bytes,
            )
        });
        let response = match (sent.await, &call) {
            (Ok(sent), _) => self.clean_response(sent),
            (Err(reason), Some(call)) => {
                let refusal = refusal(call.clone(), reason);
                return Ok(StreamableHttpPostResponse::Json(refusal, None));
            }
            (Err(reason), None) => Err(refused(reason)),
        };
        let Some(call) = call else {
            return response;
        };
        match response {
            Err(StreamableHttpError::ResponseBodyTooLarge { max_size }) => {
                let refusal = refusal(call, too_large(max_size));
                Ok(StreamableHttpPostResponse::Json(refusal, None))
            }
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                let events = events.map(move |event| match event {
                    Err(error) if is_too_large(&error) => Ok(refusal_event(&call, max_bytes)),
                    other => other,
                });
                Ok(StreamableHttpPostResponse::Sse(events.boxed(), session))
            }
            // A server must answer a request with JSON or a stream (MCP 2025-06-18, "Sending Messages to the Server").
            // After a 202 or 204, the library would wait for another stream until the time limit.
            Ok(StreamableHttpPostResponse::Accepted) => {
                Err(refused("The server sent no response.".to_owned()))
            }
            other => other,
        }
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        _: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message(uri, message, session_id, auth_header, custom_headers)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let prepared = self.prepare(&uri, custom_headers).await;
        let prepared = prepared.map_err(refused)?;
        let deleted = self.with_token(auth_header, |token| {
            let (uri, headers) = (Arc::clone(&prepared.uri), prepared.headers.clone());
            self.inner
                .delete_session(uri, Arc::clone(&session_id), token, headers)
        });
        let deleted = deleted.await.map_err(refused)?;
        deleted.map_err(|error| self.clean(error))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Failure> {
        let prepared = self.prepare(&uri, custom_headers).await;
        let prepared = prepared.map_err(refused)?;
        let stream = self.with_token(auth_header, |token| {
            self.inner.get_stream_with_max_sse_event_size(
                Arc::clone(&prepared.uri),
                session_id.clone(),
                last_event_id.clone(),
                token,
                prepared.headers.clone(),
                self.max_event_bytes,
            )
        });
        let stream = stream.await.map_err(refused)?;
        let events = stream.map_err(|error| self.clean(error))?;
        Ok(self.clean_events(events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        _: usize,
    ) -> Result<Events, Failure> {
        self.get_stream(uri, session_id, last_event_id, auth_header, custom_headers)
            .await
    }
}

fn clean_message(
    message: ServerJsonRpcMessage,
    redactor: &Redactor,
) -> Result<ServerJsonRpcMessage, Failure> {
    if !redactor.is_needed() {
        return Ok(message);
    }
    let value = redactor.redact_json(serde_json::to_value(message)?);
    Ok(serde_json::from_value(value)?)
}

fn clean_data(data: String, redactor: &Redactor) -> String {
    if !redactor.is_needed() {
        return data;
    }
    match serde_json::from_str::<Value>(&data) {
        Ok(value) => redactor.redact_json(value).to_string(),
        Err(_) => redactor.redact(data),
    }
}

/// The library does not export the type of this error.
fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if cause.to_string().contains("exceeded the maximum size"))
}

fn refused(reason: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(reason.into())
}

/// The error response to a call.
fn refusal(call: RequestId, reason: String) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None);
    ServerJsonRpcMessage::error(error, Some(call))
}

fn refusal_event(call: &RequestId, max_bytes: usize) -> Sse {
    let message = refusal(call.clone(), too_large(max_bytes));
    let data = serde_json::to_string(&message).unwrap_or_default();
    Sse::default().data(data)
}
