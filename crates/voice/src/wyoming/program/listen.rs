//! `transcribe`: audio to text.

use super::connect::{Answers, Requests, connect, invalid};
use crate::VoiceError;
use crate::listening::{RECOGNISERS_RATE, samples};
use crate::resources::Resources;
use crate::stt::{SttCall, SttResult, in_short};
use crate::wyoming::event::Event;
use crate::wyoming::sample_format::SampleFormat;
use serde_json::{Map, Value};
use std::pin::pin;
use std::time::Duration;
use url::Url;

/// Bytes of an audio event: half a second.
const CHUNK: usize = 16_000;

/// Transcribes the audio.
pub(crate) async fn listen(
    resources: &Resources,
    id: &'static str,
    address: &Url,
    call: &SttCall,
    language: Option<String>,
) -> Result<SttResult, VoiceError> {
    let audio = samples(&resources.cpu, call).await?;
    let limit = resources.timeouts.program;
    let (mut requests, mut answers) = connect(resources, id, address, limit).await?;
    let first = transcribe(call.model.as_deref(), language.as_deref());
    let mut answering = pin!(transcript(id, &mut answers, limit));
    tokio::select! {
        biased;
        answer = &mut answering => answer,
        // A program that found the end of speech answers early, and may not read the rest.
        _ = send(&mut requests, &first, &audio) => answering.await,
    }
}

fn transcribe(model: Option<&str>, language: Option<&str>) -> Event {
    let fields = [("name", model), ("language", language)];
    let given = fields.into_iter().filter_map(|(name, value)| {
        let value = Value::from(value?);
        Some((name.to_owned(), value))
    });
    Event::new("transcribe", Value::Object(given.collect::<Map<_, _>>()))
}

async fn send(requests: &mut Requests, first: &Event, audio: &[u8]) -> Result<(), VoiceError> {
    let format = SampleFormat::mono(RECOGNISERS_RATE);
    requests.send(first).await?;
    requests
        .send(&format.event("audio-start", Vec::new()))
        .await?;
    for chunk in audio.chunks(CHUNK) {
        let chunk = format.event("audio-chunk", chunk.to_vec());
        requests.send(&chunk).await?;
    }
    requests.send(&Event::new("audio-stop", Value::Null)).await
}

/// Waits for the whole transcript. Programs that also send it in pieces send it as a whole, too.
async fn transcript(
    id: &'static str,
    answers: &mut Answers,
    patience: Duration,
) -> Result<SttResult, VoiceError> {
    loop {
        let event = answers.next(patience).await?;
        if event.kind != "transcript" {
            continue;
        }
        let text = event.data.get("text").and_then(Value::as_str);
        return Ok(SttResult {
            text: text.ok_or_else(|| invalid(id))?.trim().to_owned(),
            language: event.text("language").map(in_short),
            ..SttResult::default()
        });
    }
}
