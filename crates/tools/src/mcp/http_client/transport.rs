//! Posts messages to MCP servers and reads their streams.

use super::{Events, Failure, Headers, HttpClient};
use crate::mcp::oversized::too_large;
use futures_util::StreamExt;
use rmcp::{
    model::{
        ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{
        StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Error as SseError, Sse};
use std::sync::Arc;

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

/// Recognizes the error by its text, because the library does not export its type.
fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if cause.to_string().contains("exceeded the maximum size"))
}

fn refused(reason: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(reason.into())
}

/// Returns the error response to a call.
fn refusal(call: RequestId, reason: String) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None);
    ServerJsonRpcMessage::error(error, Some(call))
}

fn refusal_event(call: &RequestId, max_bytes: usize) -> Sse {
    let message = refusal(call.clone(), too_large(max_bytes));
    let data = serde_json::to_string(&message).unwrap_or_default();
    Sse::default().data(data)
}
