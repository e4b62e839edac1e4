//! Removes secrets from messages of MCP servers and limits their size.

use super::{Events, Failure, HttpClient};
use crate::secrets::Redactor;
use futures_util::StreamExt;
use rmcp::{
    model::ServerJsonRpcMessage,
    transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse},
};
use serde_json::Value;
use sse_stream::Sse;

impl HttpClient {
    /// Returns the error without secrets.
    pub(super) fn clean(&self, error: Failure) -> Failure {
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

    pub(super) fn clean_events(&self, events: Events) -> Events {
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

    pub(super) fn clean_response(
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
