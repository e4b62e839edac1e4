//! The calculation itself. It blocks, so it must run on its own thread.

use crate::text::one_line;
use fend_core::{Context, Interrupt, evaluate_with_interrupt};
use std::time::{Duration, Instant};

/// The error of a calculation that does not end in time.
pub(super) const TOO_MUCH: &str = "The calculation takes too long, or its result is too large.";

/// Stops a calculation at a deadline. The library polls it often, even within a single multiplication. The library's
/// memory grows no faster than it calculates.
struct Until(Instant);

impl Interrupt for Until {
    fn should_interrupt(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// Returns the result, or an error sentence. Calls share no state.
pub(super) fn evaluate(expression: &str, limit: Duration) -> Result<String, String> {
    let until = Until(Instant::now() + limit);
    let mut context = Context::new();
    context.disable_rng();
    match evaluate_with_interrupt(expression, &mut context, &until) {
        Ok(result) if result.output_is_empty() => Err("There is no result.".to_owned()),
        Ok(result) => Ok(result.get_main_result().to_owned()),
        Err(_) if until.should_interrupt() => Err(TOO_MUCH.to_owned()),
        Err(error) => Err(format!(
            "The expression cannot be calculated: {}.",
            one_line(&error, 300).trim_end_matches('.')
        )),
    }
}
