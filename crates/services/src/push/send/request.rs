//! Sends one notification to a push service.

use super::Sent;
use crate::Services;
use crate::push::{
    encrypt::{self, OneTime},
    notice::Notice,
    subscriptions::{CHANGED, browser_keys},
    vapid,
};
use crate::retry_after::parse_retry_after;
use gatehouse_outbound::{AddressSource, OutboundError};
use gatehouse_store::{LivePushSubscription, StoreError};
use http::{
    HeaderValue,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
};
use std::time::Duration;
use url::Url;

/// The delay before the first retry. It doubles with each retry.
const WAIT: Duration = Duration::from_secs(10);

/// How long a push service may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Safari ends a subscription after three messages that show nothing. A message that closes a notification shows
/// nothing if the user has already dismissed the notification. Such messages are therefore not sent to this host.
const SHOWS_ALWAYS: &str = "push.apple.com";

impl Services {
    pub(super) async fn send_once(
        &self,
        live: &LivePushSubscription,
        notice: &Notice,
        waiting: Option<usize>,
    ) -> Sent {
        let Some(request) = self.request(live, notice, waiting) else {
            return Sent::Done;
        };
        // Recorded before the request, because a newer notice can end this attempt after the push service has
        // accepted it.
        notice.set_shown(&live.row.id, true);
        let sent = self.outbound.send(AddressSource::Public, request).await;
        let now = self.clock.now();
        let sent = sent.map(|response| {
            let asked = response.headers().get(RETRY_AFTER);
            let asked = asked.and_then(|value| parse_retry_after(value.to_str().ok()?, now));
            (response.status().as_u16(), asked)
        });
        let id = &live.row.id;
        match &sent {
            Ok((200..=299, _)) => {}
            Ok((status, _)) => tracing::warn!(%id, status, "a push service refused a notification"),
            Err(error) => tracing::warn!(%id, %error, "a notification was not sent"),
        }
        if !matches!(sent, Ok((200..=299, _))) {
            notice.set_shown(id, false);
        }
        let sent = outcome(sent);
        if sent == Sent::Gone {
            let id = id.clone();
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    if conn.delete_push_subscription(&id).await?.is_some() {
                        conn.insert_change(CHANGED, now).await?;
                    }
                    Ok(())
                })
            });
            let deleted: Result<(), StoreError> = write.await;
            if let Err(error) = deleted {
                tracing::warn!(%error, "an ended subscription was not deleted");
            }
        }
        sent
    }

    /// Builds the request. Returns `None` if the notice must not be sent to this browser.
    fn request(
        &self,
        live: &LivePushSubscription,
        notice: &Notice,
        waiting: Option<usize>,
    ) -> Option<reqwest::Request> {
        let url = Url::parse(&live.row.endpoint).ok()?;
        if notice.is_closing() && url.host_str()?.ends_with(SHOWS_ALWAYS) {
            return None;
        }
        let mut text = notice.text.clone();
        text.waiting = waiting;
        let keys = browser_keys(&live.row.p256dh, &live.row.auth_secret).ok()?;
        let once = OneTime {
            key: vapid::new_key(&*self.random),
            salt: self.random.bytes(),
        };
        let body = encrypt::encrypt(&serde_json::to_vec(&text).ok()?, &keys, &once)?;
        let now = self.clock.now();
        let settings = self.config.resolved();
        let subject = settings.settings.server.external_url.as_ref();
        let subject = subject.filter(|url| url.scheme() == "https");
        let subject = subject.map(Url::as_str);
        let authorization = self.push.key.authorization(&url, subject, now);
        let mut authorization = HeaderValue::try_from(authorization).ok()?;
        authorization.set_sensitive(true);
        let client = self.outbound.client(AddressSource::Public);
        client
            .post(url)
            .timeout(REQUEST_TIMEOUT)
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", now.until(notice.until).as_secs())
            .header("urgency", if notice.is_urgent { "high" } else { "normal" })
            .header("topic", &notice.topic)
            .body(body)
            .build()
            .ok()
    }
}

/// Evaluates the status and the delay that the push service requests (RFC 8030, sections 5 and 8.4).
pub(super) fn outcome(sent: Result<(u16, Option<Duration>), OutboundError>) -> Sent {
    match sent {
        Ok((404 | 410, _)) => Sent::Gone,
        Ok((408 | 429 | 500..=599, asked)) => Sent::Later(asked.unwrap_or_default()),
        Err(error) if error.is_retryable() => Sent::Later(Duration::ZERO),
        Ok(_) | Err(_) => Sent::Done,
    }
}

/// Returns the delay after this many retries. It is at least the delay that the push service requested.
pub(super) fn wait_after(repeats: u32, asked: Duration) -> Duration {
    WAIT.saturating_mul(2_u32.saturating_pow(repeats))
        .max(asked)
}
