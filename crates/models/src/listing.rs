//! Requests a provider's model list. The response is untrusted, so its size is limited and invalid entries are skipped.

use crate::ModelError;
use crate::call_error::{outbound_error, refused};
use crate::candidates::Endpoint;
use crate::family_of_kind::family;
use crate::handle::Inner;
use crate::keys::Key;
use crate::listed::Listed;
use crate::refusal;
use gatehouse_outbound::read_capped;
use reqwest::{Method, Request, StatusCode};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const MAX_LIST_BYTES: usize = 4 << 20;
const MAX_MODELS: usize = 1_000;
const MAX_NAME_BYTES: usize = 256;

impl Inner {
    /// Requests the list with a timeout, bypassing the cache.
    pub(crate) async fn ask_for_models(
        &self,
        endpoint: &Endpoint<'_>,
        timeouts: Duration,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let key = self.key(endpoint).await?;
        key.check(endpoint)?;
        self.note_use(endpoint, &key);
        self.ask_with_key(endpoint, &key, timeouts).await
    }

    /// Requests the list with this key, which need not be the key in use.
    pub(crate) async fn ask_with_key(
        &self,
        endpoint: &Endpoint<'_>,
        key: &Key<'_>,
        timeouts: Duration,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let asked = tokio::time::timeout(timeouts, self.fetch_models(endpoint, key)).await;
        asked.unwrap_or_else(|_| {
            Err(ModelError::Timeout {
                provider: endpoint.id.to_string(),
            })
        })
    }

    async fn fetch_models(
        &self,
        endpoint: &Endpoint<'_>,
        key: &Key<'_>,
    ) -> Result<Arc<Vec<Listed>>, ModelError> {
        let provider = || endpoint.id.to_string();
        let failed = |error| outbound_error(&endpoint.id, error);
        let garbage = || ModelError::failed(provider(), false);
        let family = family(endpoint.kind);
        let mut request = Request::new(Method::GET, endpoint.list_url());
        *request.headers_mut() = endpoint.headers(key.text()).ok_or_else(garbage)?;
        let response = self.send(endpoint, request).await.map_err(failed)?;
        let status = response.status();
        let (body, cut) = read_capped(response, MAX_LIST_BYTES)
            .await
            .map_err(failed)?;
        if status != StatusCode::OK {
            let refusal = refusal::with_status(status.as_u16(), &body);
            self.note_refused(endpoint, key, refusal.reason);
            return Err(refused(&endpoint.id, refusal, key, None));
        }
        self.note_accepted(endpoint, key);
        let body = (!cut).then(|| serde_json::from_slice::<Value>(&body).ok());
        let body = body.flatten().ok_or_else(garbage)?;
        // Most providers return the list under `data`, some as a bare array.
        let list = body.get("data").unwrap_or(&body);
        let list = list.as_array().ok_or_else(garbage)?;
        let listed = list.iter().filter_map(|entry| family.listed(entry));
        let listed = listed.filter(|listed| is_a_name(&listed.name));
        Ok(Arc::new(listed.take(MAX_MODELS).collect()))
    }
}

fn is_a_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_length_and_no_control_characters() {
        for (name, good) in [
            ("", false),
            ("a/b:c", true),
            ("a\nb", false),
            (&"n".repeat(256), true),
            (&"n".repeat(257), false),
        ] {
            assert_eq!(is_a_name(name), good, "{name}");
        }
    }
}
