//! The content of a vendor's request in a form common to all vendors.

use crate::vendor::fake_server::ReceivedRequest;
use crate::vendor::program::Run;
use serde_json::Value;

/// The content of a request, with the same fields for all vendors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentRequest {
    pub text: String,
    /// The API name of the format. `None` if the request contains no format.
    pub format: Option<String>,
    pub voice: Option<String>,
    pub model: Option<String>,
    pub language: Option<String>,
    pub instructions: Option<String>,
    pub speed: Option<f64>,
    pub stability: Option<f64>,
    pub similarity_boost: Option<f64>,
    pub pitch: Option<f64>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl SentRequest {
    pub fn to_elevenlabs(seen: &ReceivedRequest) -> Self {
        let body = seen.json();
        let settings = &body["voice_settings"];
        Self {
            text: text(&body["text"]).unwrap_or_default(),
            format: seen
                .query
                .iter()
                .find(|(name, _)| name == "output_format")
                .map(|(_, value)| {
                    // `mp3_44100_128`
                    let kind = value.split('_').next();
                    kind.unwrap_or_default().to_owned()
                }),
            voice: seen.path.split('/').nth(3).map(str::to_owned),
            model: text(&body["model_id"]),
            speed: settings["speed"].as_f64(),
            stability: settings["stability"].as_f64(),
            similarity_boost: settings["similarity_boost"].as_f64(),
            ..Self::default()
        }
    }

    pub fn to_openai(seen: &ReceivedRequest) -> Self {
        let body = seen.json();
        Self {
            text: text(&body["input"]).unwrap_or_default(),
            format: text(&body["response_format"]),
            voice: text(&body["voice"]),
            model: text(&body["model"]),
            instructions: text(&body["instructions"]),
            speed: body["speed"].as_f64(),
            ..Self::default()
        }
    }

    pub fn to_google(seen: &ReceivedRequest) -> Self {
        let body = seen.json();
        Self {
            text: text(&body["input"]["text"]).unwrap_or_default(),
            format: text(&body["audioConfig"]["audioEncoding"]).map(|encoding| {
                let name = match encoding.as_str() {
                    "LINEAR16" => "wav",
                    "OGG_OPUS" => "opus",
                    "MP3" => "mp3",
                    other => panic!("{other}"),
                };
                name.to_owned()
            }),
            voice: text(&body["voice"]["name"]),
            language: text(&body["voice"]["languageCode"]),
            speed: body["audioConfig"]["speakingRate"].as_f64(),
            pitch: body["audioConfig"]["pitch"].as_f64(),
            ..Self::default()
        }
    }

    pub fn to_coqui(seen: &ReceivedRequest) -> Self {
        let parameter = |name: &str| {
            let found = seen.query.iter().find(|(it, _)| it == name);
            found.map(|(_, value)| value.clone())
        };
        Self {
            text: parameter("text").unwrap_or_default(),
            // The only format.
            format: Some("wav".to_owned()),
            voice: parameter("speaker_id"),
            model: parameter("model_name"),
            language: parameter("language_id"),
            ..Self::default()
        }
    }

    pub fn to_piper(run: &Run) -> Self {
        let scale = run.option("--length_scale");
        Self {
            text: run.stdin.clone(),
            speed: scale.map(|scale| 1.0 / scale.parse::<f64>().unwrap()),
            ..Self::default()
        }
    }
}
