//! The `speak` tool, with which an agent says something aloud in its conversation.

use crate::session_audio::NewAudio;
use crate::speech::SpeechRequest;
use crate::{Voice, VoiceError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Agents, Audience, Effect, Tool, ToolContext, ToolError};
use gatehouse_domain::Problem;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
struct Speak(Voice);

#[derive(Deserialize)]
struct Input {
    text: String,
    persona: Option<String>,
}

impl Tool for Speak {
    fn name(&self) -> &'static str {
        "speak"
    }

    fn description(&self) -> &'static str {
        "Says a text aloud to the person in this conversation. The audio appears beside the answer; \
         the text need not be repeated."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "description": "The text to speak."},
                "persona": {
                    "type": "string",
                    "description": "The ID of the persona that speaks. Defaults to the active \
                                    persona."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        })
    }

    fn audience(&self) -> Audience {
        Audience::Trusted
    }

    fn reads_strangers(&self) -> bool {
        false
    }

    fn returns_private(&self, _: &Value) -> bool {
        false
    }

    fn effect(&self, _input: &Value, _has_private: bool) -> Effect {
        Effect::Spend
    }

    fn time_limit(&self) -> Duration {
        Duration::from_mins(5)
    }

    fn audio_of(&self, output: &str) -> Option<String> {
        let said: Value = serde_json::from_str(output).ok()?;
        Some(said.get("audio_id")?.as_str()?.to_owned())
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.say(context, input).boxed()
    }
}

impl Speak {
    async fn say(&self, context: &ToolContext, input: Value) -> Result<String, ToolError> {
        let tool_error = |error: VoiceError| ToolError::new(Problem::from(error).message);
        let Input { text, persona } = serde_json::from_value(input)
            .map_err(|_| ToolError::new("The input must have a `text`."))?;
        let wanted = persona.filter(|id| !id.is_empty());
        let persona = self.0.chosen_by_model(wanted.as_deref(), None).await;
        let persona = persona.map_err(tool_error)?;
        let ignored = wanted.filter(|id| persona.as_ref() != Some(id));
        let request = SpeechRequest {
            persona,
            ..SpeechRequest::new(text.as_str())
        };
        let spoken = self.0.convert(request).await.map_err(tool_error)?;
        let new = NewAudio {
            session: context.session.clone(),
            is_inbound: false,
            format: spoken.format.as_str(),
            mime_type: spoken.format.mime_type(),
            duration_ms: spoken.duration_ms,
            transcript: Some(text),
            data: spoken.audio,
        };
        let id = self.0.store_audio(new).await.map_err(tool_error)?;
        let answer = json!({
            "audio_id": id,
            "url": format!("/api/sessions/{}/audio/{id}", context.session),
            "duration_ms": spoken.duration_ms,
            "provider": spoken.provider,
            "persona": spoken.persona,
            "warning": ignored.map(|id| passed_over(&id)).or(spoken.warning),
        });
        Ok(answer.to_string())
    }
}

fn passed_over(id: &str) -> String {
    format!("The persona {id:?} does not exist or uses another provider. It was ignored.")
}

impl Voice {
    /// Registers the `speak` tool and the speaker of answers with the agents crate.
    pub fn register(&self, agents: &Agents) {
        agents.tools().register(Arc::new(Speak(self.clone())));
        agents.register_speaker(self.auto_speaker());
    }
}
