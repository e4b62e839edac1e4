//! Compares the settings with the models, voices and languages of a program.

use super::connect::in_one_line;
use super::info::{Artifact, Service, describe};
use super::voice_and_speaker;
use crate::VoiceError;
use crate::provider::ProviderSettings;
use crate::resources::Resources;
use url::Url;

/// How many names are listed.
const MAX_LISTED: usize = 5;
/// The longest name that is shown, in characters.
const MAX_NAME: usize = 60;

/// Describes the program for people, such as "piper 2.5.2 with the voices a, b (en, de)".
///
/// # Errors
/// Fails if the program cannot be reached, does not speak or transcribe, or lacks the configured model, voice or
/// language.
pub(crate) async fn check(
    resources: &Resources,
    (section, id): (&str, &'static str),
    address: &Url,
    settings: &ProviderSettings,
) -> Result<String, VoiceError> {
    let info = describe(resources, id, address).await?;
    let speaks = section == "tts";
    let (services, noun) = if speaks {
        (info.tts, "voice")
    } else {
        (info.asr, "model")
    };
    let Some(service) = services.into_iter().next() else {
        let reason = if speaks {
            "is a program that does not speak"
        } else {
            "is a program that does not transcribe"
        };
        return Err(VoiceError::failed(id, reason, false));
    };
    let all = if speaks {
        &service.voices
    } else {
        &service.models
    };
    let key = |name: &str| format!("voice.{section}.{id}.{name}");
    let used = match &settings.model {
        None => all.first(),
        Some(model) => {
            let (name, _) = voice_and_speaker(model);
            let found = all.iter().find(|one| one.name == name);
            Some(found.ok_or_else(|| {
                let (key, names) = (key("model"), names(all));
                let hint = format!("`{key}` is not a {noun} of the program, which has {names}.");
                VoiceError::not_configured(key, hint)
            })?)
        }
    };
    if let (Some(language), Some(used)) = (&settings.language, used)
        && !used.knows(language)
    {
        let (key, languages) = (key("language"), listed(used.languages.iter()));
        let hint = format!("`{key}` is not a language of the {noun}, which has {languages}.");
        return Err(VoiceError::not_configured(key, hint));
    }
    Ok(described(&service, noun, all))
}

impl Artifact {
    /// Returns whether the program has the language, in any spelling of the region. Returns true if the program lists
    /// no languages.
    fn knows(&self, language: &str) -> bool {
        let short = |text: &str| {
            let first = text.split(['-', '_']).next().unwrap_or_default();
            first.to_ascii_lowercase()
        };
        let mut languages = self.languages.iter();
        self.languages.is_empty() || languages.any(|one| short(one) == short(language))
    }
}

fn described(service: &Service, noun: &str, all: &[Artifact]) -> String {
    let version = service.version.as_deref().unwrap_or_default();
    let name = in_one_line(&format!("{} {version}", service.name), MAX_NAME);
    let plural = if all.len() == 1 { "" } else { "s" };
    let mut languages: Vec<&String> = all.iter().flat_map(|one| &one.languages).collect();
    languages.sort_unstable();
    languages.dedup();
    let languages = match languages.len() {
        0 => String::new(),
        _ => format!(" ({})", listed(languages.into_iter())),
    };
    format!("{name} with the {noun}{plural} {}{languages}", names(all))
}

fn names(all: &[Artifact]) -> String {
    listed(all.iter().map(|one| &one.name))
}

/// Returns the first few names, and the number of names that follow.
fn listed<'a>(mut all: impl ExactSizeIterator<Item = &'a String>) -> String {
    let first = all.by_ref().take(MAX_LISTED);
    let first: Vec<String> = first.map(|name| in_one_line(name, MAX_NAME)).collect();
    match (first.as_slice(), all.len()) {
        ([], _) => "none".to_owned(),
        (_, 0) => first.join(", "),
        (_, more) => format!("{} and {more} more", first.join(", ")),
    }
}
