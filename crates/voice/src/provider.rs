//! The providers: their IDs, and the vendor names accepted as aliases.

use crate::VoiceError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines an enum of providers with a table of IDs, aliases and labels.
macro_rules! providers {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $each:literal])+ $variant:ident = $id:literal, $alias:literal, $label:literal;)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[doc = $each])+ #[serde(rename = $id)] $variant,)+
        }

        impl $name {
            /// All providers, in the order in which the first configured one is chosen.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The provider's ID.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id),+ }
            }

            /// The vendor's name, accepted in place of the ID.
            pub const fn alias(self) -> &'static str {
                match self { $(Self::$variant => $alias),+ }
            }

            /// The display name.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// The provider with this ID or alias.
            pub fn find(name: &str) -> Option<Self> {
                let is_it = |id: &Self| id.as_str() == name || id.alias() == name;
                Self::ALL.iter().copied().find(is_it)
            }

            /// Like `find`, for the caller's input in `field`.
            pub fn parse(field: &str, name: &str) -> Result<Self, VoiceError> {
                Self::find(name).ok_or_else(|| {
                    let all: Vec<&str> = Self::ALL.iter().map(|id| id.as_str()).collect();
                    VoiceError::invalid(field, format!("expected one of {}", all.join(", ")))
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

providers! {
    /// A text-to-speech provider.
    TtsId {
        /// Hosted; voices are selected by ID.
        ElevenLabs = "tts_cloud_1", "elevenlabs", "ElevenLabs";
        /// Hosted, or a compatible server.
        OpenAi = "tts_cloud_2", "openai", "OpenAI";
        /// Hosted.
        Google = "tts_cloud_3", "google", "Google Cloud";
        /// A local program.
        Piper = "tts_local_1", "piper", "Piper";
        /// A self-hosted server.
        Coqui = "tts_local_2", "coqui", "Coqui";
    }
}

providers! {
    /// A speech-to-text provider.
    SttId {
        /// Whisper and its successors: hosted, or a compatible server.
        OpenAi = "stt_cloud_1", "whisper", "OpenAI";
        /// Hosted.
        Groq = "stt_cloud_2", "groq", "Groq";
        /// Hosted.
        Deepgram = "stt_cloud_3", "deepgram", "Deepgram";
        /// Hosted.
        Google = "stt_cloud_4", "google", "Google Cloud";
        /// Hosted.
        Mistral = "stt_cloud_5", "mistral", "Mistral";
        /// Voxtral on a self-hosted server.
        Voxtral = "stt_local_1", "voxtral-local", "Voxtral (local)";
        /// A local program.
        WhisperCli = "stt_local_2", "whisper-cli", "whisper.cpp";
        /// A local program.
        SherpaOnnx = "stt_local_3", "sherpa-onnx", "sherpa-onnx";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_aliases_name_one_provider_each() {
        let mut names = std::collections::HashSet::new();
        for id in TtsId::ALL {
            assert!(names.insert(id.as_str()) && names.insert(id.alias()));
            assert_eq!(TtsId::find(id.alias()), Some(*id));
        }
        names.clear();
        for id in SttId::ALL {
            assert!(names.insert(id.as_str()) && names.insert(id.alias()));
            assert_eq!(SttId::find(id.as_str()), Some(*id));
        }
        assert_eq!(TtsId::find("Piper"), None);
        assert!(TtsId::parse("provider", "stt_cloud_1").is_err());
    }
}
