//! `gatehouse chat`, with a real server and a model that repeats its input.

use crate::process::{BINARY, CommandOutput, Installation, Server};
use gatehouse_doubles::openai::{FakeModel, Reaction, last_text, says};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Number of messages with tool calls in the turn of a person who asks to count.
const STEPS: usize = 4;
/// Number of calls in each of these messages. A turn may make at most 32 calls at once.
const CALLS: usize = 32;

/// Counts the steps of a turn by the results of its calls.
fn count(request: &Value) -> Reaction {
    let messages = request["messages"].as_array().unwrap().iter();
    let step = messages.filter(|message| message["role"] == "tool").count() / CALLS;
    if step == STEPS {
        return says(["Done."]);
    }
    let call = |number: usize| {
        let expression = json!({ "expression": format!("{step}+{number}") });
        ("calc".to_owned(), expression.to_string())
    };
    Reaction::Call(format!("Step {step}."), (0..CALLS).map(call).collect())
}

fn answer(request: &Value) -> Reaction {
    let last = last_text(request);
    if last == "Count" {
        return count(request);
    }
    if last.contains("fail") {
        let error = json!({ "message": "No such model.", "type": "invalid_request_error" });
        return Reaction::Refuse(404, json!({ "error": error }));
    }
    says(["You said: ", &last, "\u{1b}[2J"])
}

async fn installation() -> Installation {
    let model = FakeModel::answering(answer).await;
    let mut installation = Installation::new();
    installation.model(&model.url);
    installation
}

/// Runs `chat` with this standard input.
async fn chat(
    installation: &Installation,
    server: &Server,
    args: &[&str],
    input: &'static str,
) -> CommandOutput {
    let mut command = installation.prepared(Command::new(BINARY));
    command
        .args(["--url", &server.url, "chat"])
        .args(args)
        .arg("--data-dir")
        .arg(installation.data_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    // Meanwhile, the model answers on the runtime of this thread.
    let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    CommandOutput(ended.await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_gets_its_answer_and_the_conversation_continues() {
    let installation = installation().await;
    let server = installation.start();
    let first = chat(&installation, &server, &["Hello"], "").await;
    assert_eq!(first.ok(), "You said: Hello\\u{1B}[2J\n");
    let hint = first.stderr();
    let session = hint
        .trim()
        .strip_prefix("Continue: gatehouse chat --session ");
    let session = session.unwrap_or_else(|| panic!("{hint}")).to_owned();

    let more = chat(
        &installation,
        &server,
        &["--session", &session],
        "One\n\nTwo\n",
    )
    .await;
    assert_eq!(
        more.ok(),
        "You said: One\\u{1B}[2J\nYou said: Two\\u{1B}[2J\n"
    );
    let list = server.rpc("", "sessions.list", json!({})).await;
    let sessions = list["result"]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["message_count"], 6);

    let record = chat(&installation, &server, &["Again", "--json"], "")
        .await
        .json();
    assert_eq!(record["stop"], "end");
    assert_eq!(record["content"], "You said: Again\u{1b}[2J");
}

/// The messages of the turn do not fit on one page of the history.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_more_than_100_messages_is_printed_once() {
    let installation = installation().await;
    let server = installation.start();
    let counted = chat(&installation, &server, &["Count"], "").await;
    assert_eq!(
        counted.ok(),
        "Step 0.\n\nStep 1.\n\nStep 2.\n\nStep 3.\n\nDone.\n"
    );
    let calls = counted.stderr().matches("[calc]").count();
    assert_eq!(calls, STEPS * CALLS);
    let list = server.rpc("", "sessions.list", json!({})).await;
    let messages = &list["result"]["sessions"][0]["message_count"];
    assert_eq!(*messages, STEPS * (CALLS + 1) + 2, "{list}");
}

/// Every write to `/dev/full` fails as on a full disk.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_written_is_a_failure() {
    let installation = installation().await;
    let server = installation.start();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = installation.prepared(Command::new(BINARY));
    command
        .args(["--url", &server.url, "chat", "Hello", "--data-dir"])
        .arg(installation.data_dir())
        .stdout(full);
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap());
    let error = CommandOutput(ended.await.unwrap()).failed(1);
    assert!(error.contains("No space left on device"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_attached_to_the_first_message() {
    let installation = installation().await;
    let server = installation.start();
    let folder = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a small file of the test")]
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two) = (file("to do.txt", "Buy milk."), file("b.csv", "a;b"));
    let args = ["Read this", "--attach", &one, "--attach", &two];
    let said = chat(&installation, &server, &args, "").await.ok();
    for part in [
        "name: to do.txt",
        "Buy milk.",
        "name: b.csv",
        "a;b",
        "Read this",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let more = chat(&installation, &server, &["--attach", &one], "One\nTwo\n").await;
    let said = more.ok();
    assert_eq!(said.matches("Buy milk.").count(), 1, "{said}");

    let list = server.rpc("", "sessions.list", json!({})).await;
    let before = list["result"]["sessions"].as_array().unwrap().len();
    let missing = folder.path().join("missing.txt");
    let args = ["Read this", "--attach", missing.to_str().unwrap()];
    let failed = chat(&installation, &server, &args, "").await;
    assert!(failed.failed(1).contains("missing.txt"));
    let animation = file("a.gif", "GIF89a");
    let failed = chat(&installation, &server, &["Hi", "--attach", &animation], "").await;
    let reason = failed.failed(1);
    assert!(
        reason.contains("a.gif") && reason.contains("GIF images are not supported"),
        "{reason}"
    );
    let list = server.rpc("", "sessions.list", json!({})).await;
    let sessions = list["result"]["sessions"].as_array().unwrap();
    assert!(
        sessions.len() <= before + 1,
        "a missing file begins no conversation"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_not_complete_is_a_failure() {
    let installation = installation().await;
    let server = installation.start();
    let failed = chat(&installation, &server, &["Please fail"], "").await;
    let reason = failed.failed(1);
    assert!(reason.contains("warning:"), "{reason}");
    let unknown = chat(&installation, &server, &["Hi", "--session", "ses_none"], "").await;
    assert!(unknown.failed(1).contains("NOT_FOUND"));
    let unknown = chat(&installation, &server, &["Hi", "--agent", "nobody"], "").await;
    unknown.failed(1);
}
