//! Transcripts from a `whisper-server` that is kept between requests (<https://github.com/ggml-org/whisper.cpp>,
//! `examples/server/README.md` and `server.cpp`).
//!
//! - The server answers only after it has loaded its model and bound its port. If the port is taken, the server exits,
//!   unless another whisper-server of the same user has the port. Both servers then share the port (`SO_REUSEPORT`),
//!   and the other server answers 404 to paths outside its own.
//! - The index page below its request path exists in all versions, `/health` only in newer ones.
//! - The fields of a form replace the values of the command line. In older versions, they replace them for later
//!   requests too. Each request therefore contains all fields that differ between requests.
//! - The defaults differ from those of `whisper-cli`: the server searches less, and cuts segments after 60 characters.
//!   Short recordings are decoded without a search here too, because a search takes more than a quarter of the time.
//! - `no_language_probabilities` prevents a second run of the encoder. Older versions ignore the field.
//! - Some versions of 2025 use the transcripts of earlier recordings, possibly of other callers, as context
//!   (<https://github.com/ggml-org/whisper.cpp/pull/3482>). `no_context` prevents that.
//! - The server detects the language with the `audio_ctx` of the preceding request. That value is at least
//!   [`audio_context`]'s minimum.

use super::{answer, audio_context};
use crate::programs::{Command, Outcome, Process, Server, Warm};
use crate::resources::{MAX_TEXT_ANSWER_BYTES, Resources};
use crate::stt::language::primary;
use crate::stt::{SttCall, SttResult};
use futures_util::FutureExt;
use gatehouse_outbound::{AddressSource, read_capped};
use reqwest::header::{CONNECTION, HeaderValue};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The longest recording for a kept process: a quarter of an hour. The process holds several copies of the recording in
/// memory.
pub(super) const MAX_BYTES: usize = 32 << 20;
/// How long a new process may take to load its model.
const READY: Duration = Duration::from_mins(1);
const READY_PAUSE: Duration = Duration::from_millis(20);
/// The maximum number of starts per request. Another program may take the port between the choice
/// and the start.
const STARTS: usize = 2;
/// Values of `whisper-cli`, which does not cut segments, and which keeps five candidates when it
/// repeats a failed attempt.
const LIKE_THE_CLI: [(&str, &str); 2] = [("max_len", "1000000"), ("best_of", "5")];
/// The beam size of `whisper-cli`.
const BEAM_SIZE: &str = "5";
/// With this value, the decoder takes the most likely token each time and does not search.
const GREEDY: &str = "1";

/// The error of a process that returned no transcript.
pub(super) struct Failed {
    /// Whether the process failed before its first answer.
    pub(super) is_new: bool,
}

/// Why a process returned no transcript.
enum Trouble {
    /// The process ended before it was ready.
    NotStarted,
    Other {
        is_new: bool,
    },
}

/// Transcribes the audio. If the process does not become ready within half of the time until the deadline, another
/// program can use the other half.
pub(super) async fn listen(
    resources: &Resources,
    command: &Command,
    (call, context): (&SttCall, usize),
    until: Instant,
) -> Result<SttResult, Failed> {
    let warm: &Warm = resources.programs.warm();
    for _ in 0..STARTS {
        let order = Order {
            resources: resources.clone(),
            call: call.clone(),
            context,
            until,
        };
        let asked = warm.ask(command, move |process| heard(process, order).boxed());
        match asked.await {
            Ok(Some(Ok(recognized))) => return Ok(recognized),
            Ok(Some(Err(Trouble::Other { is_new }))) => return Err(Failed { is_new }),
            Err(_not_started) => break,
            Ok(Some(Err(Trouble::NotStarted)) | None) => {}
        }
    }
    Err(Failed { is_new: true })
}

/// A recording for a process.
struct Order {
    resources: Resources,
    call: SttCall,
    /// The value of `audio_ctx`.
    context: usize,
    until: Instant,
}

async fn heard(process: &mut Process, order: Order) -> (Outcome, Result<SttResult, Trouble>) {
    let is_new = !process.has_answered;
    let other = (Outcome::End, Err(Trouble::Other { is_new }));
    let Some(server) = process.server.clone() else {
        return other;
    };
    if is_new {
        let half = order.until.saturating_duration_since(Instant::now()) / 2;
        let ready = while_it_runs(process, ready(&order.resources, &server));
        match timeout(half.min(READY), ready).await {
            Ok(Some(())) => {}
            Ok(None) => return (Outcome::End, Err(Trouble::NotStarted)),
            Err(_elapsed) => return other,
        }
    }
    match while_it_runs(process, transcript(&server, &order)).await {
        Some(Some(recognized)) => {
            process.has_answered = true;
            (Outcome::Keep, Ok(recognized))
        }
        Some(None) | None => other,
    }
}

/// Does the work and discards the output of the process. Returns `None` if the process ends.
async fn while_it_runs<T>(process: &mut Process, work: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            line = process.line() => {
                line?;
            }
        }
    }
}

/// Waits until the process answers at its address.
async fn ready(resources: &Resources, server: &Server) {
    loop {
        if let Some(index) = server.url("/")
            && let Some(response) = send(resources, server, resources.get(index)).await
            && response.status().is_success()
        {
            return;
        }
        sleep(READY_PAUSE).await;
    }
}

async fn transcript(server: &Server, order: &Order) -> Option<SttResult> {
    let resources = &order.resources;
    let post = resources.post(server.url("/inference")?);
    let form = form(&order.call, order.context)?;
    let response = send(resources, server, post.multipart(form)).await?;
    if !response.status().is_success() {
        let status = response.status().as_u16();
        tracing::debug!(status, "whisper-server refused a recording");
        return None;
    }
    let (text, is_more) = read_capped(response, MAX_TEXT_ANSWER_BYTES).await.ok()?;
    answer::recognized(&text).filter(|_| !is_more)
}

/// Sends a request on a new connection, because the server closes idle connections after a few
/// seconds.
async fn send(resources: &Resources, server: &Server, request: RequestBuilder) -> Option<Response> {
    if !server.is_ours().await {
        return None;
    }
    let request = request.header(CONNECTION, HeaderValue::from_static("close"));
    let sent = resources
        .outbound
        .send(AddressSource::Owner, request.build().ok()?);
    sent.await.ok()
}

/// The form shares the audio's bytes without copying them.
fn form(call: &SttCall, context: usize) -> Option<Form> {
    let language = call.language.as_deref().and_then(primary);
    let translate = if call.translate { "true" } else { "false" };
    let beam_size = if audio_context::is_least(context) {
        GREEDY
    } else {
        BEAM_SIZE
    };
    let form = Form::new()
        .text("response_format", "verbose_json")
        .text("no_language_probabilities", "true")
        .text("no_context", "true")
        .text("language", language.unwrap_or_else(|| "auto".to_owned()))
        .text("translate", translate)
        .text("audio_ctx", context.to_string())
        .text("beam_size", beam_size)
        .text("prompt", call.prompt.clone().unwrap_or_default());
    let form = LIKE_THE_CLI
        .into_iter()
        .fold(form, |form, (name, value)| form.text(name, value));
    let length = u64::try_from(call.audio.len()).ok()?;
    let file = Part::stream_with_length(Body::from(call.audio.clone()), length);
    let file = file.file_name("audio.wav").mime_str("audio/wav").ok()?;
    Some(form.part("file", file))
}
