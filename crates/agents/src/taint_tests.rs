use super::*;
use proptest::prelude::*;

const EFFECTS: [Effect; 5] = [
    Effect::None,
    Effect::Send,
    Effect::Change,
    Effect::Reveal,
    Effect::Spend,
];
const ORIGINS: [MessageOrigin; 4] = [
    MessageOrigin::Owner,
    MessageOrigin::Configured,
    MessageOrigin::Model,
    MessageOrigin::Stranger,
];

/// A generated case. Names and targets are short, so that entries often match.
#[derive(Clone, Debug)]
struct Case {
    tool: String,
    target: Option<String>,
    effect: Effect,
    read: HasRead,
    is_required: bool,
    is_guarded: bool,
    is_named: bool,
    trust: Vec<String>,
}

impl Case {
    fn reason(&self) -> Option<AskReason> {
        let call = Requested {
            tool: &self.tool,
            target: self.target.as_deref(),
            effect: self.effect,
        };
        let decisions = OwnerDecisions {
            is_required: self.is_required,
            is_guarded: self.is_guarded,
            is_named: self.is_named,
            trust: &self.trust,
        };
        reason_to_ask(call, self.read, decisions)
    }

    fn asks(&self) -> bool {
        self.reason().is_some()
    }
}

fn case() -> impl Strategy<Value = Case> {
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    let call = (
        "[ab]{1,2}",
        prop::option::of("[ab:*]{0,3}"),
        prop::sample::select(&EFFECTS[..]),
    );
    let trust = prop::collection::vec("[ab]{1,2}(:[ab:*]{0,3})?", 0..4);
    (call, flags, trust).prop_map(|((tool, target, effect), flags, trust)| {
        let (strangers, private, is_required, is_guarded, is_named) = flags;
        Case {
            tool,
            target,
            effect,
            read: HasRead { strangers, private },
            is_required,
            is_guarded,
            is_named,
            trust,
        }
    })
}

proptest! {
    /// Compares the policy with a second implementation of it.
    #[test]
    fn a_call_asks_only_for_a_reason(case in case()) {
        let target = case.target.as_deref().unwrap_or_default();
        let exact = format!("{}:{target}", case.tool);
        let any = format!("{}:*", case.tool);
        let entry = |entry: &String| match case.target {
            Some(_) => *entry == exact || *entry == any,
            None => *entry == case.tool || *entry == any,
        };
        let allowed = case.is_named || case.trust.iter().any(entry);
        let expected = if case.is_required {
            Some(AskReason::Required)
        } else if case.read.strangers && case.is_guarded && case.effect != Effect::None && !allowed {
            Some(AskReason::Tainted)
        } else {
            None
        };
        prop_assert_eq!(case.reason(), expected);
    }

    #[test]
    fn reading_more_never_asks_less(case in case(), origin in prop::sample::select(&ORIGINS[..]), private: bool) {
        let mut more = case.clone();
        more.read.read(origin, private);
        prop_assert!(more.asks() >= case.asks());
        prop_assert_eq!(more.read.strangers, case.read.strangers || origin == MessageOrigin::Stranger);
    }

    #[test]
    fn requiring_approval_only_adds(case in case()) {
        let required = Case { is_required: true, ..case };
        prop_assert_eq!(required.reason(), Some(AskReason::Required));
    }

    #[test]
    fn an_entry_for_another_tool_changes_nothing(case in case(), entry in "[cd]{1,2}(:[ab*]{0,2})?") {
        let mut more = case.clone();
        more.trust.push(entry);
        prop_assert_eq!(more.reason(), case.reason());
    }

    #[test]
    fn a_turn_that_read_no_stranger_is_free(case in case(), texts in prop::collection::vec((0..3_usize, any::<bool>()), 0..9)) {
        let mut read = HasRead::default();
        for (origin, private) in texts {
            read.read(ORIGINS[origin], private);
        }
        let free = Case { read, is_required: false, ..case };
        prop_assert!(!free.asks());
    }

    #[test]
    fn one_stranger_is_enough_and_is_not_forgotten(case in case(), before in 0..3_usize, after in prop::collection::vec(0..3_usize, 0..9)) {
        let mut read = HasRead::default();
        read.read(ORIGINS[before], false);
        read.read(MessageOrigin::Stranger, false);
        for origin in after {
            read.read(ORIGINS[origin], false);
        }
        let guarded = Case { read, is_guarded: true, is_named: false, trust: Vec::new(), ..case };
        prop_assert_eq!(guarded.asks(), guarded.is_required || guarded.effect != Effect::None);
    }
}

#[test]
fn trust_is_for_exactly_one_target() {
    let allows = |entry: &str, target: Option<&str>| {
        let call = Requested {
            tool: "web_fetch",
            target,
            effect: Effect::Reveal,
        };
        is_trusted(entry, call)
    };
    assert!(allows("web_fetch:docs.rs", Some("docs.rs")));
    assert!(allows("web_fetch:*", Some("docs.rs")) && allows("web_fetch:*", None));
    assert!(allows("web_fetch", None));
    // A target may contain a colon.
    assert!(allows("web_fetch:h:8080", Some("h:8080")));
    for entry in [
        "web_fetch",
        "web_fetch:",
        "web_fetch:docs",
        "web_fetch:docs.rs.evil.test",
        "web_fetch:*.rs",
        "web_*:docs.rs",
        "*",
        "*:*",
        ":docs.rs",
    ] {
        assert!(!allows(entry, Some("docs.rs")), "{entry}");
    }
}
