//! Sends notices to the push services. Each node sends only its own notices, so each is sent once.

use super::encrypt::{self, OneTime};
use super::notice::{Notice, ShownBy};
use super::subscriptions::{browser_keys, holder_of};
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

/// The wait before a notice is sent again the first time. It doubles each time.
const WAIT: Duration = Duration::from_secs(10);
/// After this time, a notice is no longer sent again.
const GIVE_UP: Duration = Duration::from_hours(1);
/// How long a push service may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two notices of a topic that many events share, such as failed deliveries. The last one is sent.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a newer notice waits for running attempts.
const GRACE: Duration = Duration::from_secs(1);
/// Safari ends a subscription after three messages that show nothing. A message that closes a notification shows
/// nothing if the user has already dismissed it, so such messages are not sent to this host.
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
    /// Accepted, or refused permanently.
    Done,
    /// The browser no longer has the subscription.
    Gone,
    /// Repeat it after this time at the earliest.
    Later(Duration),
}

impl Services {
    /// Sends notices about approvals, answers, failed deliveries and messages until `shutdown`.
    pub fn send_pushes(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let (services, sends) = (Arc::clone(self), tasks.clone());
        let mut events = self.agents.subscribe();
        let mut failures = self.webhooks.last_failure();
        let mut inbox = self.channels.subscribe();
        let stop = shutdown.clone();
        let work = shutdown.run_until_cancelled_owned(async move {
            // The calls that were announced, until they are resolved.
            let mut asked: HashMap<ApprovalId, (Timestamp, ShownBy)> = HashMap::new();
            loop {
                // The lists of the web UI show the missed events.
                let notice = tokio::select! {
                    event = events.recv() => match event {
                        Ok(AgentEvent::ApprovalRequested(call)) => {
                            let shown_by = ShownBy::default();
                            let until = services.on_own_clock(call.expires_at).await;
                            asked.insert(call.id.clone(), (until, Arc::clone(&shown_by)));
                            Some(Notice::asked(&call, until, shown_by))
                        }
                        Ok(AgentEvent::ApprovalResolved(call)) => {
                            asked.remove(&call.id).map(|(expires_at, shown_by)| {
                                let now = services.clock.now();
                                Notice::closed(&call.id, expires_at, shown_by, now)
                            })
                        }
                        Ok(AgentEvent::Done(done)) => {
                            Notice::of_answer(&done, services.clock.now())
                        }
                        Ok(_) => None,
                        Err(RecvError::Lagged(_)) => {
                            let now = services.clock.now();
                            asked.retain(|_, (expires_at, _)| *expires_at > now);
                            None
                        }
                        Err(RecvError::Closed) => return,
                    },
                    changed = failures.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        let delivery = failures.borrow_and_update().clone();
                        delivery.map(|it| Notice::of_failure(&it, services.clock.now()))
                    }
                    message = inbox.recv() => match message {
                        Ok(message) => Some(Notice::of_message(&message, services.clock.now())),
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

    /// Sends the newest notice of a topic until each push service has answered. A newer one ends the repeats, and the
    /// attempts that take long.
    async fn send_topic(&self, mut newest: watch::Receiver<Arc<Notice>>) {
        loop {
            let notice = Arc::clone(&newest.borrow_and_update());
            let mut newer = newest.clone();
            let replaced = async {
                if newer.changed().await.is_ok() {
                    tokio::time::sleep(GRACE).await;
                }
            };
            tokio::select! {
                () = self.push_to_all(&notice) => {}
                () = replaced => {}
            }
            if !notice.is_about_approval() {
                tokio::time::sleep(PAUSE).await;
            }
            if self.push.topics.end(&notice.topic, &newest) {
                return;
            }
        }
    }

    async fn push_to_all(&self, notice: &Notice) {
        let live = match self.live_pushes().await {
            Ok(live) => live,
            Err(error) => {
                tracing::warn!(%error, "notifications were not sent");
                return;
            }
        };
        let waiting = self.waiting(notice).await;
        let sends = live
            .iter()
            .filter(|live| self.may_receive(live, notice))
            .map(|live| self.push_to(live, notice, waiting));
        join_all(sends).await;
    }

    /// How many tool calls wait for approval, if the notice is about them.
    async fn waiting(&self, notice: &Notice) -> Option<usize> {
        if !notice.is_about_approval() {
            return None;
        }
        let waiting = self.agents.list_approvals().await.ok()?;
        Some(waiting.len())
    }

    fn may_receive(&self, live: &LivePushSubscription, notice: &Notice) -> bool {
        let (scope, method) = notice.needs;
        let device = live.row.device_id.as_ref();
        let is_allowed = device.is_none_or(|id| self.auth.device_may_receive(id, scope, method));
        let is_for = notice
            .only
            .as_ref()
            .is_none_or(|only| *only == holder_of(&live.row));
        is_allowed && is_for && notice.concerns(&live.row.id)
    }

    /// The time of this node's clock at a later time of the database's clock.
    async fn on_own_clock(&self, later: Timestamp) -> Timestamp {
        let shared_now = self.store.shared_now(&self.clock).await;
        self.clock.now().after(shared_now.until(later))
    }

    /// Sends a notice to a browser, and again while the push service does not take it.
    async fn push_to(&self, live: &LivePushSubscription, notice: &Notice, waiting: Option<usize>) {
        let last = self.clock.now().after(GIVE_UP).min(notice.until);
        let mut repeats = 0;
        let mut sent = self.send_once(live, notice, waiting).await;
        while let Sent::Later(asked) = sent {
            let wait = wait_after(repeats, asked);
            if self.clock.now().after(wait) >= last {
                return;
            }
            tokio::time::sleep(wait).await;
            repeats += 1;
            // The session or device may have ended in between.
            sent = match self.live_pushes().await {
                Ok(all) if all.iter().any(|known| known.row == live.row) => {
                    if !self.may_receive(live, notice) {
                        return;
                    }
                    self.send_once(live, notice, self.waiting(notice).await)
                        .await
                }
                Ok(_) => return,
                Err(_) => Sent::Later(Duration::ZERO),
            };
        }
    }

    async fn send_once(
        &self,
        live: &LivePushSubscription,
        notice: &Notice,
        waiting: Option<usize>,
    ) -> Sent {
        let Some(request) = self.request(live, notice, waiting) else {
            return Sent::Done;
        };
        // A newer notice can end this attempt after the push service took the notice.
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

/// Decides by the status and the wait that the push service asks for (RFC 8030, sections 5 and 8.4).
fn outcome(sent: Result<(u16, Option<Duration>), OutboundError>) -> Sent {
    match sent {
        Ok((404 | 410, _)) => Sent::Gone,
        Ok((408 | 429 | 500..=599, asked)) => Sent::Later(asked.unwrap_or_default()),
        Err(error) if error.is_retryable() => Sent::Later(Duration::ZERO),
        Ok(_) | Err(_) => Sent::Done,
    }
}

/// The wait after this many repeats: what the push service asked for, or longer.
fn wait_after(repeats: u32, asked: Duration) -> Duration {
    WAIT.saturating_mul(2_u32.saturating_pow(repeats))
        .max(asked)
}

#[cfg(test)]
mod tests;
