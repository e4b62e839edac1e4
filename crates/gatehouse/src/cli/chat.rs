//! `chat`: a conversation with an agent in the terminal. It polls instead of listening, so it works through TLS and
//! proxies and survives a server restart.

mod answer;
mod approvals;
mod history;

use super::client::{Client, ClientError};
use super::globals::Globals;
use super::input::{Input, Line};
use super::output::{Output, field, note, plain, warn};
use answer::Answer;
use anyhow::{Context, Result, ensure};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// The pause between two reads of the conversation.
const EVERY: Duration = Duration::from_millis(200);
/// The pause between two reads of the calls that wait for an approval.
const APPROVALS_EVERY: Duration = Duration::from_secs(1);

const INTERRUPTED: &str = "interrupted";

/// The flags of `chat`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One message; without it, each line that you enter is a message
    text: Option<String>,
    /// The agent that answers a new conversation
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    agent: Option<String>,
    /// The ID or key of a conversation to continue
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A file to attach to the first message; may be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
}

/// Runs `chat`.
pub async fn run(globals: &Globals, out: &Output, args: Args) -> Result<ExitCode> {
    let client = Client::new(globals, &globals.layers()?)?;
    let is_typed = std::io::stdin().is_terminal();
    let mut chat = Chat {
        client,
        session: args.session,
        agent: args.agent,
        files: args.attach,
        input: Input::start()?,
        asked: HashSet::new(),
        is_typed,
    };
    if let Some(text) = args.text {
        let is_complete = chat.turn(out, &text).await?;
        chat.show_session(out);
        return Ok(exit_code(is_complete));
    }
    if is_typed {
        note("Each line is a message. Ctrl-C stops an answer, Ctrl-D ends the conversation.");
    }
    let mut is_complete = true;
    loop {
        match chat.input.ask(if is_typed { "> " } else { "" }).await {
            Line::Text(text) if text.trim().is_empty() => {}
            Line::Text(text) => match chat.turn(out, &text).await {
                Ok(complete) => is_complete = complete,
                // The next message may succeed. A script must still detect the error.
                Err(error) if is_typed => warn(format!("{error:#}")),
                Err(error) => return Err(error),
            },
            Line::Interrupted | Line::End => break,
        }
    }
    chat.show_session(out);
    Ok(exit_code(is_typed || is_complete))
}

fn exit_code(is_complete: bool) -> ExitCode {
    if is_complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

struct Chat {
    client: Client,
    session: Option<String>,
    agent: Option<String>,
    /// The files of the next message.
    files: Vec<PathBuf>,
    input: Input,
    /// IDs of the approvals that were shown.
    asked: HashSet<String>,
    is_typed: bool,
}

impl Chat {
    /// Sends a message and prints the answer as it arrives. Returns whether the answer is complete.
    async fn turn(&mut self, out: &Output, text: &str) -> Result<bool> {
        let files = self.upload().await?;
        let agent = self.agent.as_ref().filter(|_| self.session.is_none());
        let mut params = json!({ "text": text, "session": self.session, "agent": agent });
        if let (false, Some(params)) = (files.is_empty(), params.as_object_mut()) {
            params.insert("attachments".to_owned(), files.into());
        }
        let sent = self.rpc("chat.send", params).await;
        let sent = sent.context(INTERRUPTED)??;
        self.files.clear();
        let session = field(&sent, "session");
        self.session = Some(session.clone());
        let mut answer = Answer::new(field(&sent, "turn_id"), out.is_json());
        let mut is_away = false;
        let mut approvals = tokio::time::interval(APPROVALS_EVERY);
        approvals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            match self.read(&session, &answer).await {
                None => self.abort(&session).await?,
                Some(Ok(news)) => {
                    is_away = false;
                    if let Some(last) = answer.add(news) {
                        out.json_line(&last, || ())?;
                        return Ok(field(&last, "stop") == "end");
                    }
                    let is_known = answer.newest().is_some();
                    ensure!(is_known, "the message was deleted before it was answered");
                    if approvals.tick().now_or_never().is_some() {
                        self.ask_approvals(&session).await?;
                    }
                }
                Some(Err(error)) => {
                    let Some(why) = error.outage() else {
                        return Err(error.into());
                    };
                    if !is_away {
                        warn(format!("{why}; waiting for it"));
                    }
                    is_away = true;
                }
            }
            let pause = tokio::time::sleep(EVERY);
            if self.input.unless_interrupted(pause).await.is_none() {
                self.abort(&session).await?;
            }
        }
    }

    /// Calls a method. Returns `None` if Ctrl-C is pressed before the server responds.
    async fn rpc(&mut self, method: &str, params: Value) -> Option<Result<Value, ClientError>> {
        let answer = self.client.rpc(method, params);
        self.input.unless_interrupted(answer).await
    }

    /// Fails if Ctrl-C is pressed again before the server responds.
    async fn abort(&mut self, session: &str) -> Result<()> {
        let params = json!({ "session": session });
        let aborted = self.rpc("chat.abort", params).await;
        aborted.context(INTERRUPTED)??;
        Ok(())
    }

    /// Stores the files of the next message with the conversation, and creates the conversation if there is none.
    /// Returns the IDs of the files.
    async fn upload(&mut self) -> Result<Vec<Value>> {
        let mut ids = Vec::new();
        for path in &self.files {
            let data = tokio::fs::read(path).await;
            let data = data.with_context(|| format!("cannot read {}", path.display()))?;
            let (method, params) = match &self.session {
                // A key can contain characters that a path cannot.
                Some(session) if session.starts_with("ses_") => {
                    ("sessions.get", json!({ "id": session }))
                }
                Some(key) => ("sessions.get", json!({ "key": key })),
                None => ("sessions.create", json!({ "agent": self.agent })),
            };
            let found = self.client.rpc(method, params);
            let found = self.input.unless_interrupted(found).await;
            let found = field(&found.context(INTERRUPTED)??, "id");
            self.session.get_or_insert_with(|| found.clone());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let at = format!("/api/sessions/{found}/attachments");
            let stored = self.client.upload(&at, &name, data);
            let stored = self.input.unless_interrupted(stored).await;
            let stored = stored.context(INTERRUPTED)?;
            let stored = stored.with_context(|| format!("cannot attach {}", path.display()))?;
            ids.push(field(&stored, "id").into());
        }
        Ok(ids)
    }

    fn show_session(&self, out: &Output) {
        if let (false, Some(session)) = (out.is_json(), &self.session) {
            note(format!(
                "Continue: gatehouse chat --session {}",
                plain(session)
            ));
        }
    }
}
