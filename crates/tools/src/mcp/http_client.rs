//! The HTTP client of MCP servers. Answers a call whose answer is too large: the MCP library ends the stream without the
//! reason, or reports that the request could not be sent.

use super::oversized::too_large;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};
use std::collections::HashMap;
use std::sync::Arc;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Failure = StreamableHttpError<reqwest::Error>;

/// A client that limits the size of answers.
#[derive(Clone)]
pub(super) struct HttpClient {
    pub(super) inner: reqwest::Client,
    /// The largest event of a stream.
    pub(super) max_event_bytes: usize,
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
        let max_bytes = self.max_event_bytes;
        let response = self
            .inner
            .post_message_with_max_sse_event_size(
                uri,
                message,
                session_id,
                auth_header,
                custom_headers,
                max_bytes,
            )
            .await;
        let Some(call) = call else {
            return response;
        };
        match response {
            Err(StreamableHttpError::ResponseBodyTooLarge { max_size }) => Ok(
                StreamableHttpPostResponse::Json(refusal(call, max_size), None),
            ),
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                let events = events.map(move |event| match event {
                    Err(error) if is_too_large(&error) => Ok(refusal_event(&call, max_bytes)),
                    other => other,
                });
                Ok(StreamableHttpPostResponse::Sse(events.boxed(), session))
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
        self.inner
            .delete_session(uri, session_id, auth_header, custom_headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Failure> {
        self.inner
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                self.max_event_bytes,
            )
            .await
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

/// The library does not export the type of this error.
fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if cause.to_string().contains("exceeded the maximum size"))
}

/// The error response to a call.
fn refusal(call: RequestId, max_bytes: usize) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, too_large(max_bytes), None);
    ServerJsonRpcMessage::error(error, Some(call))
}

fn refusal_event(call: &RequestId, max_bytes: usize) -> Sse {
    let message = refusal(call.clone(), max_bytes);
    let data = serde_json::to_string(&message).unwrap_or_default();
    Sse::default().data(data)
}
