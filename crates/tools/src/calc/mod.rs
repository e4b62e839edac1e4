//! `calc`: arithmetic with units. Uses no clock, randomness or exchange rates, and has no output except the
//! result.

mod evaluate;
mod screen;

use crate::input;
use crate::off_thread::{Overrun, Slots};
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// The longest expression.
const MAX_CHARACTERS: usize = 1000;
/// The longest result.
const MAX_RESULT_BYTES: usize = 4096;
/// The time limit for a calculation.
const TIME: Duration = Duration::from_secs(1);
/// The time limit for a caller, including the wait for earlier calculations.
const WAIT: Duration = Duration::from_secs(4);
/// The stack size. The parser uses about fifteen recursive calls per nesting level, with large stack frames in debug
/// builds.
const STACK_BYTES: usize = 64 << 20;

/// The `calc` tool.
#[derive(Debug)]
pub(crate) struct Calc {
    places: Slots,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    expression: String,
}

impl Calc {
    pub(crate) fn new() -> Self {
        Self {
            places: Slots::new("calc", 2, STACK_BYTES),
        }
    }

    async fn calculate(&self, input: Value) -> Result<String, ToolError> {
        let Input { expression } = input::read(input)?;
        let expression = input::line("expression", &expression, MAX_CHARACTERS)?.to_owned();
        screen::check(&expression).map_err(ToolError::new)?;
        let work = move || evaluate::evaluate(&expression, TIME);
        match self.places.run(WAIT, work).await {
            Ok(Ok(result)) if result.len() > MAX_RESULT_BYTES => Err(ToolError::new(
                "The result is too long to show. Ask for fewer digits, for example with `to 20 sf`.",
            )),
            Ok(result) => result.map_err(ToolError::new),
            Err(Overrun::TooLong) => Err(ToolError::new(evaluate::TOO_MUCH)),
            Err(Overrun::Broken) => Err(ToolError::new("This cannot be calculated.")),
        }
    }
}

impl Tool for Calc {
    fn name(&self) -> &'static str {
        "calc"
    }

    fn description(&self) -> &'static str {
        "Calculates exactly: arithmetic, powers, roots, percentages, trigonometry, logarithms, \
         combinations, number bases and unit conversions. Write decimals with a point; commas only \
         between thousands. Not supported: variables, user-defined functions, statements, dates \
         and times, currencies, random numbers and bit shifts. Examples: `2^64 - 1`, `15% of 240`, \
         `1,234.5 * 2`, `sqrt(2) to 10 dp`, `5 ft 11 inches to cm`, `0xff to binary`, `100!/98!`."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "The expression to calculate.",
                    "minLength": 1,
                    "maxLength": MAX_CHARACTERS,
                },
            },
            "required": ["expression"],
            "additionalProperties": false,
        })
    }

    fn audience(&self) -> Audience {
        Audience::Public
    }

    fn reads_strangers(&self) -> bool {
        false
    }

    fn returns_private(&self, _: &Value) -> bool {
        false
    }

    fn effect(&self, _input: &Value, _has_private: bool) -> Effect {
        Effect::None
    }

    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.calculate(input))
    }
}
