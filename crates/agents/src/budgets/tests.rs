//! Tests of the parent module.

use super::*;
use crate::budget_values::NewBudget;

#[test]
fn a_limit_in_tokens_at_and_past_its_bounds() {
    for (tokens, is_good) in [
        (0, false),
        (1, true),
        (MAX_TOKENS, true),
        (MAX_TOKENS + 1, false),
    ] {
        let new = NewBudget {
            scope: "all".to_owned(),
            period: BudgetPeriod::Day,
            tokens: Some(tokens),
            cost: None,
        };
        assert_eq!(checked(new).is_ok(), is_good, "{tokens}");
    }
}
