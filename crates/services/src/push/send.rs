//! Sends notices to the push services. Each node sends only its own notices, so each is sent once.

mod request;
mod topics;

use super::notice::{Notice, ShownBy};
use super::subscriptions::holder_of;
use crate::Services;
use futures_util::future::join_all;
use gatehouse_agents::AgentEvent;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use gatehouse_store::LivePushSubscription;
use request::wait_after;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
pub(super) use topics::Topics;

/// The maximum time for which sending a notice is retried.
const GIVE_UP: Duration = Duration::from_hours(1);

/// Minimum time between two notices of a topic that many events share, such as failed deliveries. Only the last
/// notice of this time is sent.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a newer notice waits for running attempts.
const GRACE: Duration = Duration::from_secs(1);

/// How an attempt ended.
#[derive(Debug, PartialEq, Eq)]
enum Sent {
    /// Accepted, or refused permanently.
    Done,
    /// The browser no longer has the subscription.
    Gone,
    /// Retry after this delay or later.
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
            // The announced calls that are not resolved yet.
            let mut asked: HashMap<ApprovalId, (Timestamp, ShownBy)> = HashMap::new();
            loop {
                // Missed events need no notice, because the lists of the web UI show them.
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

    /// Sends the newest notice of a topic until each push service has answered. A newer notice ends the retries,
    /// and the attempts that take long.
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

    /// Returns how many tool calls wait for approval, if the notice is about them.
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

    /// Converts a future time of the database clock to the clock of this node.
    async fn on_own_clock(&self, later: Timestamp) -> Timestamp {
        let shared_now = self.store.shared_now(&self.clock).await;
        self.clock.now().after(shared_now.until(later))
    }

    /// Sends a notice to a browser. Retries while the push service does not accept it.
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
            // The session or device may have ended in the meantime.
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
}

#[cfg(test)]
mod tests;
