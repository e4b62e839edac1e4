//! Sends notices to the push services. Each node sends what it sees itself, so one node sends each notice.

use super::encrypt::{self, OneTime};
use super::notice::Notice;
use super::subscriptions::browser_keys;
use super::vapid;
use crate::Services;
use crate::retry_after::parse_retry_after;
use futures_util::future::join_all;
use gatehouse_agents::AgentEvent;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use gatehouse_outbound::{AddressSource, OutboundError};
use gatehouse_store::LivePushSubscription;
use http::HeaderValue;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// The wait before a notice is sent again, unless the push service asks for another one.
const WAIT: Duration = Duration::from_secs(10);
/// After this time, a notice is no longer sent again.
const GIVE_UP: Duration = Duration::from_hours(1);
/// How long a push service may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Apple withdraws the permission after messages that show nothing, so none that closes a notification goes there.
const SHOWS_ALWAYS: &str = "push.apple.com";

/// The newest notice of each topic that is being sent.
#[derive(Debug, Default)]
pub(super) struct Topics(Mutex<HashMap<String, watch::Sender<Arc<Notice>>>>);

impl Topics {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Arc<Notice>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what a new task has to send, if the topic has no task yet.
    fn offer(&self, notice: Notice) -> Option<watch::Receiver<Arc<Notice>>> {
        let (topic, notice) = (notice.topic.clone(), Arc::new(notice));
        let mut topics = self.lock();
        if let Some(sender) = topics.get(&topic) {
            sender.send_replace(notice);
            return None;
        }
        let (sender, newest) = watch::channel(notice);
        topics.insert(topic, sender);
        Some(newest)
    }

    /// Ends a topic, unless it has a newer notice.
    fn end(&self, topic: &str, newest: &watch::Receiver<Arc<Notice>>) -> bool {
        let mut topics = self.lock();
        let is_over = !newest.has_changed().unwrap_or(false);
        if is_over {
            topics.remove(topic);
        }
        is_over
    }
}

/// How an attempt ended.
#[derive(Debug, PartialEq, Eq)]
enum Sent {
    /// Accepted, or refused for good.
    Done,
    /// The browser no longer has the subscription.
    Gone,
    /// Repeat it after this time.
    Later(Duration),
}

impl Services {
    /// Sends notices about approvals, failed deliveries and messages until `shutdown`.
    pub fn send_pushes(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let (services, sends) = (Arc::clone(self), tasks.clone());
        let mut events = self.agents.subscribe();
        let mut deliveries = self.webhooks.subscribe();
        let mut inbox = self.channels.subscribe();
        let stop = shutdown.clone();
        let work = shutdown.run_until_cancelled_owned(async move {
            // The calls that were announced, until they are resolved.
            let mut asked: HashMap<ApprovalId, Timestamp> = HashMap::new();
            loop {
                let now = services.clock.now();
                // What was missed is in the lists of the web UI.
                let notice = tokio::select! {
                    event = events.recv() => match event {
                        Ok(AgentEvent::ApprovalRequested(call)) => {
                            asked.insert(call.id.clone(), call.expires_at);
                            Some(Notice::asked(&call))
                        }
                        Ok(AgentEvent::ApprovalResolved(call)) => asked
                            .remove(&call.id)
                            .map(|expires_at| Notice::closed(&call.id, expires_at, now)),
                        Ok(_) => None,
                        Err(RecvError::Lagged(_)) => {
                            asked.retain(|_, expires_at| *expires_at > now);
                            None
                        }
                        Err(RecvError::Closed) => return,
                    },
                    changed = deliveries.recv() => match changed {
                        Ok(delivery) => Notice::of_delivery(&delivery, now),
                        Err(RecvError::Lagged(_)) => None,
                        Err(RecvError::Closed) => return,
                    },
                    message = inbox.recv() => match message {
                        Ok(message) => Some(Notice::of_message(&message, now)),
                        Err(RecvError::Lagged(_)) => None,
                        Err(RecvError::Closed) => return,
                    },
                };
                if let Some(newest) = notice.and_then(|it| services.push.topics.offer(it)) {
                    let services = Arc::clone(&services);
                    sends.spawn(stop.clone().run_until_cancelled_owned(async move {
                        services.send_topic(newest).await;
                    }));
                }
            }
        });
        tasks.spawn(work);
    }

    /// Sends the newest notice of a topic until each push service has answered. A newer one ends the repeats.
    async fn send_topic(&self, mut newest: watch::Receiver<Arc<Notice>>) {
        loop {
            let notice = Arc::clone(&newest.borrow_and_update());
            let waiting = self.send_first(&notice).await;
            let repeats = waiting
                .iter()
                .map(|(live, wait)| self.repeat(live, &notice, *wait));
            tokio::select! {
                _ = join_all(repeats) => {}
                _ = newest.changed() => newest.mark_changed(),
            }
            if self.push.topics.end(&notice.topic, &newest) {
                return;
            }
        }
    }

    /// Sends a notice once to each browser. Returns the browsers to repeat it for.
    async fn send_first(&self, notice: &Notice) -> Vec<(LivePushSubscription, Duration)> {
        let live = match self.live_pushes().await {
            Ok(live) => live,
            Err(error) => {
                tracing::warn!(%error, "notifications were not sent");
                return Vec::new();
            }
        };
        let live = live
            .into_iter()
            .filter(|live| self.may_receive(live, notice));
        let sends = live.map(|live| async move {
            match self.send_once(&live, notice).await {
                Sent::Later(wait) => Some((live, wait)),
                Sent::Done | Sent::Gone => None,
            }
        });
        join_all(sends).await.into_iter().flatten().collect()
    }

    fn may_receive(&self, live: &LivePushSubscription, notice: &Notice) -> bool {
        let (scope, method) = notice.needs;
        let device = live.row.device_id.as_ref();
        device.is_none_or(|id| self.auth.device_may_receive(id, scope, method))
    }

    async fn repeat(&self, live: &LivePushSubscription, notice: &Notice, first: Duration) {
        let last = self.clock.now().after(GIVE_UP).min(notice.until);
        let mut wait = first;
        loop {
            if self.clock.now().after(wait) >= last {
                return;
            }
            tokio::time::sleep(wait).await;
            // The session or device may have ended meanwhile.
            let Ok(all) = self.live_pushes().await else {
                continue;
            };
            let is_live = all.iter().any(|known| known.row == live.row);
            if !is_live || !self.may_receive(live, notice) {
                return;
            }
            match self.send_once(live, notice).await {
                Sent::Later(next) => wait = next,
                Sent::Done | Sent::Gone => return,
            }
        }
    }

    async fn send_once(&self, live: &LivePushSubscription, notice: &Notice) -> Sent {
        let Some(request) = self.request(live, notice).await else {
            return Sent::Done;
        };
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
        let sent = outcome(sent);
        if sent == Sent::Gone {
            let id = id.clone();
            let deleted = self.store.write(move |conn| {
                Box::pin(async move { conn.delete_push_subscription(&id).await })
            });
            if let Err(error) = deleted.await {
                tracing::warn!(%error, "an ended subscription was not deleted");
            }
        }
        sent
    }

    /// Returns `None` if the notice must not be sent to this browser.
    async fn request(
        &self,
        live: &LivePushSubscription,
        notice: &Notice,
    ) -> Option<reqwest::Request> {
        let url = Url::parse(&live.row.endpoint).ok()?;
        if notice.is_closing() && url.host_str()?.ends_with(SHOWS_ALWAYS) {
            return None;
        }
        let mut text = notice.text.clone();
        if notice.is_about_approval() {
            let waiting = self.agents.list_approvals().await.ok();
            text.waiting = waiting.map(|waiting| waiting.len());
        }
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

/// Decides by the status and the wait that the push service asks for (RFC 8030, sections 5 and 8.4).
fn outcome(sent: Result<(u16, Option<Duration>), OutboundError>) -> Sent {
    match sent {
        Ok((404 | 410, _)) => Sent::Gone,
        Ok((408 | 429 | 500..=599, asked)) => Sent::Later(asked.unwrap_or(WAIT)),
        Err(error) if error.is_retryable() => Sent::Later(WAIT),
        Ok(_) | Err(_) => Sent::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_ends_a_subscription_a_notice_or_only_an_attempt() {
        for (status, expected) in [
            (201, Sent::Done),
            (202, Sent::Done),
            (400, Sent::Done),
            (403, Sent::Done),
            (404, Sent::Gone),
            (410, Sent::Gone),
            (413, Sent::Done),
            (429, Sent::Later(WAIT)),
            (500, Sent::Later(WAIT)),
            (503, Sent::Later(WAIT)),
        ] {
            assert_eq!(outcome(Ok((status, None))), expected, "{status}");
        }
        let asked = Duration::from_secs(7);
        assert_eq!(outcome(Ok((429, Some(asked)))), Sent::Later(asked));
        assert_eq!(outcome(Err(OutboundError::Timeout)), Sent::Later(WAIT));
        let refused = outcome(Err(OutboundError::RefusedAddress));
        assert_eq!(refused, Sent::Done);
    }
}
