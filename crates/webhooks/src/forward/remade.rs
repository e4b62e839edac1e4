//! Rebuilds a delivery's request from the stored data: the payload, and the headers that are safe to store.

use super::{DeliveryRequest, RequestHeader, RequestOrigin, shown_header};
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::webhook::ingest_url;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gatehouse_sources::payload::encode;
use gatehouse_sources::verify::{SignInput, sign_as_vendor};
use gatehouse_store::DeliveryRow;
use http::header;
use std::collections::BTreeMap;

impl Webhooks {
    /// Rebuilds the request. Signs it, unless only the sender can.
    pub(super) async fn remade(
        &self,
        row: DeliveryRow,
        payload: String,
    ) -> Result<DeliveryRequest, WebhooksError> {
        let find = || self.0.live.find_by_id(&row.webhook_id);
        let mut webhook = find().ok_or(WebhooksError::NotFound("webhook"))?;
        if webhook.is_sealed() {
            self.reload_sealed(&webhook.public_id).await?;
            webhook = find().ok_or(WebhooksError::NotFound("webhook"))?;
        }
        // Gatehouse wrote this column itself, so damaged text is replaced with the default.
        let stored: BTreeMap<String, String> =
            serde_json::from_str(&row.headers).unwrap_or_default();
        let content_type = stored.get(header::CONTENT_TYPE.as_str());
        let content_type = content_type.map_or("application/json", String::as_str);
        let body = encode(webhook.profile.body, content_type, payload);
        let mut headers: Vec<RequestHeader> = stored
            .iter()
            .map(|(name, value)| RequestHeader {
                name: name.clone(),
                value: Some(value.clone()),
                value_base64: None,
            })
            .collect();
        if !stored.contains_key(header::CONTENT_TYPE.as_str()) {
            headers.push(RequestHeader {
                name: header::CONTENT_TYPE.as_str().to_owned(),
                value: Some(content_type.to_owned()),
                value_base64: None,
            });
        }
        let now = self.0.now();
        let secrets = webhook.secrets(now);
        let needs_secret = webhook.auth.mode.needs_secret();
        let signature = sign_as_vendor(&SignInput {
            mode: webhook.auth.mode,
            header: webhook.auth.header.as_deref(),
            secret: secrets.first().copied().unwrap_or_default(),
            url: &ingest_url(&self.0.settings.load().base_url, &webhook.public_id),
            body: &body,
            now_ms: now.as_millis(),
            id: row.delivery_key.as_deref().unwrap_or(row.id.as_str()),
        });
        let is_signed = !needs_secret || (!secrets.is_empty() && !signature.is_empty());
        for (name, value) in &signature {
            headers.retain(|header| header.name != name.as_str());
            headers.push(shown_header(name, value));
        }
        Ok(DeliveryRequest {
            id: row.id,
            origin: if is_signed {
                RequestOrigin::Signed
            } else {
                RequestOrigin::Unsigned
            },
            is_kept: false,
            query: None,
            headers,
            body: BASE64.encode(&body),
        })
    }
}
