//! The accounts in memory, with their secrets while the vault is unlocked. Sending a message reads nothing from the
//! database.
//!
//! The whole cache is dropped when an account, the vault or the vault's status changes. The next message loads it
//! again. In this process, a lookup that begins after a change was acknowledged returns that change, because the
//! notification is sent before the acknowledgement. [`Channels::forget_accounts`] applies changes of other nodes.

use crate::account::built_in;
use crate::error::Failure;
use crate::handle::{Channels, Inner};
use crate::senders::{self, About};
use crate::target::{OpenAccount, StoredAccount};
use gatehouse_secrets::{Secrets, Status};
use gatehouse_store::{ChannelSecretRow, Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{OnceCell, broadcast, watch};

/// A stored account. Its secrets are opened by the first message that needs them.
pub(crate) struct LiveAccount {
    pub(crate) found: StoredAccount,
    opened: OnceCell<Arc<OpenAccount>>,
}

impl LiveAccount {
    fn of(found: StoredAccount) -> Arc<Self> {
        Arc::new(Self {
            found,
            opened: OnceCell::new(),
        })
    }

    /// Returns the account with its secrets. Failures are not cached.
    pub(crate) async fn open(&self, inner: &Inner) -> Result<Arc<OpenAccount>, Failure> {
        let opened = self.opened.get_or_try_init(|| async {
            let opened = inner.open_account(self.found.clone()).await;
            opened.map(Arc::new)
        });
        let account = opened.await.map(Arc::clone)?;
        inner.note_use(&account);
        Ok(account)
    }
}

/// All accounts.
#[derive(Default)]
pub(crate) struct LiveAccounts {
    by_id: HashMap<String, Arc<LiveAccount>>,
    /// The default account of each type that has one.
    defaults: HashMap<&'static str, Arc<LiveAccount>>,
}

impl LiveAccounts {
    pub(crate) fn find(&self, id: &str) -> Option<&Arc<LiveAccount>> {
        self.by_id.get(id)
    }

    /// Returns the built-in account of a type; otherwise its oldest enabled account; otherwise its oldest
    /// account.
    pub(crate) fn default_of(&self, about: &About) -> Option<&Arc<LiveAccount>> {
        self.defaults.get(about.kind)
    }

    /// Returns all accounts, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<LiveAccount>> {
        self.by_id.values()
    }

    /// Adds an account. Accounts must be added oldest first.
    fn put(&mut self, account: &Arc<LiveAccount>) {
        let (kind, row) = (account.found.sender.about().kind, &account.found.row);
        self.by_id.insert(row.id.clone(), Arc::clone(account));
        let better = |known: &Arc<LiveAccount>| !known.found.row.enabled && row.enabled;
        if self.defaults.get(kind).is_none_or(better) {
            self.defaults.insert(kind, Arc::clone(account));
        }
    }

    async fn read(store: &Store) -> Result<Self, StoreError> {
        let read = store.read(|conn| {
            Box::pin(async move {
                let rows = conn.list_channel_accounts().await?;
                Ok::<_, StoreError>((rows, conn.list_channel_secrets().await?))
            })
        });
        let (rows, secret_rows) = read.await?;
        let mut secrets: HashMap<String, Vec<ChannelSecretRow>> = HashMap::new();
        for row in secret_rows {
            secrets.entry(row.account_id.clone()).or_default().push(row);
        }
        let mut all = Self::default();
        let own = senders::ALL.iter().filter_map(|it| built_in(it.about()));
        for row in own.chain(rows) {
            let Some(sender) = senders::find(&row.kind) else {
                tracing::error!(account = row.id, "a channel of an unknown type is ignored");
                continue;
            };
            let secrets = secrets.remove(&row.id).unwrap_or_default();
            all.put(&LiveAccount::of(StoredAccount {
                sender,
                row,
                secrets,
            }));
        }
        Ok(all)
    }
}

/// The cached accounts and the receivers that report when they are out of date.
struct State {
    accounts: Option<Arc<LiveAccounts>>,
    changes: broadcast::Receiver<Arc<str>>,
    status: watch::Receiver<Status>,
    /// The number of times that the cache was dropped.
    drops: u64,
}

impl State {
    /// Drops the accounts if something changed since the last call.
    fn follow(&mut self) {
        let mut stale = self.status.has_changed().unwrap_or(false);
        self.status.mark_unchanged();
        loop {
            match self.changes.try_recv() {
                Ok(subject) => stale |= matches!(&*subject, "channels" | "vault" | "*"),
                Err(TryRecvError::Lagged(_)) => stale = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        if stale {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.accounts = None;
        self.drops = self.drops.wrapping_add(1);
    }
}

/// The cache of accounts.
pub(crate) struct Live(Mutex<State>);

impl Live {
    pub(crate) fn new(store: &Store, secrets: &Secrets) -> Self {
        Self(Mutex::new(State {
            accounts: None,
            changes: store.changes(),
            status: secrets.subscribe_status(),
            drops: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Returns the current accounts, loaded from the database if they are not cached.
    pub(crate) async fn live_accounts(&self) -> Result<Arc<LiveAccounts>, StoreError> {
        let drops = {
            let mut state = self.live.lock();
            state.follow();
            if let Some(accounts) = &state.accounts {
                return Ok(Arc::clone(accounts));
            }
            state.drops
        };
        let read = Arc::new(LiveAccounts::read(&self.store).await?);
        let mut state = self.live.lock();
        state.follow();
        // A change made during the load may be missing from the result.
        if state.drops == drops {
            state.accounts = Some(Arc::clone(&read));
        }
        Ok(read)
    }
}

impl Channels {
    /// Drops the accounts and their secrets from memory. The next message loads them again. Call this when the vault is
    /// sealed and when another node has changed accounts (subjects `channels` and `vault` of the change feed).
    pub fn forget_accounts(&self) {
        self.0.live.lock().forget();
    }
}
