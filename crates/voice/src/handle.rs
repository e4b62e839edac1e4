//! The [`Voice`] handle: opening it, its settings and its events. Other modules add the operations.

use crate::cache::Cache;
use crate::cpu::CpuPermits;
use crate::flights::Flights;
use crate::last_use::{LastUses, Setup};
use crate::persona::{PersonaEvent, Personas};
use crate::programs::{self, Programs};
use crate::provider::{ProviderId, Service};
use crate::resources::Resources;
use crate::settings::VoiceSettings;
use crate::speech::SharedStreams;
use crate::{SttId, TtsId};
use arc_swap::ArcSwap;
use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use gatehouse_store::Store;
use secrecy::SecretString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

/// The number of events that a slow subscriber may lag behind.
const EVENTS: usize = 64;
/// The longest wait for a vendor's answer to a test.
const TEST_ANSWER: Duration = Duration::from_secs(20);

/// The dependencies of [`Voice`].
#[derive(Debug)]
pub struct VoiceParts {
    pub store: Store,
    /// Contains the provider keys and encrypts the cache.
    pub secrets: Secrets,
    pub outbound: Outbound,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Records the spans of requests that belong to no other work.
    pub tracer: Tracer,
    /// The parent directory of the speech cache and the work directories of programs. No other server may use
    /// it.
    pub data_dir: PathBuf,
}

/// A handle for speech and transcription. Cheap to clone.
#[derive(Clone)]
pub struct Voice(pub(crate) Arc<Inner>);

/// The state shared by all operations.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) tracer: Tracer,
    pub(crate) cache: Arc<Cache>,
    pub(crate) flights: Flights,
    pub(crate) streams: SharedStreams,
    personas: Personas,
    persona_events: broadcast::Sender<PersonaEvent>,
    outbound: Outbound,
    /// The work directories of programs.
    workspaces: PathBuf,
    state: ArcSwap<State>,
}

/// The settings and values derived from them.
pub(crate) struct State {
    pub(crate) settings: VoiceSettings,
    pub(crate) resources: Resources,
}

impl Voice {
    /// Opens the handle. Deletes the work directories left by a killed server. Does not call any provider.
    pub fn open(parts: VoiceParts, settings: VoiceSettings) -> Self {
        let directory = parts.data_dir.join("voice-cache");
        let random = Arc::clone(&parts.random);
        let cache = Arc::new(Cache::new(parts.secrets.clone(), random, directory));
        let workspaces = parts.data_dir.join("voice-work");
        programs::empty(&workspaces);
        let with = (&parts.outbound, &parts.random, &parts.clock);
        let state = State::new(with, settings, &workspaces, None);
        let persona_events = broadcast::Sender::new(EVENTS);
        let (store, clock) = (parts.store.clone(), Arc::clone(&parts.clock));
        let personas = Personas::new(store, clock, persona_events.clone());
        Self(Arc::new(Inner {
            store: parts.store,
            secrets: parts.secrets,
            clock: parts.clock,
            random: parts.random,
            tracer: parts.tracer,
            cache,
            flights: Flights::default(),
            streams: SharedStreams::default(),
            personas,
            persona_events,
            outbound: parts.outbound,
            workspaces,
            state: ArcSwap::from_pointee(state),
        }))
    }

    /// Replaces the settings for future requests.
    pub fn update_settings(&self, settings: VoiceSettings) {
        let old = self.0.state.load_full();
        let inner = &self.0;
        let with = (&inner.outbound, &inner.random, &inner.clock);
        let new = State::new(with, settings, &inner.workspaces, Some(&old));
        inner.state.store(Arc::new(new));
    }

    /// Ends the programs that are kept between requests and waits until they have ended.
    pub async fn shutdown(&self) {
        self.state().resources.programs.warm().shutdown().await;
    }

    pub fn personas(&self) -> &Personas {
        &self.0.personas
    }

    /// Subscribes to persona changes made through this handle.
    pub fn subscribe_personas(&self) -> broadcast::Receiver<PersonaEvent> {
        self.0.persona_events.subscribe()
    }

    pub(crate) fn state(&self) -> Arc<State> {
        self.0.state.load_full()
    }
}

impl State {
    /// Keeps the old program limits and their running jobs if no program setting changed.
    fn new(
        (outbound, random, clock): (&Outbound, &Arc<dyn Random>, &Arc<dyn Clock>),
        settings: VoiceSettings,
        workspaces: &Path,
        old: Option<&Self>,
    ) -> Self {
        let kept = old.filter(|old| {
            let before = &old.settings;
            before.local_concurrency == settings.local_concurrency
                && before.child_variables == settings.child_variables
                && before.timeouts == settings.timeouts
        });
        let programs = match kept {
            Some(old) if old.keeps_programs_of(&settings) => old.resources.programs.clone(),
            Some(old) => old.resources.programs.without_kept(&settings),
            None => Programs::new(&settings, workspaces, random),
        };
        let cpu = old.map_or_else(CpuPermits::new, |old| old.resources.cpu.clone());
        let resources = Resources {
            outbound: outbound.clone(),
            cpu,
            programs,
            timeouts: settings.timeouts,
            random: Arc::clone(random),
            last_uses: old.map_or_else(
                || LastUses::new(Arc::clone(clock)),
                |old| old.resources.last_uses.clone(),
            ),
            is_test: false,
            unsaved_key: None,
        };
        Self {
            settings,
            resources,
        }
    }

    /// Returns whether the programs that are kept between requests match the settings.
    fn keeps_programs_of(&self, settings: &VoiceSettings) -> bool {
        fn same<Id: ProviderId>(old: &VoiceSettings, new: &VoiceSettings) -> bool {
            let setup = |settings: &VoiceSettings, id: &Id| {
                let provider = Id::section(settings).providers.get(id);
                provider.map(|provider| Setup::of(None, None, provider))
            };
            let is_program = |id: &&Id| matches!(id.about().service, Service::Program { .. });
            let mut programs = Id::ALL.iter().filter(is_program);
            Id::section(old).enabled == Id::section(new).enabled
                && programs.all(|id| setup(old, id) == setup(new, id))
        }
        let old = &self.settings;
        old.keep_warm == settings.keep_warm
            && same::<TtsId>(old, settings)
            && same::<SttId>(old, settings)
    }

    /// Returns a handle for testing a provider, with the same settings and limits. The test uses `unsaved_key`, or else
    /// the provider's own key.
    pub(crate) fn for_test(&self, unsaved_key: Option<SecretString>) -> Self {
        let mut resources = self.resources.clone();
        resources.is_test = true;
        resources.unsaved_key = unsaved_key;
        resources.timeouts.answer = resources.timeouts.answer.min(TEST_ANSWER);
        Self {
            settings: self.settings.clone(),
            resources,
        }
    }
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Voice").finish_non_exhaustive()
    }
}
