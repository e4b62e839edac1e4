//! The state of this crate in memory. Only [`Auth::change`] changes it together with the database. It commits
//! first, and then applies the change to memory in commit order, even if the caller has disconnected. Otherwise a
//! revoked credential could stay valid because a client disconnected.

mod facts;

use crate::audit::failures::FailureLog;
use crate::change_feed::feed::Feed;
use crate::devices::live::LiveDevice;
use crate::error::AuthError;
use crate::kdf_queue::KdfQueue;
use crate::live_credential::{LiveKey, LiveSession};
use crate::live_map::LiveMap;
use crate::only::Targets;
use crate::settings::ActiveSettings;
use crate::shared_read::SharedRead;
use crate::throttle::{Bucket, Throttle};
use crate::wrong_passwords::{Credential, WrongPasswords};
use arc_swap::ArcSwap;
pub(crate) use facts::Settled;
pub use facts::{AuthFacts, is_setup_complete};
use gatehouse_domain::{Clock, Random, Timestamp};
use gatehouse_secrets::Secrets;
use gatehouse_store::{Conn, SharedCounts, Store, SweepClock, inherit};
use sha2::{Digest, Sha256};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::OnceLock;
use tokio::sync::{Mutex, Notify, broadcast, watch};
use tokio_util::task::TaskTracker;

/// The key in the table `settings`.
pub(crate) const AUTH_DISABLED: &str = "auth_disabled";

/// A future that borrows a connection.
pub(crate) type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// Makes the compiler infer that a closure is valid for a connection of any lifetime. Needed for a closure that is
/// bound to a name before it is passed on.
pub(crate) const fn transaction<T, J>(job: J) -> J
where
    J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, AuthError>> + Send + 'static,
{
    job
}

/// The SHA-256 of the password's stored hash.
pub(crate) type PasswordMark = [u8; 32];

pub(crate) fn password_mark(stored: &str) -> PasswordMark {
    Sha256::digest(stored.as_bytes()).into()
}

/// The handle of this crate. Cheap to clone.
#[derive(Clone)]
pub struct Auth(pub(crate) Arc<AuthInner>);

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth")
            .field("facts", &self.facts())
            .finish_non_exhaustive()
    }
}

pub(crate) struct AuthInner {
    pub(crate) store: Store,
    /// A store without the reserved connection, for lists.
    pub(crate) lists: Store,
    pub(crate) secrets: Secrets,
    pub(crate) kdf: KdfQueue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: ArcSwap<ActiveSettings>,
    pub(crate) settled: ArcSwap<Settled>,
    pub(crate) sessions: LiveMap<LiveSession>,
    pub(crate) keys: LiveMap<LiveKey>,
    pub(crate) devices: LiveMap<LiveDevice>,
    pub(crate) throttle: Throttle,
    pub(crate) shared_throttle: SharedCounts<Bucket>,
    /// The clock for sweeping rows.
    pub(crate) sweep_clock: SweepClock,
    /// The shared read of the facts from the database, for facts in memory that may be outdated.
    pub(crate) facts_read: SharedRead<AuthFacts>,
    pub(crate) wrong_passwords: WrongPasswords,
    pub(crate) shared_wrong_passwords: SharedCounts<Credential>,
    pub(crate) failures: FailureLog,
    pub(crate) feed: Feed,
    /// The names that `only` can contain, once the binary has registered them.
    pub(crate) targets: OnceLock<Targets>,
    pub(crate) setup_code: watch::Sender<Option<String>>,
    pub(crate) changed: watch::Sender<u64>,
    /// Notified when `changed` gets its first receiver.
    pub(crate) first_watched: Notify,
    pub(crate) settings_changed: watch::Sender<u64>,
    pub(crate) events: broadcast::Sender<&'static str>,
    /// Subjects of other crates that another node changed.
    pub(crate) foreign: broadcast::Sender<Arc<str>>,
    /// Locked during a commit and the corresponding change of memory.
    pub(crate) changing: Mutex<()>,
    pub(crate) tasks: TaskTracker,
}

impl AuthInner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Applies the state that a transaction read. Call it only while holding `changing`.
    pub(crate) fn settle(&self, settled: &Settled) {
        self.settled.store(Arc::new(settled.clone()));
        self.setup_code.send_if_modified(|code| {
            let other = *code != settled.setup_code;
            if other {
                code.clone_from(&settled.setup_code);
            }
            other
        });
    }

    /// Notifies sockets and subscribers of a change.
    pub(crate) fn announce(&self, what: &[&'static str]) {
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
        for name in what {
            // Having no receiver is not an error.
            drop(self.events.send(name));
        }
    }
}

impl Auth {
    /// Returns the public facts, from memory.
    pub fn facts(&self) -> AuthFacts {
        self.0.settled.load().facts
    }

    /// Runs to completion even if the caller stops waiting.
    pub(crate) async fn durable<T, F>(&self, work: F) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        let task = self.0.tasks.spawn(inherit(work));
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a change did not complete");
            Err(AuthError::Internal("a change did not complete"))
        })
    }

    /// Runs one transaction and applies it to memory after the commit. Changes are applied in commit order, and to
    /// completion even if the caller disconnects.
    pub(crate) async fn change<T, J, A>(&self, job: J, apply: A) -> Result<T, AuthError>
    where
        T: Send + 'static,
        J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, AuthError>> + Send + 'static,
        A: FnOnce(&AuthInner, &T) + Send + 'static,
    {
        let auth = self.clone();
        self.durable(async move {
            let _turn = auth.0.changing.lock().await;
            let value = auth.0.store.write(job).await?;
            apply(&auth.0, &value);
            Ok(value)
        })
        .await
    }

    /// Returns a counter that increases after every change of a credential or of the state. The receiver must then
    /// call [`Auth::is_live`] again. While there is a receiver, this node reads changes of other nodes more often.
    pub fn changed(&self) -> watch::Receiver<u64> {
        let changed = self.0.changed.subscribe();
        if self.0.changed.receiver_count() == 1 {
            self.0.first_watched.notify_one();
        }
        changed
    }

    /// Returns the subjects that changed: `sessions`, `api_keys`, `devices`, `passkeys`, `password`, `setup`,
    /// `auth_disabled`.
    pub fn changes_events(&self) -> broadcast::Receiver<&'static str> {
        self.0.events.subscribe()
    }

    /// Returns changed subjects that other crates own, such as `webhooks`; `*` if anything may have changed. A
    /// receiver that lags must act as after a `*`.
    pub fn foreign_changes(&self) -> broadcast::Receiver<Arc<str>> {
        self.0.foreign.subscribe()
    }

    /// Returns a counter that increases when another node may have changed the table `settings`.
    pub fn settings_changed(&self) -> watch::Receiver<u64> {
        self.0.settings_changed.subscribe()
    }

    /// Returns the current setup code while setup is incomplete. The server prints it on its console.
    pub fn setup_code(&self) -> watch::Receiver<Option<String>> {
        self.0.setup_code.subscribe()
    }

    /// Returns the rate limits per client on this node.
    pub fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }
}
