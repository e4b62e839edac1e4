use super::*;
use crate::origin::MessageOrigin;
use crate::tool::{ToolContext, ToolError};
use crate::tool_policy::restrains;
use futures_util::future::BoxFuture;
use gatehouse_domain::id::DeliveryId;
use serde_json::{Value, json};

#[derive(Debug)]
struct Fake(&'static str, Audience);

impl Tool for Fake {
    fn name(&self) -> &str {
        self.0
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn parameters(&self) -> Value {
        json!({})
    }
    fn audience(&self) -> Audience {
        self.1
    }
    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        _: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

const PUBLIC: [&str; 3] = ["calc", "web_fetch", "web_search"];
const TRUSTED: [&str; 5] = [
    "mcp__x__read",
    "mcp__xy__read",
    "speak",
    "webhook",
    "webhook_get_full_payload",
];

fn registry() -> ToolRegistry {
    let registry = ToolRegistry::default();
    for name in PUBLIC {
        registry.register(Arc::new(Fake(name, Audience::Public)));
    }
    for name in TRUSTED {
        registry.register(Arc::new(Fake(name, Audience::Trusted)));
    }
    registry
}

fn policy(allow: &[&str], deny: &[&str]) -> ToolPolicy {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    ToolPolicy {
        allow: owned(allow),
        deny: owned(deny),
    }
}

fn webhook(policy: Option<ToolPolicy>) -> Origin {
    Origin::Webhook {
        policy,
        targets: Vec::new(),
        delivery: DeliveryId::from_text("del_1"),
        written_by: MessageOrigin::Stranger,
    }
}

fn offered(origin: &Origin, tainted: bool, agent: &ToolPolicy) -> Vec<String> {
    let registry = registry();
    let permit = Permit::of(origin, tainted, agent);
    let offered = permit.offered(&registry);
    // The offered tools and the callable tools are the same.
    for tool in registry.all() {
        let is_offered = offered.iter().any(|other| other.name() == tool.name());
        assert_eq!(permit.admits(&*tool), is_offered, "{}", tool.name());
    }
    offered.iter().map(|tool| tool.name().to_owned()).collect()
}

/// A webhook's policy and the tools that its turns may use.
type Row = (
    Option<(&'static [&'static str], &'static [&'static str])>,
    &'static [&'static str],
);

const WEBHOOK_ROWS: &[Row] = &[
    (None, &[]),
    (Some((&[], &[])), &PUBLIC),
    (Some((&["*"], &[])), &PUBLIC),
    (Some((&["calc"], &[])), &["calc"]),
    (Some((&["calc", "webhook"], &[])), &["calc"]),
    (Some((&["webhook"], &[])), &[]),
    (Some((&["webhook*"], &[])), &[]),
    (Some((&["mcp__x__*"], &[])), &[]),
    (Some((&["web_*"], &[])), &["web_fetch", "web_search"]),
    (Some((&[], &["calc"])), &["web_fetch", "web_search"]),
    (Some((&[], &["*"])), &[]),
    (Some((&["*"], &["web_*"])), &["calc"]),
    (Some((&["calc"], &["calc"])), &[]),
    (Some((&["CALC"], &[])), &[]),
    (Some((&["cal"], &[])), &[]),
    (Some((&[""], &[])), &[]),
    (Some((&["unknown"], &[])), &[]),
];

#[test]
fn a_webhook_has_what_its_policy_says_of_public_tools() {
    for (given, expected) in WEBHOOK_ROWS {
        let origin = webhook(given.map(|(allow, deny)| policy(allow, deny)));
        for tainted in [false, true] {
            let found = offered(&origin, tainted, &ToolPolicy::default());
            assert_eq!(found, *expected, "{given:?}");
        }
    }
}

#[test]
fn an_agents_wishes_never_widen_a_webhooks_turn() {
    let any = webhook(Some(ToolPolicy::default()));
    let trusting = policy(&["webhook", "speak", "*"], &[]);
    assert_eq!(offered(&any, false, &trusting), PUBLIC);
    assert_eq!(
        offered(&any, false, &policy(&[], &["calc"])),
        ["web_fetch", "web_search"]
    );
    assert!(offered(&webhook(None), false, &trusting).is_empty());
}

#[test]
fn a_chat_has_what_its_agent_allows() {
    let all: Vec<&str> = registry_names();
    assert_eq!(offered(&Origin::Chat, false, &ToolPolicy::default()), all);
    assert_eq!(offered(&Origin::Chat, false, &policy(&["*"], &[])), all);
    assert_eq!(
        offered(&Origin::Chat, false, &policy(&["mcp__x__*", "calc"], &[])),
        ["calc", "mcp__x__read"]
    );
    assert_eq!(
        offered(&Origin::Chat, false, &policy(&["webhook"], &[])),
        ["webhook"]
    );
    assert_eq!(
        offered(&Origin::Chat, false, &policy(&[], &["webhook*", "mcp__*"])),
        ["calc", "speak", "web_fetch", "web_search"]
    );
}

fn registry_names() -> Vec<&'static str> {
    let mut all: Vec<&str> = PUBLIC.into_iter().chain(TRUSTED).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_tainted_chat_has_public_tools_only() {
    assert_eq!(offered(&Origin::Chat, true, &ToolPolicy::default()), PUBLIC);
    assert_eq!(offered(&Origin::Chat, true, &policy(&["*"], &[])), PUBLIC);
    assert!(offered(&Origin::Chat, true, &policy(&["webhook", "mcp__x__*"], &[])).is_empty());
}

/// A trusted tool that a webhook's turn may use for the webhook's targets.
#[derive(Debug)]
struct Bound;

impl Tool for Bound {
    fn name(&self) -> &'static str {
        "channel_send"
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn parameters(&self) -> Value {
        json!({})
    }
    fn audience(&self) -> Audience {
        Audience::Trusted
    }
    fn serves_named_targets(&self) -> bool {
        true
    }
    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        _: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

#[test]
fn a_tool_that_serves_named_targets_needs_its_exact_name_and_a_target() {
    let origin = |names: &[&str], targets: &[&str]| Origin::Webhook {
        policy: Some(policy(names, &[])),
        targets: targets.iter().map(|&target| target.to_owned()).collect(),
        delivery: DeliveryId::from_text("del_1"),
        written_by: MessageOrigin::Stranger,
    };
    let permit = |origin: &Origin, agent: &ToolPolicy| Permit::of(origin, true, agent);
    let any = ToolPolicy::default();
    let named = permit(&origin(&["channel_send"], &["inbox"]), &any);
    assert!(named.admits(&Bound));
    assert_eq!(named.targets_of(&Bound), Some(&["inbox".to_owned()][..]));
    let rows: [(&[&str], &[&str]); 4] = [
        (&["channel_send"], &[]),
        (&["*"], &["inbox"]),
        (&["channel_*"], &["inbox"]),
        (&[], &["inbox"]),
    ];
    for (names, targets) in rows {
        assert!(
            !permit(&origin(names, targets), &any).admits(&Bound),
            "{names:?}"
        );
    }
    let denied = policy(&[], &["channel_send"]);
    assert!(!permit(&origin(&["channel_send"], &["inbox"]), &denied).admits(&Bound));
    // The owner's chat in such a session has public tools only; elsewhere, it has all targets.
    let agent = policy(&["channel_send"], &[]);
    assert!(!permit(&Origin::Chat, &agent).admits(&Bound));
    let trusted = Permit::of(&Origin::Chat, false, &agent);
    assert!(trusted.admits(&Bound) && trusted.targets_of(&Bound).is_none());
    // Other trusted tools are still not allowed.
    let other = permit(&origin(&["webhook"], &["inbox"]), &any);
    assert!(!other.admits(&Fake("webhook", Audience::Trusted)));
}

/// Two tools that shared one name in an earlier version.
#[derive(Debug)]
struct Renamed(&'static str);

impl Tool for Renamed {
    fn name(&self) -> &str {
        self.0
    }
    fn former_name(&self) -> Option<&str> {
        Some("mcp__x__a_b")
    }
    fn description(&self) -> &'static str {
        ""
    }
    fn parameters(&self) -> Value {
        json!({})
    }
    fn audience(&self) -> Audience {
        Audience::Trusted
    }
    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        _: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

#[test]
fn a_former_name_restrains_and_never_allows() {
    let (plain, renamed) = (
        Renamed("mcp__x__a_b"),
        Renamed("mcp__x__a_b-0011223344556677"),
    );
    let allow = policy(&["mcp__x__a_b"], &[]);
    assert!(allow.admits(&plain) && !allow.admits(&renamed));
    let deny = policy(&[], &["mcp__x__a_b"]);
    assert!(!deny.admits(&plain) && !deny.admits(&renamed));
    let exact = policy(&[], &["mcp__x__a_b-0011223344556677"]);
    assert!(exact.admits(&plain) && !exact.admits(&renamed));
    let asked = ["mcp__x__a_b".to_owned()];
    assert!(restrains(&asked, &plain) && restrains(&asked, &renamed));
    let asked = ["mcp__x__a_b-0011223344556677".to_owned()];
    assert!(!restrains(&asked, &plain) && restrains(&asked, &renamed));
}

#[test]
fn a_person_on_a_channel_has_the_owner_s_tools_only_if_trusted_and_untainted() {
    let by = |written_by| Origin::Channel {
        message: DeliveryId::from_text("inbound:telegram:1"),
        written_by,
    };
    let (owner, guest) = (by(MessageOrigin::Owner), by(MessageOrigin::Stranger));
    let all = policy(&[], &[]);
    assert_eq!(offered(&owner, false, &all).len(), 8);
    assert_eq!(offered(&owner, true, &all), PUBLIC);
    assert_eq!(offered(&guest, false, &all), PUBLIC);
    let named = policy(&["calc", "speak"], &[]);
    assert_eq!(offered(&guest, true, &named), ["calc"]);
    let calc = Fake("calc", Audience::Public);
    assert!(Permit::of(&owner, true, &named).names(&calc));
    assert!(!Permit::of(&guest, true, &named).names(&calc));
}
