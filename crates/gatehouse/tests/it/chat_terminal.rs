//! `gatehouse chat` on a terminal.

use crate::process::{Installation, Server};
use crate::terminal::{CTRL_C, CTRL_D, Terminal};
use gatehouse_doubles::openai::{FakeModel, Reaction, call, has_result, last_text, say};
use serde_json::{Value, json};
use std::time::Duration;

/// Asks for the tool `calc` with the text as its expression if it starts with a digit.
fn answer(request: &Value) -> Reaction {
    let last = last_text(request);
    if has_result(request) {
        let result = request["messages"].as_array().unwrap().last().unwrap();
        // The first line opens the tag of untrusted output. A call that did not run has no tag.
        let result = result["content"].as_str().unwrap().lines().nth(1);
        say(&format!("Result: {}", result.unwrap_or("none")))
    } else if last.starts_with(|first: char| first.is_ascii_digit()) {
        call("calc", &json!({ "expression": last }))
    } else if last == "wait" {
        Reaction::Hang("I think ".to_owned())
    } else {
        say(&format!("You said: {last}"))
    }
}

/// Returns a server whose tool `calc` needs an approval.
async fn started() -> (Installation, Server) {
    let model = FakeModel::answering(answer).await;
    let mut installation = Installation::new();
    installation.model(&model.url);
    installation.env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc");
    let server = installation.start();
    (installation, server)
}

/// Starts `chat` and waits for its prompt.
fn chat(installation: &Installation, server: &Server) -> Terminal {
    let mut terminal = Terminal::start(installation, &["--url", &server.url, "chat"]);
    terminal.expect("Ctrl-C stops an answer, Ctrl-D ends the conversation.");
    terminal.expect("> ");
    terminal
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_continues_until_ctrl_d() {
    let (installation, server) = started().await;
    let mut terminal = chat(&installation, &server);
    terminal.enter("Hello");
    terminal.expect("You said: Hello");
    terminal.expect("> ");
    terminal.enter("");
    terminal.expect("> ");
    terminal.enter("Again");
    terminal.expect("You said: Again");
    terminal.expect("> ");
    terminal.press(CTRL_D);
    let (status, rest) = terminal.wait();
    assert!(status.success(), "{rest}");
    assert!(
        rest.contains("Continue: gatehouse chat --session "),
        "{rest}"
    );
    let list = server.rpc("", "sessions.list", json!({})).await;
    assert_eq!(list["result"]["sessions"][0]["message_count"], 4, "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_an_answer_and_then_the_conversation() {
    let (installation, server) = started().await;
    let mut terminal = chat(&installation, &server);
    terminal.enter("wait");
    terminal.expect("I think");
    terminal.press(CTRL_C);
    terminal.expect("stopped");
    terminal.expect("> ");
    terminal.enter("Hello");
    terminal.expect("You said: Hello");
    terminal.expect("> ");
    terminal.press(CTRL_C);
    let (status, rest) = terminal.wait();
    assert!(status.success(), "{rest}");
}

/// The server does not respond to the poll during which Ctrl-C is pressed.
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_works_while_the_server_hangs() {
    use rustix::process::Signal;
    let (installation, server) = started().await;
    let mut terminal = chat(&installation, &server);
    terminal.enter("wait");
    terminal.expect("I think");
    server.signal(Signal::STOP);
    // The first Ctrl-C stops the answer, which needs the server. A later one abandons that attempt.
    while !terminal.shows("interrupted", Duration::from_secs(1)) {
        terminal.press(CTRL_C);
    }
    terminal.expect("> ");
    terminal.press(CTRL_D);
    let (status, rest) = terminal.wait();
    assert!(status.success(), "{rest}");
    server.signal(Signal::CONT);
}

/// Waits until the conversation asks about a call with this expression.
fn asked(terminal: &mut Terminal, expression: &str) {
    terminal.expect("The agent asks to call calc with ");
    terminal.expect(expression);
    terminal.expect("Without an answer, it expires at ");
    terminal.expect("[a] always with this input: ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_when_the_call_is_answered_elsewhere() {
    let (installation, server) = started().await;
    let mut terminal = chat(&installation, &server);
    for (expression, allow, end) in [
        ("1 + 1", true, "Allowed elsewhere."),
        ("2 + 1", false, "Denied elsewhere."),
    ] {
        terminal.enter(expression);
        asked(&mut terminal, expression);
        // This line is entered too late. It answers no question and is not the next message.
        terminal.press("y");
        terminal.expect("y");
        let waiting = server.rpc("", "approval.list", json!({})).await;
        let id = &waiting["result"]["approvals"][0]["id"];
        let answer = json!({ "id": id, "allow": allow });
        server.rpc("", "approval.resolve", answer).await;
        terminal.expect(end);
        terminal.enter("");
        terminal.expect("Result: ");
        terminal.expect("> ");
    }
    terminal.enter("Hello");
    terminal.expect("You said: Hello");
    let list = server.rpc("", "sessions.list", json!({})).await;
    let session = json!({ "session": list["result"]["sessions"][0]["id"], "limit": 100 });
    let history = server.rpc("", "chat.history", session).await;
    let messages = history["result"]["messages"].as_array().unwrap();
    let own = messages.iter().filter(|message| message["role"] == "user");
    let texts: Vec<Value> = own.map(|message| message["content"].clone()).collect();
    assert_eq!(texts, ["1 + 1", "2 + 1", "Hello"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_ends_when_the_call_expires() {
    let (mut installation, server) = started().await;
    server.stop();
    installation.env("SERVICE_APPROVALS__TIMEOUT_SECONDS", "3");
    let server = installation.start();
    let mut terminal = chat(&installation, &server);
    terminal.enter("1 + 1");
    asked(&mut terminal, "1 + 1");
    terminal.expect("Expired. The call did not run.");
    terminal.expect("Result: ");
    terminal.expect("> ");
    terminal.press(CTRL_D);
    let (status, rest) = terminal.wait();
    assert!(status.success(), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_decided_at_the_prompt() {
    let (installation, server) = started().await;
    let mut terminal = chat(&installation, &server);
    let ask = |terminal: &mut Terminal, expression: &str| {
        terminal.enter(expression);
        asked(terminal, expression);
    };
    ask(&mut terminal, "1 + 1");
    terminal.enter("y");
    terminal.expect("Result: 2");
    terminal.expect("> ");
    ask(&mut terminal, "2 + 1");
    // Anything else than a yes denies.
    terminal.enter("perhaps");
    let denied = terminal.expect("> ");
    assert!(!denied.contains("Result: 3"), "{denied}");
    ask(&mut terminal, "3 + 1");
    terminal.enter("a");
    terminal.expect("Result: 4");
    terminal.expect("> ");
    // The same input is not asked about again. A different input is.
    terminal.enter("3 + 1");
    let shown = terminal.expect("Result: 4");
    assert!(!shown.contains("asks to call"), "{shown}");
    terminal.expect("> ");
    ask(&mut terminal, "4 + 1");
    terminal.enter("s");
    terminal.expect("Result: 5");
    terminal.expect("> ");
    terminal.enter("5 + 1");
    let shown = terminal.expect("Result: 6");
    assert!(!shown.contains("asks to call"), "{shown}");
}
