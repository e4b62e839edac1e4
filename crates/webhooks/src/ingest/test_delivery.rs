//! `webhooks.test`: ingests a realistic sample, signed as its sender would sign it.

use super::{IngestError, Ingested, Intake, Phase};
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::live::LiveWebhook;
use crate::webhook::ingest_url;
use data_encoding::HEXLOWER;
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, ErrorCode, Problem, WebhookId};
use gatehouse_secrets::Status;
use gatehouse_sources::sample::{SampleRequest, sample};
use gatehouse_sources::verify::{SignInput, sign};
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// Maximum length of a requested event type, in characters.
const MAX_EVENT: usize = 200;

/// The result of a test delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestResult {
    pub delivery_id: DeliveryId,
    /// `filtered` if the webhook's event filter or payload filter excludes the sample.
    pub status: DeliveryStatus,
}

fn conflict(message: &str) -> WebhooksError {
    WebhooksError::Refused(Problem::new(ErrorCode::Conflict, message))
}

impl Webhooks {
    /// Ingests a sample of the webhook's profile. The allowlist of IP addresses is not checked because the
    /// sample does not come from the sender.
    pub async fn test(
        &self,
        actor: &Actor,
        id: &str,
        event: Option<&str>,
    ) -> Result<TestResult, WebhooksError> {
        if event.is_some_and(|event| {
            event.is_empty()
                || event.chars().count() > MAX_EVENT
                || event.chars().any(char::is_control)
        }) {
            return Err(WebhooksError::invalid("event", "not an event type"));
        }
        let id = self.0.id_of(id).await?;
        let webhook = self.testable(&id).await?;
        let now = self.0.now();
        let key = HEXLOWER.encode(&self.0.random.bytes::<16>());
        let sample = sample(
            webhook.profile,
            &SampleRequest {
                event,
                event_header: webhook.config.event_header.as_deref(),
                id: &key,
                now_ms: now.as_millis(),
            },
        );
        let url = ingest_url(&self.0.settings.load().base_url, &webhook.public_id);
        let mut headers = HeaderMap::new();
        for (name, value) in sample.headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        }
        let secrets = webhook.secrets(now);
        let signature = sign(&SignInput {
            mode: webhook.auth.mode,
            header: webhook.auth.header.as_deref(),
            secret: secrets.first().copied().unwrap_or_default(),
            url: &url,
            body: &sample.body,
            now_ms: now.as_millis(),
            id: &key,
        });
        // A signed ID replaces the ID of the sample.
        for (name, value) in signature {
            headers.insert(name, value);
        }
        let intake = Intake {
            inner: Arc::clone(&self.0),
            webhook: Arc::clone(&webhook),
            from: actor.clone(),
            received_at: now,
            phase: Phase::Live,
        };
        let outcome = intake.accept(&headers, &url, &sample.body.into()).await;
        test_result(outcome)
    }

    /// Returns the webhook if it can receive a sample.
    async fn testable(&self, id: &WebhookId) -> Result<Arc<LiveWebhook>, WebhooksError> {
        let find = || self.0.live.find_by_id(id);
        let mut webhook = find().ok_or(WebhooksError::NotFound("webhook"))?;
        if !webhook.enabled {
            return Err(conflict("This webhook is disabled; enable it first."));
        }
        if self.0.secrets.status() == Status::Sealed {
            return Err(WebhooksError::Sealed);
        }
        if webhook.is_sealed() {
            self.reload_sealed(&webhook.public_id).await?;
            webhook = find().ok_or(WebhooksError::NotFound("webhook"))?;
        }
        if !webhook.auth.mode.can_sign() {
            return Err(conflict(
                "Only the sender can sign deliveries of this webhook; use the sender's own test.",
            ));
        }
        if webhook.auth.mode.needs_secret() && webhook.secrets(self.0.now()).is_empty() {
            return Err(conflict(
                "This webhook's secret cannot be read; rotate it first.",
            ));
        }
        Ok(webhook)
    }
}

fn test_result(outcome: Result<Ingested, IngestError>) -> Result<TestResult, WebhooksError> {
    let of = |delivery_id, status| TestResult {
        delivery_id,
        status,
    };
    match outcome {
        Ok(Ingested::Answered(outcome, _)) => test_result(Ok(*outcome)),
        Ok(Ingested::Accepted(id)) => Ok(of(id, DeliveryStatus::Queued)),
        Ok(Ingested::Filtered(id)) => Ok(of(id, DeliveryStatus::Filtered)),
        Ok(Ingested::Deduplicated(id)) => Ok(of(id, DeliveryStatus::Deduplicated)),
        Ok(Ingested::Handshake(_)) => Err(conflict("The sample was recognized as a handshake.")),
        Err(IngestError::Store(error)) => Err(error.into()),
        Err(error) => Err(WebhooksError::Refused(error.into())),
    }
}
