//! Checks the configured voice providers. A server without voice also passes.

use super::Check;
use crate::Services;
use gatehouse_config::VoiceSection;
use gatehouse_domain::Problem;
use gatehouse_voice::{About, ProviderId, SttId, TtsId, VoiceError};

const TTS: &str = "Text-to-speech";
const STT: &str = "Speech-to-text";

/// The finding for speech synthesis or recognition.
struct VoiceFinding {
    /// [`TTS`] or [`STT`].
    feature: &'static str,
    enabled: bool,
    /// The chosen provider, with its own description if it was queried; `None` if none is configured.
    chosen: Option<String>,
    /// The first provider that lacks a setting or program, and its error.
    lack: Option<(String, VoiceError)>,
}

/// Checks speech synthesis and recognition.
pub(super) async fn voice(services: &Services) -> Check {
    let settings = &services.config.resolved().settings.voice;
    let (tts, stt) = (
        services.voice.tts_status().await,
        services.voice.stt_status().await,
    );
    let speaking = found::<TtsId>(services, TTS, tts.enabled, &tts.provider, &settings.tts).await;
    let listening = found::<SttId>(services, STT, stt.enabled, &stt.provider, &settings.stt).await;
    finding(speaking, listening)
}

async fn found<Id: ProviderId>(
    services: &Services,
    feature: &'static str,
    enabled: bool,
    chosen: &str,
    settings: &VoiceSection,
) -> VoiceFinding {
    let mut found = VoiceFinding {
        feature,
        enabled,
        chosen: None,
        lack: None,
    };
    let others = settings.fallback.iter().filter_map(|id| Id::find(id));
    for id in Id::find(chosen).into_iter().chain(others) {
        let About { label, .. } = id.about();
        found.ask((*label).to_owned(), services.voice.check(id).await);
    }
    found
}

impl VoiceFinding {
    /// Records a provider. The first call sets the chosen provider. Only the first problem is kept.
    fn ask(&mut self, name: String, checked: Result<Option<String>, VoiceError>) {
        let chosen = match checked {
            Ok(Some(has)) => format!("{name}: {has}"),
            Ok(None) => name,
            Err(lack) => {
                self.lack.get_or_insert((name.clone(), lack));
                name
            }
        };
        self.chosen.get_or_insert(chosen);
    }

    fn sentence(&self) -> String {
        let feature = self.feature;
        match &self.chosen {
            _ if !self.enabled => format!("{feature} is off."),
            None => format!("{feature} has no configured provider."),
            Some(chosen) => format!("{feature} uses {chosen}."),
        }
    }
}

fn finding(speaking: VoiceFinding, listening: VoiceFinding) -> Check {
    let message = format!("{} {}", speaking.sentence(), listening.sentence());
    for found in [speaking, listening] {
        if let (true, Some((name, lack))) = (found.enabled, found.lack) {
            let message = format!("{message} {name} cannot be used: {lack}.");
            return Check::bad("voice", message, Problem::from(lack).message);
        }
    }
    Check::fine("voice", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(feature: &'static str, asked: Vec<(&str, bool)>) -> VoiceFinding {
        let mut found = VoiceFinding {
            feature,
            enabled: true,
            chosen: None,
            lack: None,
        };
        for (name, works) in asked {
            let lack = VoiceError::NotConfigured {
                what: format!("{name}.model_path"),
                hint: "Set it.".to_owned(),
            };
            let has = (name == "x").then(|| "its voices".to_owned());
            found.ask(name.to_owned(), if works { Ok(has) } else { Err(lack) });
        }
        found
    }

    #[test]
    fn the_chosen_are_named_and_so_is_what_they_lack() {
        let nobody = finding(found(TTS, vec![]), found(STT, vec![]));
        assert!(
            nobody.ok
                && nobody
                    .message
                    .contains("Speech-to-text has no configured provider.")
        );
        let fine = finding(
            found(TTS, vec![("a", true), ("b", true)]),
            found(STT, vec![]),
        );
        assert!(
            fine.ok && fine.message.contains("Text-to-speech uses a."),
            "{fine:?}"
        );
        let lacks = vec![("a", true), ("b", false), ("c", false)];
        let bad = finding(found(TTS, vec![("x", true)]), found(STT, lacks));
        assert!(
            !bad.ok && bad.message.contains("Speech-to-text uses a."),
            "{bad:?}"
        );
        assert!(
            bad.message
                .ends_with("b cannot be used: b.model_path is not configured."),
            "{bad:?}"
        );
        assert!(
            bad.message.contains("Text-to-speech uses x: its voices."),
            "{bad:?}"
        );
        assert_eq!(bad.hint.as_deref(), Some("Set it."));
        let mut off = found(TTS, vec![("a", false)]);
        off.enabled = false;
        let off = finding(off, found(STT, vec![]));
        assert!(
            off.ok && off.message.starts_with("Text-to-speech is off."),
            "{off:?}"
        );
    }
}
