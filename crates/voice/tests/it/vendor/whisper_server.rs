//! A fake of whisper.cpp's `whisper-server`: the script `programs/whisper-server.sh` checks the command line and then
//! becomes this server, which is a test of this executable. Source: <https://github.com/ggml-org/whisper.cpp>,
//! `examples/server/server.cpp` and `examples/server-common.cpp`.

#![expect(clippy::disallowed_methods, reason = "tests may wait for the disk")]

use super::fake_server::ReceivedRequest;
use super::openai_stt::{Form, form};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use rustix::process::Pid;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The text of all its answers.
pub const TEXT: &str = "Hello warm world.";

/// A server next to a program.
pub struct WhisperServer(PathBuf);

impl WhisperServer {
    /// Installs it in this directory.
    pub fn install(place: &Path) -> Self {
        let server = Self(place.to_owned());
        let script = include_str!("programs/whisper-server.sh");
        server.file("whisper-server", script);
        let program = place.join("whisper-server");
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
        let executable = std::env::current_exe().unwrap();
        server.file("executable", executable.to_str().unwrap());
        server.start_with("fine 0");
        server.behave("fine");
        server
    }

    /// Sets how the next starts end: `fine 0`, `taken` and how often, or `deaf 0`.
    pub fn start_with(&self, start: &str) {
        self.file("start", &format!("{start}\n"));
    }

    /// Sets how requests are answered: `fine`, `status`, `page`, `other`, `hang`, `die`.
    pub fn behave(&self, behavior: &str) {
        self.file("behavior", behavior);
    }

    /// Returns the processes that were started.
    pub fn pids(&self) -> Vec<Pid> {
        let pids = self.read("servers");
        let pids = pids.lines().map(|line| line.parse().unwrap());
        pids.map(|pid| Pid::from_raw(pid).unwrap()).collect()
    }

    /// Returns the forms of all recordings, as lists of names and values.
    pub fn forms(&self) -> Vec<Vec<(String, String)>> {
        let forms = self.read("forms");
        let forms = forms.lines().map(serde_json::from_str);
        forms.collect::<Result<_, _>>().unwrap()
    }

    pub fn complaints(&self) -> String {
        self.read("complaints")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }

    fn file(&self, name: &str, content: &str) {
        // The server may be reading it.
        let made = self.0.join(format!("{name}.new"));
        fs::write(&made, content).unwrap();
        fs::rename(made, self.0.join(name)).unwrap();
    }

    fn add(&self, name: &str, line: &str) {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(self.0.join(name));
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}

/// The arguments that the script passes on.
struct Started {
    place: WhisperServer,
    path: String,
}

#[tokio::test]
async fn this_process_serves_if_it_was_started_for_that() {
    let Ok(address) = fs::read_to_string("address") else {
        return;
    };
    // The directory that it would serve is empty.
    fs::remove_file("address").unwrap();
    let [port, path, place] = address.lines().collect::<Vec<_>>()[..] else {
        panic!("{address}")
    };
    let port: u16 = port.parse().unwrap();
    let Ok(listener) = tokio::net::TcpListener::bind(("127.0.0.1", port)).await else {
        std::process::exit(1);
    };
    let started = Arc::new(Started {
        place: WhisperServer(place.into()),
        path: path.to_owned(),
    });
    let router = Router::new().fallback(answer).with_state(started);
    axum::serve(listener, router).await.unwrap();
}

async fn answer(State(started): State<Arc<Started>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let seen = ReceivedRequest {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: Vec::new(),
        headers: parts.headers,
        body: axum::body::to_bytes(body, 64 << 20).await.unwrap(),
    };
    let of_path = seen.path.strip_prefix(&started.path).unwrap_or("-");
    let (status, media, text) = match (seen.method.as_str(), of_path) {
        ("GET", "/") => (200, "text/html", "<h1>Whisper.cpp Server</h1>".to_owned()),
        ("POST", "/inference") => inference(&started, &seen).await,
        _ => {
            started.place.add("complaints", &seen.path);
            (404, "text/plain", format!("File Not Found ({})", seen.path))
        }
    };
    Response::builder()
        .status(status)
        .header("content-type", media)
        .header("access-control-allow-origin", "*")
        .body(Body::from(text))
        .unwrap()
}

async fn inference(started: &Started, seen: &ReceivedRequest) -> (u16, &'static str, String) {
    let place = &started.place;
    let form = match form(seen).await {
        Ok(form) => form,
        Err((_, why)) => return refused(place, &why),
    };
    if let Some(why) = fault(&form) {
        return refused(place, &why);
    }
    place.add("forms", &json!(form.fields).to_string());
    match place.read("behavior").as_str() {
        "status" => (
            500,
            "application/json",
            json!({ "error": "SECRET-BODY" }).to_string(),
        ),
        "page" => (200, "text/html", "<title>SECRET-BODY</title>".to_owned()),
        "other" => (
            200,
            "application/json",
            json!({ "error": "SECRET-BODY" }).to_string(),
        ),
        "hang" => std::future::pending().await,
        "die" => std::process::exit(134),
        _ => (200, "application/json", transcript(&form).to_string()),
    }
}

/// whisper-server replaces the body of every error with status 400.
fn refused(place: &WhisperServer, why: &str) -> (u16, &'static str, String) {
    place.add("complaints", why);
    (400, "text/plain", "Invalid request".to_owned())
}

/// Returns the mistake in the form.
fn fault(form: &Form) -> Option<String> {
    for (name, value) in &form.fields {
        let is_fine = match name.as_str() {
            "response_format" => value == "verbose_json",
            "no_language_probabilities" | "no_context" => value == "true",
            "translate" => value == "true" || value == "false",
            "language" => value == "auto" || value.len() == 2,
            "prompt" => true,
            "max_len" | "beam_size" | "best_of" => value.parse::<i32>().is_ok_and(|it| it > 0),
            "audio_ctx" => is_context(value, form.audio.len()),
            _ => false,
        };
        if !is_fine || form.all(name).len() != 1 {
            return Some(format!("{name}={value}"));
        }
    }
    let names = form.fields.len();
    if names != 10 {
        return Some(format!(
            "{names} fields; others keep the values of earlier requests"
        ));
    }
    // 16 kHz, one channel, 16 bits.
    let is_wav = form.audio.starts_with(b"RIFF")
        && form.audio.get(8..34)
            == Some(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0");
    (!is_wav).then(|| "not the documented audio".to_owned())
}

/// Returns whether `audio_ctx` covers the recording. 0 is the whole window of 30 seconds, in which the program itself
/// moves through longer recordings. More than the window is an error of the program.
fn is_context(value: &str, wav_bytes: usize) -> bool {
    let needed = wav_bytes.saturating_sub(44).div_ceil(640);
    value
        .parse::<usize>()
        .is_ok_and(|positions| positions == 0 || (needed..=1500).contains(&positions))
}

fn transcript(form: &Form) -> Value {
    let word = |word: &str, start: f64, end: f64| json!({ "word": word, "start": start, "end": end, "probability": 0.9 });
    let task = if form.all("translate") == ["true"] {
        "translate"
    } else {
        "transcribe"
    };
    json!({
        "task": task, "language": "english", "duration": 1.0, "text": format!(" {TEXT}\n"),
        "segments": [{
            "id": 0, "text": format!(" {TEXT}"), "start": 0.0, "end": 1.4,
            "words": [word(" Hello", 0.0, 0.4), word(" warm", 0.5, 0.9), word(" world", 1.0, 1.4), word(".", 1.4, 1.4)],
            "tokens": [1, 2, 3, 4], "temperature": 0.0, "avg_logprob": -0.1, "no_speech_prob": 0.01,
        }],
    })
}
