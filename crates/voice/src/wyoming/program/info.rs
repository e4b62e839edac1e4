//! `describe`: the voices and the models of a program.

use super::connect::{connect, invalid};
use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::resources::Resources;
use crate::speech::OfferedVoice;
use crate::wyoming::event::Event;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// The maximum time for a description. Programs answer from memory.
const LIMIT: Duration = Duration::from_secs(10);

/// The services of a program. If a request names no service, the first one of that kind answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Info {
    pub(super) asr: Vec<Service>,
    pub(super) tts: Vec<Service>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) version: Option<String>,
    /// Fields of a service that transcribes.
    #[serde(default)]
    pub(super) models: Vec<Artifact>,
    /// Fields of a service that speaks.
    #[serde(default)]
    pub(super) voices: Vec<Artifact>,
}

/// A model or a voice.
#[derive(Debug, Deserialize)]
pub(super) struct Artifact {
    pub(super) name: String,
    description: Option<String>,
    #[serde(default)]
    pub(super) languages: Vec<String>,
    speakers: Option<Vec<Speaker>>,
}

#[derive(Debug, Deserialize)]
struct Speaker {
    name: String,
}

/// Requests the description of a program.
pub(super) async fn describe(
    resources: &Resources,
    id: &'static str,
    address: &Url,
) -> Result<Info, VoiceError> {
    let limit = LIMIT.min(resources.timeouts.answer);
    let (mut requests, mut answers) = connect(resources, id, address, limit).await?;
    requests.send(&Event::new("describe", Value::Null)).await?;
    loop {
        let event = answers.next(limit).await?;
        if event.kind == "info" {
            let info = serde_json::from_value(Value::Object(event.data));
            return info.map_err(|_| invalid(id));
        }
    }
}

/// Returns the voices of a program and their speakers. Returns none for other kinds of servers, which have no such
/// list.
pub(crate) async fn voices(
    resources: &Resources,
    id: &'static str,
    endpoint: &Endpoint,
) -> Result<Vec<OfferedVoice>, VoiceError> {
    let Some(address) = endpoint.wyoming() else {
        return Ok(Vec::new());
    };
    let info = describe(resources, id, address).await?;
    let service = info.tts.into_iter().next();
    let voices = service.into_iter().flat_map(|service| service.voices);
    Ok(voices.flat_map(Artifact::offered).collect())
}

impl Artifact {
    /// Returns the voice, and `VOICE#SPEAKER` for each speaker.
    fn offered(self) -> Vec<OfferedVoice> {
        let name = self.description.filter(|text| !text.trim().is_empty());
        let name = name.unwrap_or_else(|| self.name.clone());
        let speakers = self.speakers.into_iter().flatten();
        let speakers = speakers.map(|speaker| OfferedVoice {
            id: format!("{}#{}", self.name, speaker.name),
            name: format!("{name}, {}", speaker.name),
        });
        let mut offered: Vec<OfferedVoice> = speakers.collect();
        let id = self.name;
        offered.insert(0, OfferedVoice { id, name });
        offered
    }
}
