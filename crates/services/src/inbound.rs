//! Conversations of paired people with agents through channels.
//!
//! A receiver per account stores messages ([`receiver`]). Each stored message becomes an agent's turn, whose answer is
//! sent to the conversation that the message came from ([`answers`]). A message is stored until its answer is sent, so
//! a restart neither loses nor repeats it.

mod answers;
mod content;
mod pictures;
mod quotes;
mod receiver;
mod voice;

use crate::Services;
use gatehouse_channels::InboundAccount;
use gatehouse_domain::{DeliveryId, Timestamp};
use gatehouse_store::ReceivedMessageRow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum interval between reads of the accounts, which another node may have changed.
const POLL: Duration = Duration::from_secs(15);
/// Maximum number of messages whose files are fetched and read concurrently. A message has at most 50 MiB of files.
const FETCHES: usize = 3;
/// Maximum size in MiB of the pictures that are in memory to be sent. An answer has at most four of at most 25 MiB.
const PICTURES_MIB: u32 = 100;

/// Returns the ID of the message. A retry with the same ID continues its turn.
pub(crate) fn message_id(message: &ReceivedMessageRow) -> DeliveryId {
    DeliveryId::from_text(format!(
        "inbound:{}:{}",
        message.account_id, message.message_id
    ))
}

/// The shared state of receivers and answers.
struct Inbound {
    services: Arc<Services>,
    /// The ID of this process among those on the same database.
    node: String,
    shutdown: CancellationToken,
    tasks: TaskTracker,
    /// Notified when messages may wait for an answer.
    arrived: Notify,
    /// Permits to fetch the files of a message.
    fetches: Semaphore,
    /// Permits to have pictures in memory, one per MiB.
    pictures: Semaphore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The accounts whose messages this node answers.
    own: HashSet<String>,
    /// The keys of the sessions that are being answered.
    busy: HashSet<String>,
}

/// A running receiver.
struct Running {
    updated_at: Timestamp,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Services {
    /// Receives and answers messages for the accounts with `inbound`, until `shutdown`. An answer in progress at
    /// that time is still sent.
    pub fn receive_messages(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let node: [u8; 8] = self.random.bytes();
        let inbound = Arc::new(Inbound {
            services: Arc::clone(self),
            node: format!("{:016x}", u64::from_be_bytes(node)),
            shutdown,
            tasks: tasks.clone(),
            arrived: Notify::new(),
            fetches: Semaphore::new(FETCHES),
            pictures: Semaphore::new(PICTURES_MIB as usize),
            state: Mutex::default(),
        });
        tasks.spawn(Arc::clone(&inbound).answer_messages());
        tasks.spawn(inbound.keep_receivers());
    }
}

impl Inbound {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one receiver per account, and replaces it when the account changes.
    async fn keep_receivers(self: Arc<Self>) {
        let mut changes = self.services.store.changes();
        let mut running: HashMap<String, Running> = HashMap::new();
        loop {
            match self.services.channels.inbound_accounts().await {
                Ok(accounts) => self.follow(&mut running, accounts).await,
                Err(error) => {
                    tracing::warn!(%error, "the channels could not be read");
                }
            }
            let waited = tokio::time::timeout(POLL, changed(&mut changes));
            if self.shutdown.run_until_cancelled(waited).await.is_none() {
                break;
            }
        }
        self.follow(&mut running, Vec::new()).await;
    }

    async fn follow(
        self: &Arc<Self>,
        running: &mut HashMap<String, Running>,
        accounts: Vec<InboundAccount>,
    ) {
        let is_current = |id: &String, receiver: &Running| {
            let same = |it: &InboundAccount| it.id == *id && it.updated_at == receiver.updated_at;
            accounts.iter().any(same) && !receiver.task.is_finished()
        };
        let outdated: Vec<String> = running
            .iter()
            .filter(|(id, receiver)| !is_current(id, receiver))
            .map(|(id, _)| id.clone())
            .collect();
        for id in outdated {
            if let Some(receiver) = running.remove(&id) {
                receiver.stop.cancel();
                // The old task must have ended: two concurrent requests for the same updates would conflict.
                drop(receiver.task.await);
                self.release(&id).await;
            }
        }
        for account in accounts {
            let stop = self.shutdown.child_token();
            let updated_at = account.updated_at;
            running.entry(account.id.clone()).or_insert_with(|| {
                let work = receiver::receive(Arc::clone(self), account);
                let work = stop.clone().run_until_cancelled_owned(work);
                let task = self.tasks.spawn(async move {
                    work.await;
                });
                Running {
                    updated_at,
                    stop,
                    task,
                }
            });
        }
    }

    /// Releases the account to other nodes.
    async fn release(&self, account: &str) {
        self.state().own.remove(account);
        let channels = &self.services.channels;
        if let Err(error) = channels.release_poll(account, &self.node).await {
            tracing::warn!(%error, account, "a channel could not be released for other nodes");
        }
    }
}

/// Waits until a channel may have changed.
async fn changed(changes: &mut Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) if matches!(&*subject, "channels" | "*") => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}
