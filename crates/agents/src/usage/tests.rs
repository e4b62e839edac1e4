//! Tests of the parent module.

use super::*;
use gatehouse_domain::Timestamp;

#[test]
fn an_estimate_replaces_only_a_report_without_tokens() {
    let usage = |input_tokens, output_tokens| Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    };
    let whole = |reported| {
        let used = Used::by_whole(reported, usage(7, 3));
        (used.usage, used.estimated_tokens)
    };
    assert_eq!(whole(usage(0, 0)), (usage(7, 3), 10));
    assert_eq!(whole(usage(0, 1)), (usage(0, 1), 0));
    assert_eq!(whole(usage(1, 0)), (usage(1, 0), 0));
}

#[test]
fn cached_tokens_have_a_price_of_their_own_or_that_of_the_input() {
    let usage = Usage {
        input_tokens: 1000,
        output_tokens: 10,
        cached_tokens: 400,
        reasoning_tokens: 5,
    };
    let mut facts = ModelFacts {
        price_in: Some(2.0),
        price_out: Some(8.0),
        price_cached: Some(0.5),
        ..ModelFacts::default()
    };
    // 600 · 2 + 400 · 0.5 + 10 · 8 = 1480 millionths.
    assert_eq!(cost_nanos(usage, &facts), Some(1_480_000));
    facts.price_cached = None;
    assert_eq!(cost_nanos(usage, &facts), Some(2_080_000));
    assert_eq!(cost_nanos(usage, &ModelFacts::default()), None);
    facts.price_in = None;
    assert_eq!(cost_nanos(usage, &facts), Some(80_000));
}

#[test]
fn absurd_numbers_of_a_provider_count_up_to_a_limit() {
    let cause = Cause {
        agent: String::new(),
        webhook: String::new(),
        api_key: String::new(),
    };
    let day = UtcDay::of(Timestamp::from_millis(0));
    let facts = ModelFacts {
        price_in: Some(1e12),
        ..ModelFacts::default()
    };
    for (reported, counted) in [
        (MAX_CALL_TOKENS, MAX_CALL_TOKENS),
        (MAX_CALL_TOKENS + 1, MAX_CALL_TOKENS),
        (u64::MAX, MAX_CALL_TOKENS),
    ] {
        let usage = Usage {
            input_tokens: reported,
            output_tokens: reported,
            cached_tokens: reported,
            reasoning_tokens: reported,
        };
        let used = Used::by_whole(usage, Usage::default());
        let row = cause.row(day, "m", used, &facts);
        let counts = [
            row.input_tokens,
            row.output_tokens,
            row.cached_tokens,
            row.reasoning_tokens,
        ];
        assert_eq!(counts.map(i64::unsigned_abs), [counted; 4], "{reported}");
        assert_eq!(row.cost_nanos, Some(MAX_CALL_COST_NANOS));
    }
    let usage = Usage {
        input_tokens: 1000,
        ..Usage::default()
    };
    assert_eq!(
        cost_nanos(usage, &facts),
        Some(MAX_CALL_COST_NANOS),
        "a high price"
    );
}

#[test]
fn only_an_api_key_is_a_key() {
    assert_eq!(Cause::api_key_of("api_key key_1"), "key_1");
    for other in ["session as_1", "cli", "webhook wh_1", "device dev_1"] {
        assert_eq!(Cause::api_key_of(other), "");
    }
}
