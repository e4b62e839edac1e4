//! Reads the lines of the queue. Decides which lines may be claimed now, and when the next one may be claimed.

use super::circuit::Gate;
use super::fair::{self, Candidate, Limits, LineKey, line_key};
use super::slots::{Attempt, Load};
use super::{SHARED_POLL, Worker};
use gatehouse_channels::TargetAccount;
use gatehouse_store::{DeliveryLine, StoreError, Take};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of lines per read.
const LINES: i64 = 1024;

/// The result of reading the queue.
#[derive(Debug, Default)]
pub(super) struct QueueRead {
    pub(super) takes: Vec<Take>,
    pub(super) accounts: HashMap<String, Option<TargetAccount>>,
    /// How long until more deliveries may be claimed, unless another event wakes the worker.
    pub(super) next: Option<Duration>,
    /// Whether no delivery in the database has a due time and this node runs none.
    pub(super) is_idle: bool,
    /// Whether due deliveries stay in the queue because this node has no slots for them.
    pub(super) leaves_work: bool,
    /// Lines whose webhook is disabled or paused, or whose account does not respond.
    held: Vec<LineKey>,
}

impl QueueRead {
    fn not_before(&mut self, wait: Duration) {
        self.next = Some(self.next.map_or(wait, |next| next.min(wait)));
    }
}

impl Worker {
    /// Distributes the free slots among the lines. Slots of ended runs count as free.
    pub(super) async fn read_queue(&mut self) -> Result<QueueRead, StoreError> {
        let limits = self.limits();
        let load = self.load();
        let mut queue = QueueRead::default();
        self.inner.blocked.clear();
        if load.agent >= limits.agent && load.send >= limits.send {
            queue.leaves_work = true;
            return Ok(queue);
        }
        self.inner.follow_accounts().await?;
        let lines = self.read_lines(&mut queue).await?;
        // Runs that ended during the read are stored by the same write, and their slots are free.
        self.take_in_all();
        let load = self.load();
        queue.is_idle = lines.is_empty() && load.agent == 0 && load.send == 0;
        let candidates = self.judge(lines, &mut queue).await?;
        queue.takes = fair::plan(&candidates, limits, load, &self.served);
        queue.leaves_work = queue.takes.len() < candidates.len();
        self.note_blocked(&candidates, &mut queue);
        Ok(queue)
    }

    /// Records the lines without claims, for [`super::blocked`]. In a shared database, new deliveries always wake
    /// this worker, so that it notifies the other nodes of deliveries that it cannot run.
    fn note_blocked(&self, candidates: &[Candidate], queue: &mut QueueRead) {
        if self.inner.store.engine().is_shared() {
            return;
        }
        let served: HashSet<_> = queue
            .takes
            .iter()
            .map(|take| (&take.target, &take.webhook_id))
            .collect();
        let lines = candidates.iter().map(|candidate| &candidate.line);
        let waiting = lines.filter(|line| !served.contains(&(&line.target, &line.webhook_id)));
        let held = std::mem::take(&mut queue.held);
        self.inner
            .blocked
            .replace(waiting.map(line_key).chain(held));
    }

    /// Returns the load without the runs that only have to be stored.
    fn load(&self) -> Load {
        let ended: Vec<Attempt> = self.settled.iter().map(|it| it.attempt().clone()).collect();
        self.slots.load(&ended)
    }

    fn limits(&self) -> Limits {
        let settings = self.inner.settings.load();
        Limits {
            agent: settings.section.agent_workers.max(1),
            send: settings.section.send_workers.max(1),
            per_webhook: settings.section.per_webhook_concurrency.max(1),
            per_account: settings.section.per_account_concurrency.max(1),
        }
    }

    async fn read_lines(&mut self, queue: &mut QueueRead) -> Result<Vec<DeliveryLine>, StoreError> {
        let after = self.lines_after.take();
        let was_partial = after.is_some();
        let read = self.inner.queue.read(move |conn| {
            Box::pin(async move { conn.list_delivery_lines(after.as_ref(), LINES).await })
        });
        let mut lines = read.await?;
        let is_partial = i64::try_from(lines.len()).is_ok_and(|count| count >= LINES);
        if is_partial {
            self.lines_after = lines.last().cloned();
        }
        // Sorted again, because the collation of the database may differ.
        lines.sort_by_cached_key(line_key);
        if is_partial || was_partial {
            queue.not_before(SHARED_POLL / 20);
        }
        Ok(lines)
    }

    /// Removes lines that are not due or are held.
    async fn judge(
        &self,
        lines: Vec<DeliveryLine>,
        queue: &mut QueueRead,
    ) -> Result<Vec<Candidate>, StoreError> {
        let on_hold = self.inner.live.on_hold();
        let (now, monotonic) = (self.inner.now(), self.inner.clock.monotonic_ms());
        let mut candidates = Vec::with_capacity(lines.len());
        for line in lines {
            if on_hold.contains(&line.webhook_id) {
                queue.held.push(line_key(&line));
                continue;
            }
            if line.due > now {
                queue.not_before(now.until(line.due));
                continue;
            }
            if !line.target.is_empty() && !queue.accounts.contains_key(&line.target) {
                let channels = &self.inner.channels;
                let account = channels.find_target_account(&line.target).await?;
                queue.accounts.insert(line.target.clone(), account);
            }
            let account = queue.accounts.get(&line.target).cloned().flatten();
            if account.as_ref().is_some_and(|account| !account.is_enabled) {
                continue;
            }
            let is_local = account.as_ref().is_some_and(|account| account.is_local);
            let account: Option<Arc<str>> = account
                .filter(|account| !account.is_local)
                .map(|account| account.id.into());
            let room = match account
                .as_ref()
                .map_or(Gate::Closed, |account| self.inner.gate_of(account))
            {
                Gate::Closed => usize::MAX,
                Gate::Probe => 1,
                Gate::Open(until) => {
                    if let Some(until) = until {
                        queue.not_before(Duration::from_millis(until.saturating_sub(monotonic)));
                    }
                    queue.held.push(line_key(&line));
                    continue;
                }
            };
            candidates.push(Candidate {
                line,
                account,
                is_local,
                room,
            });
        }
        Ok(candidates)
    }
}
