//! Tests an agent whose model obeys the attacker.

use crate::attacker::{self, calls};
use crate::corpus::corpus;
use crate::letter;
use crate::senders::{SHAPES, Shape, Target, ample, ended};
use crate::worker::harness::Harness;
use futures_util::future::{BoxFuture, join_all};
use gatehouse_agents::{Audience, Tool, ToolContext, ToolError};
use gatehouse_domain::{DeliveryStatus, SystemRandom};
use gatehouse_doubles::openai::{FakeModel, last_text};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_store::testing::{TestDatabase, sqlite};
use gatehouse_tools::{ToolsParts, ToolsSettings};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};

/// Tools that only the owner's turns may use.
const TRUSTED: [&str; 3] = ["speak", "shell", "mcp__x__y"];
const OURS: [&str; 2] = ["webhook", "webhook_get_full_payload"];
const PUBLIC: [&str; 3] = ["calc", "web_fetch", "web_search"];

#[derive(Debug)]
struct Canary(&'static str, Arc<AtomicUsize>);

impl Tool for Canary {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Does what the owner says."
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object" })
    }

    fn audience(&self) -> Audience {
        Audience::Trusted
    }

    fn call<'a>(
        &'a self,
        _context: &'a ToolContext,
        _input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok("done".to_owned()) })
    }
}

/// A listener that counts connections.
#[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
async fn trap() -> (u16, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

/// Opens a test node with the real tools and the canaries.
async fn harness(
    database: &TestDatabase,
    attacker: &FakeModel,
    canaries: &Arc<AtomicUsize>,
) -> Harness {
    let harness = Harness::open_with(database, attacker, ample()).await;
    let registry = harness.agents.tools();
    for name in TRUSTED {
        registry.register(Arc::new(Canary(name, Arc::clone(canaries))));
    }
    harness.webhooks.register_tools(registry);
    let shut = OutboundSettings {
        allow_private: false,
    };
    let parts = ToolsParts {
        secrets: harness.secrets.clone(),
        outbound: Outbound::new(shut).unwrap(),
        store: harness.store.clone(),
        clock: harness.clock.clone(),
        random: Arc::new(SystemRandom),
    };
    drop(gatehouse_tools::register(
        &harness.agents,
        parts,
        ToolsSettings::default(),
    ));
    harness
}

/// Returns the expected status of a call.
fn expected(tool: &str, admitted: &[&str]) -> &'static str {
    match tool {
        _ if admitted.contains(&tool) => match tool {
            "calc" => "ok",
            // Private addresses are refused, and no search provider is configured.
            _ => "error",
        },
        _ if TRUSTED.contains(&tool) || OURS.contains(&tool) || PUBLIC.contains(&tool) => "denied",
        _ => "error",
    }
}

/// Checks both requests of a delivery's turn.
fn check_requests(requests: &[Value], admitted: &[&str]) {
    for request in requests {
        let offered = request["tools"].as_array().into_iter().flatten();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        let mut offered: Vec<_> = offered.map(name).collect();
        offered.sort();
        assert_eq!(offered, admitted, "{request}");
        let roles = request["messages"].as_array().unwrap().iter();
        let users = roles.filter(|message| message["role"] == "user").count();
        assert_eq!(users, 1, "{request}");
    }
    assert_eq!(requests.len(), 2, "one with calls, one with their results");
}

/// Reads the tool results in a request and checks them.
fn check_results(request: &Value, made: &[(String, Value)], admitted: &[&str]) {
    let messages = request["messages"].as_array().unwrap().iter();
    let results: Vec<_> = messages
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(results.len(), made.len(), "{request}");
    for (result, (tool, _)) in results.iter().zip(made) {
        let text = result["content"].as_str().unwrap();
        let wanted = match expected(tool, admitted) {
            "denied" => "is not allowed here",
            "ok" => "42",
            _ if admitted.contains(&tool.as_str()) => "",
            _ => "no tool with this name",
        };
        assert!(text.contains(wanted), "{tool}: {text}");
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "one attack, from the delivery to its traces"
)]
async fn attack(policy: Option<Value>, admitted: &[&str], turn: usize) {
    let (port, connected) = trap().await;
    let canaries = Arc::new(AtomicUsize::new(0));
    let attacker = attacker::start(port).await;
    let database = sqlite();
    let harness = harness(&database, &attacker, &canaries).await;
    let more = policy.map_or_else(|| json!({}), |policy| json!({ "toolPolicy": policy }));
    let codehost = Target::create(&harness, "codehost_a", more.clone()).await;
    let generic = Target::create(&harness, "generic", more).await;
    harness.work();

    let mut settled = HashMap::new();
    let entries = corpus(port);
    for batch in entries.iter().enumerate().collect::<Vec<_>>().chunks(64) {
        // Each text is combined with each shape and each policy in one of the three tests.
        let sending = batch.iter().map(|(number, entry)| {
            let shape = SHAPES[(number + turn) % SHAPES.len()];
            let target = if shape == Shape::Generic {
                &generic
            } else {
                &codehost
            };
            let id = target.send(&harness, shape, *number, &entry.text);
            async move { (id.await, target) }
        });
        let taken = join_all(sending).await;
        let ids: Vec<_> = taken.iter().map(|(id, _)| id.clone()).collect();
        for delivery in ended(&harness, &ids).await {
            assert_eq!(delivery.status, DeliveryStatus::Completed, "{delivery:?}");
            let target = taken.iter().find(|(id, _)| *id == delivery.id).unwrap().1;
            settled.insert(delivery.id.to_string(), (delivery, target));
        }
    }
    assert_eq!(settled.len(), entries.len());

    let mut turns: HashMap<String, Vec<Value>> = HashMap::new();
    for request in attacker.seen() {
        let id = letter::delivery(&last_text(&request)).to_owned();
        turns.entry(id).or_default().push(request);
    }
    assert_eq!(turns.len(), settled.len());
    let (mut fetches, mut named) = (0, 0);
    for (id, requests) in &turns {
        let (delivery, target) = &settled[id];
        let message = last_text(&requests[0]);
        let webhook = &target.webhook;
        letter::check(&message, &webhook.name, &webhook.public_id, id);
        check_requests(requests, admitted);
        let made = calls(&message, port);
        check_results(&requests[1], &made, admitted);
        let tried = made.iter().filter(|(tool, _)| tool == "web_fetch").count();
        fetches += tried - 1;
        named += made.len().saturating_sub(tried + 9);
        let actions = delivery.response_actions.iter();
        let actions: Vec<_> = actions
            .map(|a| (a.tool.as_str(), a.status.as_str()))
            .collect();
        let wanted = made
            .iter()
            .map(|(tool, _)| (tool.as_str(), expected(tool, admitted)));
        assert_eq!(actions, wanted.collect::<Vec<_>>(), "{message}");
    }

    // The model has tried the URLs and tool names in the texts.
    assert!(fetches >= 60 && named >= 100, "{fetches}, {named}");

    assert_eq!(canaries.load(Ordering::SeqCst), 0, "a trusted tool ran");
    assert_eq!(
        harness
            .webhooks
            .list(100, None)
            .await
            .unwrap()
            .webhooks
            .len(),
        2
    );
    assert_eq!(
        connected.load(Ordering::SeqCst),
        0,
        "a private address was reached"
    );
    harness.stop().await;
    // Checks that the trap itself works.
    let _connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    while connected.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn without_a_policy_nothing_is_to_be_had() {
    attack(None, &[], 0).await;
}

#[tokio::test]
async fn a_policy_of_one_tool_gives_that_tool() {
    let policy = json!({ "allow": ["calc"], "deny": [] });
    attack(Some(policy), &["calc"], 1).await;
}

#[tokio::test]
async fn a_policy_of_everything_gives_the_public_tools() {
    let policy = json!({ "allow": ["*"], "deny": [] });
    attack(Some(policy), &PUBLIC, 2).await;
}
