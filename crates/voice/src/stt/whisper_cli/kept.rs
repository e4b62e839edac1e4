//! Transcripts from a `whisper-server` that is kept between requests
//! (<https://github.com/ggml-org/whisper.cpp>, `examples/server/README.md` and `server.cpp`).
//!
//! - It answers only after it has loaded its model and bound its port. If the port is taken, it exits, unless another
//!   whisper-server of the same user has it: both then share it (`SO_REUSEPORT`), and the other one answers 404 to a
//!   path that is not its own.
//! - The index page below its request path exists in all versions, `/health` only in newer ones.
//! - The fields of a form replace the values of the command line, in older versions for later requests too. Each
//!   request therefore contains all fields that differ between requests.
//! - Its defaults differ from those of `whisper-cli`: it searches less, and cuts segments after 60 characters. Short
//!   recordings are decoded without a search here, too, because a search takes more than a quarter of the time.
//! - `no_language_probabilities` saves a second run of the encoder. Older versions ignore it.
//! - Some versions of 2025 otherwise transcribe a recording with the transcripts of earlier ones as context, which may
//!   be those of other callers (<https://github.com/ggml-org/whisper.cpp/pull/3482>). `no_context` prevents that.
//! - It detects the language with the `audio_ctx` of the request before, which is at least
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

/// The longest recording that a kept process gets: a quarter of an hour. It holds the recording in memory
/// several times.
pub(super) const MAX_BYTES: usize = 32 << 20;
/// How long a new process may take to load its model.
const READY: Duration = Duration::from_mins(1);
const READY_PAUSE: Duration = Duration::from_millis(20);
/// Maximum number of starts per request, because the port may be taken in the meantime.
const STARTS: usize = 2;
/// `whisper-cli` does not cut segments, and has this value for attempts after a failed one.
const LIKE_THE_CLI: [(&str, &str); 2] = [("max_len", "1000000"), ("best_of", "5")];
/// The value of `whisper-cli`.
const BEAM_SIZE: &str = "5";
/// Without a search, the most likely token is taken each time.
const GREEDY: &str = "1";

/// The process returned no transcript.
pub(super) struct Failed {
    /// Whether it had not answered anything.
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

/// Transcribes the audio. Half of the time until the deadline is left for another program if the process does not
/// become ready.
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

/// Does the work and discards what the process writes. `None` if the process ends.
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

/// Sends a request on a connection of its own: the server closes idle ones after a few seconds.
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
