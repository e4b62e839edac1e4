//! The tool `web_search`.

use super::{MAX_QUERY_CHARACTERS, RESULTS, WebSearch};
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

impl Tool for WebSearch {
    fn name(&self) -> &'static str {
        "web_search"
    }

    fn description(&self) -> &'static str {
        "Searches the web and returns titles, URLs and short excerpts. Use web_fetch to read a result."
    }

    fn parameters(&self) -> Value {
        let (min, default, max) = RESULTS;
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The search query.",
                    "minLength": 1,
                    "maxLength": MAX_QUERY_CHARACTERS,
                },
                "count": {
                    "type": "integer",
                    "description": "The number of results to return.",
                    "minimum": min,
                    "maximum": max,
                    "default": default,
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    fn audience(&self) -> Audience {
        Audience::Public
    }

    fn returns_private(&self, _: &Value) -> bool {
        false
    }

    fn effect(&self, _input: &Value, has_private: bool) -> Effect {
        if has_private {
            Effect::Reveal
        } else {
            Effect::None
        }
    }

    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.search(input))
    }
}
