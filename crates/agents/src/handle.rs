//! The handle of the agents crate: opening, settings, events and shutdown. Other modules add the operations
//! to the same type.

mod settings;

use crate::agent::{Agent, AgentConfig, DEFAULT_AGENT};
use crate::approvals::question::Approvals;
use crate::budget_values::BudgetWarning;
use crate::error::AgentsError;
use crate::event::{self, AgentEvent};
use crate::gone::GoneWatch;
use crate::lanes::Lanes;
use crate::model_call::running::ModelCalls;
use crate::registry::ToolRegistry;
use crate::speaker::{AudioParts, Speaker};
use crate::speeches::Speeches;
use crate::turn::left_out::LeftOut;
use crate::usage::ModelLabels;
use arc_swap::ArcSwap;
use data_encoding::HEXLOWER;
use gatehouse_domain::id::{MessageId, SessionId};
use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Clock, Random};
use gatehouse_models::Models;
use gatehouse_store::{Store, SweepClock};
pub use settings::AgentsSettings;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time in which stopped turns must store their results.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(5);

/// The dependencies of the agents crate.
#[derive(Debug)]
pub struct AgentsParts {
    pub store: Store,
    pub models: Models,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub tracer: Tracer,
}

/// Agents and their conversations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Agents(pub(crate) Arc<Inner>);

/// The state that all operations share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) models: Models,
    /// The ID of this process among the processes on the same database.
    pub(crate) node: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) tracer: Tracer,
    pub(crate) settings: ArcSwap<AgentsSettings>,
    pub(crate) tools: ToolRegistry,
    pub(crate) left_out: LeftOut,
    pub(crate) speaker: OnceLock<Arc<dyn Speaker>>,
    pub(crate) lanes: Lanes,
    pub(crate) gone: GoneWatch,
    pub(crate) speeches: Speeches,
    pub(crate) approvals: Approvals,
    /// Locked while an approval stores its rule.
    pub(crate) remembering: tokio::sync::Mutex<()>,
    pub(crate) model_calls: ModelCalls,
    pub(crate) model_labels: ModelLabels,
    pub(crate) tasks: TaskTracker,
    pub(crate) sweep_clock: SweepClock,
    /// Canceled when no more turns are accepted.
    pub(crate) stopping: CancellationToken,
    events: broadcast::Sender<AgentEvent>,
}

impl Inner {
    /// Sends an event. It is not an error if there are no listeners.
    pub(crate) fn publish(&self, event: AgentEvent) {
        drop(self.events.send(event));
    }

    /// Returns the parts of a spoken answer, which become events.
    pub(crate) fn audio_parts(
        &self,
        session: SessionId,
        message: MessageId,
        is_published: bool,
    ) -> Arc<AudioParts> {
        let events = self.events.clone();
        Arc::new(AudioParts::new(events, session, message, is_published))
    }

    pub(crate) fn publish_warnings(&self, warnings: Vec<BudgetWarning>) {
        for warning in warnings {
            tracing::warn!(
                scope = warning.budget.scope,
                "80 % or more of a budget is used"
            );
            self.publish(AgentEvent::BudgetWarning(Arc::new(warning)));
        }
    }
}

impl Agents {
    /// Opens the crate and creates the agent `default` if it does not exist.
    pub async fn open(parts: AgentsParts, settings: AgentsSettings) -> Result<Self, AgentsError> {
        let inner = Inner {
            store: parts.store,
            node: HEXLOWER.encode(&parts.random.bytes::<16>()),
            models: parts.models,
            clock: parts.clock,
            random: parts.random,
            tracer: parts.tracer,
            settings: ArcSwap::from_pointee(settings),
            tools: ToolRegistry::default(),
            left_out: LeftOut::default(),
            speaker: OnceLock::new(),
            lanes: Lanes::default(),
            gone: GoneWatch::default(),
            speeches: Speeches::default(),
            approvals: Approvals::default(),
            remembering: tokio::sync::Mutex::default(),
            model_calls: ModelCalls::default(),
            model_labels: ModelLabels::default(),
            tasks: TaskTracker::new(),
            sweep_clock: SweepClock::default(),
            stopping: CancellationToken::new(),
            events: broadcast::Sender::new(event::QUEUE),
        };
        make_default_agent(&inner).await?;
        Ok(Self(Arc::new(inner)))
    }

    /// Applies new settings to later tool calls and turns.
    pub fn update_settings(&self, settings: AgentsSettings) {
        self.0.settings.store(Arc::new(settings));
    }

    /// Returns the registry of tools that turns may be offered.
    pub fn tools(&self) -> &ToolRegistry {
        &self.0.tools
    }

    /// Registers the speaker of answers. Only one is possible; a second one is refused with a log entry.
    pub fn register_speaker(&self, speaker: Arc<dyn Speaker>) {
        if self.0.speaker.set(speaker).is_err() {
            tracing::error!("a speaker is already registered; the second was ignored");
        }
    }

    /// Subscribes to later events. A listener that falls 1,024 events behind misses the oldest.
    pub fn subscribe(&self) -> broadcast::Receiver<AgentEvent> {
        self.0.events.subscribe()
    }

    /// Stops accepting turns and cancels those that wait in a lane or for approval. Running turns may finish
    /// within `grace` and are then stopped. Waits until they have stored their messages.
    pub async fn shutdown(&self, grace: Duration) {
        let Inner {
            lanes,
            speeches,
            model_calls,
            tasks,
            stopping,
            ..
        } = &*self.0;
        stopping.cancel();
        tasks.close();
        lanes.cancel_waiting();
        // Renewals continue during the shutdown. Otherwise, other nodes would end the turns.
        let ended = async {
            tokio::select! {
                () = tasks.wait() => {}
                () = self.0.keep_turns_alive_on() => {}
            }
        };
        if tokio::time::timeout(grace, ended).await.is_ok() {
            return;
        }
        lanes.cancel_all();
        speeches.cancel_all();
        model_calls.cancel_all();
        if tokio::time::timeout(LAST_WORDS, tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("a turn did not end in time; its last output may not be stored");
        }
    }
}

async fn make_default_agent(inner: &Inner) -> Result<(), AgentsError> {
    let now = inner.clock.now();
    let agent = Agent {
        id: DEFAULT_AGENT.to_owned(),
        name: "Default".to_owned(),
        config: AgentConfig::default(),
        budget: None,
        created_at: now,
        updated_at: now,
    };
    let row = agent.row()?;
    let write = inner.store.write(move |conn| {
        Box::pin(async move {
            if conn.find_agent(&row.id).await?.is_none() {
                conn.insert_agent(&row).await?;
            }
            Ok(())
        })
    });
    write.await
}
