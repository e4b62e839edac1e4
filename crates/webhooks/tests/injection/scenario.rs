//! A node with the default agent, default settings, the real tools, an MCP server, and tools whose effects are
//! counted.

use crate::external_services::ExternalServices;
use crate::obedient;
use crate::table::Names;
use crate::worker::harness::{Harness, id, settings};
use futures_util::future::BoxFuture;
use gatehouse_agents::{
    ActionStatus, AgentsSettings, Audience, Effect, MessageOrigin, Origin, SendRequest, Target,
    Tool, ToolContext, ToolError, ToolPolicy, TurnReport,
};
use gatehouse_config::{McpServer, SearchProvider, WebSearch};
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, SystemRandom};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_store::WebhookRow;
use gatehouse_store::testing::{TestDatabase, sqlite};
use gatehouse_tools::{McpState, ToolsHandle, ToolsParts, ToolsSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A tool that counts its calls.
#[derive(Debug)]
struct Counted {
    name: &'static str,
    /// The declared effect; `None` for a tool that declares none.
    effect: Option<Effect>,
    calls: Arc<AtomicUsize>,
}

impl Tool for Counted {
    fn name(&self) -> &str {
        self.name
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

    fn reads_strangers(&self) -> bool {
        self.effect.is_none()
    }

    fn returns_private(&self, _: &Value) -> bool {
        self.effect.is_none()
    }

    fn effect(&self, _: &Value, _: bool) -> Effect {
        self.effect.unwrap_or(Effect::Change)
    }

    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        _: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok("done".to_owned()) })
    }
}

pub struct Scenario {
    pub harness: Harness,
    pub external: ExternalServices,
    pub names: Names,
    row: WebhookRow,
    calls: Arc<AtomicUsize>,
    pub tools: ToolsHandle,
    stop: CancellationToken,
    tasks: TaskTracker,
    _database: TestDatabase,
}

/// Returns the settings of the tests: the defaults, except that requests for approval are never answered.
pub fn unattended() -> AgentsSettings {
    AgentsSettings {
        approval_wait: Duration::from_millis(1),
        ..AgentsSettings::default()
    }
}

impl Scenario {
    pub async fn open(agents: AgentsSettings) -> Self {
        let external = ExternalServices::start().await;
        let model = obedient::start().await;
        let database = sqlite();
        let harness = Harness::open_with(&database, &model, settings()).await;
        harness.agents.update_settings(agents);
        let calls = Arc::new(AtomicUsize::new(0));
        harness.webhooks.register_tools(harness.agents.tools());
        for (name, effect) in [
            ("send_message", Some(Effect::Send)),
            ("speak", Some(Effect::Spend)),
            ("shell", None),
        ] {
            harness.agents.tools().register(Arc::new(Counted {
                name,
                effect,
                calls: Arc::clone(&calls),
            }));
        }
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let tools = tools(&harness, &external);
        tools.background(stop.clone(), &tasks);
        connected(&tools).await;
        let row = harness.webhook("a", json!({})).await;
        harness
            .insert(vec![harness.delivery(0, &row, "webhook:a:0")])
            .await;
        let names = Names {
            webhook: row.id.to_string(),
            delivery: id(0).to_string(),
            origin: external.origin.clone(),
        };
        Self {
            harness,
            external,
            names,
            row,
            calls,
            tools,
            stop,
            tasks,
            _database: database,
        }
    }

    /// Stores a delivery with this text and returns its ID.
    pub async fn deliver(&self, number: usize, text: &str) -> DeliveryId {
        let number = u32::try_from(number).unwrap() + 1;
        let mut new = self.harness.delivery(number, &self.row, "webhook:a:other");
        new.payload = Some(json!({ "text": text }).to_string());
        self.harness.insert(vec![new]).await;
        id(number)
    }

    /// Creates a second webhook, which has a secret, and a delivery of it that has ended.
    pub async fn more_records(&self) -> (String, String) {
        let config = json!({ "auth": { "mode": "standard_webhooks" } });
        let row = self.harness.webhook("signed", config).await;
        let number = 999_999;
        let mut new = self.harness.delivery(number, &row, "webhook:signed:1");
        new.status = DeliveryStatus::Failed;
        new.next_attempt_at = None;
        self.harness.insert(vec![new]).await;
        (row.id.to_string(), id(number).to_string())
    }

    /// Runs the turn of a delivery, with every public tool.
    pub async fn receive(&self, number: usize, text: &str) -> TurnReport {
        let key = format!("webhook:a:{number}");
        let request = SendRequest {
            session: Target::Keyed {
                label: key.clone(),
                key,
            },
            origin: Origin::Webhook {
                policy: Some(ToolPolicy {
                    allow: vec!["*".to_owned()],
                    deny: Vec::new(),
                }),
                targets: vec!["inbox".to_owned()],
                delivery: self.deliver(number, text).await,
                written_by: MessageOrigin::Stranger,
            },
            ..SendRequest::new(text, Actor::system())
        };
        self.finished(request).await
    }

    /// Runs a turn for a message of the owner.
    pub async fn say(&self, session: Option<&str>, text: &str) -> TurnReport {
        let request = SendRequest {
            session: session.map_or(Target::New, |name| Target::Existing(name.to_owned())),
            ..SendRequest::new(text, Actor::cli())
        };
        self.finished(request).await
    }

    async fn finished(&self, request: SendRequest) -> TurnReport {
        let report = self.harness.agents.send_sync(request).await.unwrap();
        assert!(report.error.is_none(), "{:?}", report.error);
        report
    }

    /// Returns how many calls of a session waited for an approval that was not given.
    pub async fn unapproved(&self, session: &str) -> usize {
        let page = self
            .harness
            .agents
            .history(session, 500, None)
            .await
            .unwrap();
        let messages = page.messages.iter();
        messages
            .filter(|message| message.tool_status == Some(ActionStatus::Expired))
            .count()
    }

    /// Returns how often data was sent, changed or revealed, or money was spent. Does not count the gateway's own
    /// records.
    pub fn effects(&self) -> usize {
        self.calls.load(Ordering::SeqCst) + self.external.effects()
    }

    /// Returns the gateway's webhooks.
    pub async fn records(&self) -> Value {
        json!(
            self.harness
                .webhooks
                .list(100, None)
                .await
                .unwrap()
                .webhooks
        )
    }

    pub async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.harness.stop().await;
    }
}

fn tools(harness: &Harness, external: &ExternalServices) -> ToolsHandle {
    let parts = ToolsParts {
        secrets: harness.secrets.clone(),
        outbound: Outbound::new(OutboundSettings {
            allow_private: true,
        })
        .unwrap(),
        store: harness.store.clone(),
        clock: harness.clock.clone(),
        random: Arc::new(SystemRandom),
    };
    let mcp = format!("{}/mcp", external.origin).parse().unwrap();
    let settings = ToolsSettings {
        web_search: WebSearch {
            provider: Some(SearchProvider::Searxng),
            base_url: Some(external.origin.parse().unwrap()),
            ..WebSearch::default()
        },
        mcp_servers: BTreeMap::from([("files".to_owned(), McpServer::at(mcp))]),
        ..ToolsSettings::default()
    };
    gatehouse_tools::register(&harness.agents, parts, settings)
}

async fn connected(tools: &ToolsHandle) {
    let mut board = tools.mcp().watch();
    let there = board.wait_for(|board| {
        let server = board.get("files");
        server.is_some_and(|server| server.state == McpState::Connected)
    });
    let there = tokio::time::timeout(Duration::from_secs(20), there).await;
    assert!(there.is_ok(), "{:?}", tools.mcp().status());
}
