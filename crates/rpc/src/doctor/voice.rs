//! Checks the configured voice providers. A server without voice also passes.

use super::Check;
use crate::rooms::Rooms;
use gatehouse_domain::Problem;
use gatehouse_voice::{SttId, TtsId, VoiceError};

/// The finding for speech synthesis or recognition.
struct Found {
    /// "speak" or "listen".
    verb: &'static str,
    enabled: bool,
    /// The chosen provider; `None` when none is configured.
    chosen: Option<String>,
    /// The first provider that lacks something, and what it lacks.
    lack: Option<(String, VoiceError)>,
}

/// Checks speech synthesis and recognition.
pub(super) async fn voice(rooms: &Rooms) -> Check {
    let settings = &rooms.config.resolved().settings.voice;
    let (tts, stt) = (
        rooms.voice.tts_status().await,
        rooms.voice.stt_status().await,
    );
    let mut speaking = Found {
        verb: "speak",
        enabled: tts.enabled,
        chosen: None,
        lack: None,
    };
    let others = settings
        .tts
        .fallback
        .iter()
        .filter_map(|id| TtsId::find(id));
    for id in TtsId::find(&tts.provider).into_iter().chain(others) {
        let name = format!("{id} ({})", id.label());
        let lack = rooms.voice.tts_lacks(id).await;
        speaking.ask(name, lack);
    }
    let mut listening = Found {
        verb: "listen",
        enabled: stt.enabled,
        chosen: None,
        lack: None,
    };
    let others = settings
        .stt
        .fallback
        .iter()
        .filter_map(|id| SttId::find(id));
    for id in SttId::find(&stt.provider).into_iter().chain(others) {
        let name = format!("{id} ({})", id.label());
        let lack = rooms.voice.stt_lacks(id).await;
        listening.ask(name, lack);
    }
    finding(speaking, listening)
}

impl Found {
    /// Records a provider. The first call sets the chosen provider; only the first problem is kept.
    fn ask(&mut self, name: String, lack: Option<VoiceError>) {
        if self.lack.is_none() {
            self.lack = lack.map(|lack| (name.clone(), lack));
        }
        self.chosen.get_or_insert(name);
    }

    fn sentence(&self) -> String {
        let verb = self.verb;
        match &self.chosen {
            _ if !self.enabled => format!("To {verb} is switched off."),
            None => format!("Nobody is configured to {verb}."),
            Some(chosen) => format!("Chosen to {verb}: {chosen}."),
        }
    }
}

fn finding(speaking: Found, listening: Found) -> Check {
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

    fn found(verb: &'static str, asked: Vec<(&str, bool)>) -> Found {
        let mut found = Found {
            verb,
            enabled: true,
            chosen: None,
            lack: None,
        };
        for (name, works) in asked {
            let lack = VoiceError::NotConfigured {
                what: format!("{name}.model_path"),
                hint: "Set it.".to_owned(),
            };
            found.ask(name.to_owned(), (!works).then_some(lack));
        }
        found
    }

    #[test]
    fn the_chosen_are_named_and_so_is_what_they_lack() {
        let nobody = finding(found("speak", vec![]), found("listen", vec![]));
        assert!(nobody.ok && nobody.message.contains("Nobody is configured to listen"));
        let fine = finding(
            found("speak", vec![("a", true), ("b", true)]),
            found("listen", vec![]),
        );
        assert!(
            fine.ok && fine.message.contains("Chosen to speak: a."),
            "{fine:?}"
        );
        let lacks = vec![("a", true), ("b", false), ("c", false)];
        let bad = finding(found("speak", vec![("x", true)]), found("listen", lacks));
        assert!(
            !bad.ok && bad.message.contains("Chosen to listen: a."),
            "{bad:?}"
        );
        assert!(
            bad.message
                .ends_with("b cannot be used: b.model_path is not configured."),
            "{bad:?}"
        );
        assert_eq!(bad.hint.as_deref(), Some("Set it."));
        let mut off = found("speak", vec![("a", false)]);
        off.enabled = false;
        let off = finding(off, found("listen", vec![]));
        assert!(
            off.ok && off.message.starts_with("To speak is switched off."),
            "{off:?}"
        );
    }
}
