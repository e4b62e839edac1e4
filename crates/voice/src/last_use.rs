//! The outcome of the last request to each provider, as seen by this process.

use crate::VoiceError;
use crate::provider::ProviderSettings;
use gatehouse_domain::{Clock, Problem, Timestamp};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// The outcome of the last request to a provider with its current address, key and settings, since the start of the
/// process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastUse {
    /// When the provider had answered, or failed.
    pub at: Timestamp,
    pub ok: bool,
    /// Whether the request was a test: one spoken word, or a second of silence to transcribe.
    pub tested: bool,
    /// The error code, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The HTTP status, if the provider refused the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The error message, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The vendor's own sentence, if a test was refused for a reason other than the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_message: Option<String>,
}

/// A section of the settings, `tts` or `stt`, and the ID of a provider.
pub(crate) type ProviderName = (&'static str, &'static str);

/// The outcomes by provider.
#[derive(Clone)]
pub(crate) struct LastUses {
    clock: Arc<dyn Clock>,
    outcomes: Arc<Mutex<BTreeMap<ProviderName, (Setup, LastUse)>>>,
}

/// Identifies the address, the key and the settings of a provider. An outcome with another setup does not apply to the
/// current one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup([u8; 32]);

impl Setup {
    pub(crate) fn of(
        base_url: Option<&Url>,
        key: Option<&SecretString>,
        settings: &ProviderSettings,
    ) -> Self {
        // The pattern has no `..`, so a new setting causes a compile error here.
        let ProviderSettings {
            api_key: _,
            base_url: _,
            voice,
            model,
            language,
            speed,
            stability,
            similarity_boost,
            smart_format,
            fit_audio_context,
            binary_path,
            model_path,
            config_path,
            speaker_id,
            length_scale,
        } = settings;
        let number = |value: &Option<f64>| value.map(|value| value.to_string());
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let mut hash = Sha256::new();
        for part in [
            base_url.map(|url| url.as_str().to_owned()),
            voice.clone(),
            model.clone(),
            language.clone(),
            number(speed),
            number(stability),
            number(similarity_boost),
            smart_format.map(|flag| flag.to_string()),
            fit_audio_context.map(|flag| flag.to_string()),
            path(binary_path),
            path(model_path),
            path(config_path),
            speaker_id.map(|id| id.to_string()),
            number(length_scale),
        ] {
            add(&mut hash, part.as_deref());
        }
        add(&mut hash, key.map(ExposeSecret::expose_secret));
        Self(hash.finalize().into())
    }
}

/// The length prefix separates the parts.
fn add(hash: &mut Sha256, part: Option<&str>) {
    let length = part.map_or(u64::MAX, |part| part.len() as u64);
    hash.update(length.to_be_bytes());
    hash.update(part.unwrap_or_default());
}

impl LastUses {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            outcomes: Arc::default(),
        }
    }

    /// Records an outcome, except errors that the provider did not cause, such as an invalid
    /// request.
    pub(crate) fn record<T>(
        &self,
        provider: ProviderName,
        setup: Setup,
        tested: bool,
        ended: &Result<T, VoiceError>,
    ) {
        let outcome = match ended {
            Ok(_) => Some(self.passed(tested)),
            Err(error) => self.failed(provider, tested, error),
        };
        if let Some(outcome) = outcome {
            self.lock().insert(provider, (setup, outcome));
        }
    }

    /// Returns the outcome of a test.
    ///
    /// # Errors
    /// Returns the error if the provider did not cause it.
    pub(crate) fn of_test<T>(
        &self,
        provider: ProviderName,
        ended: Result<T, VoiceError>,
    ) -> Result<LastUse, VoiceError> {
        match ended {
            Ok(_) => Ok(self.passed(true)),
            Err(error) => self.failed(provider, true, &error).ok_or(error),
        }
    }

    /// Returns the last outcome with this setup.
    pub(crate) fn find(&self, provider: ProviderName, setup: Setup) -> Option<LastUse> {
        let outcomes = self.lock();
        let (with, outcome) = outcomes.get(&provider)?;
        (*with == setup).then(|| outcome.clone())
    }

    fn passed(&self, tested: bool) -> LastUse {
        LastUse {
            at: self.clock.now(),
            ok: true,
            tested,
            code: None,
            status: None,
            message: None,
            provider_message: None,
        }
    }

    fn failed(&self, provider: ProviderName, tested: bool, error: &VoiceError) -> Option<LastUse> {
        if !is_about(provider, error) {
            return None;
        }
        let problem = Problem::from(error.copied());
        let status = problem.details.get("status").and_then(Value::as_u64);
        let said = problem
            .details
            .get("provider_message")
            .and_then(Value::as_str);
        Some(LastUse {
            at: self.clock.now(),
            ok: false,
            tested,
            code: Some(problem.code.name()),
            status: status.and_then(|status| u16::try_from(status).ok()),
            provider_message: said.map(str::to_owned),
            message: Some(match error {
                // The message may repeat the text of the request, and readers of this outcome did not send that text.
                VoiceError::Reported { provider, .. } if !tested => {
                    format!("{provider} reported an error.")
                }
                _ => problem.message,
            }),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ProviderName, (Setup, LastUse)>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the provider caused the error, and not the request or this server's load.
fn is_about((section, provider): ProviderName, error: &VoiceError) -> bool {
    match error {
        VoiceError::Busy => false,
        VoiceError::NotConfigured { what, .. } => {
            what.starts_with(&format!("voice.{section}.{provider}."))
        }
        error => error.is_providers(),
    }
}

impl fmt::Debug for LastUses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastUses").finish_non_exhaustive()
    }
}
