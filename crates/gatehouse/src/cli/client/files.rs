//! Uploads and downloads files.

use super::{Client, error::ClientError};
use anyhow::Result;
use reqwest::{Method, StatusCode, header};
use serde_json::Value;
use std::time::Duration;

/// The timeout for transferring files of any size.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_hours(24);

impl Client {
    /// Sends a file as the body of a `POST` request, and its name as the query parameter `name`.
    pub async fn upload(
        &self,
        path: &str,
        name: &str,
        data: Vec<u8>,
    ) -> Result<Value, ClientError> {
        let request = self.request(Method::POST, path).query(&[("name", name)]);
        let request = request.header(header::CONTENT_TYPE, "application/octet-stream");
        Ok(self.answer_to(request.body(data)).await?.0)
    }

    /// Sends a `POST` request whose answer is a file of any size.
    pub async fn download(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<reqwest::Response, ClientError> {
        let request = self.request(Method::POST, path).json(body);
        let request = request.timeout(DOWNLOAD_TIMEOUT);
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        match self.read_answer(response).await {
            Err(error) => Err(error),
            Ok(_) => Err(ClientError::Strange {
                url: self.url.clone(),
                status: StatusCode::OK,
            }),
        }
    }

    /// Returns the next bytes of a file, or `None` at its end.
    pub async fn next_bytes(
        &self,
        response: &mut reqwest::Response,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        let read = response.chunk().await;
        let read = read.map(|piece| piece.map(|bytes| bytes.to_vec()));
        read.map_err(|source| ClientError::Incomplete {
            url: self.url.clone(),
            source: source.without_url(),
        })
    }
}
