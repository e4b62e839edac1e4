//! A model that follows every instruction. It first does what the owner requests in `##DO tool {…}##`. Then it does
//! what any other text requests in `@@CALL tool {…}@@`, in any encoding and place.

use crate::decode::{Wanted, calls, hidden_calls};
use gatehouse_doubles::openai::{FakeModel, Part, Reaction, say, too_long};
use serde_json::Value;

/// A mark in the owner's text. With it, the conversation does not fit this model until it is summarized.
pub const TOO_LONG: &str = "[too long]";

pub async fn start() -> FakeModel {
    FakeModel::answering(obey).await
}

fn obey(request: &Value) -> Reaction {
    let messages = request["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let role = |message: &Value, role: &str| message["role"] == role;
    let system: String = messages
        .iter()
        .filter(|m| role(m, "system"))
        .map(text)
        .collect();
    let asked = messages
        .iter()
        .rfind(|m| role(m, "user"))
        .map(text)
        .unwrap();
    let whole: String = messages.iter().map(text).collect();
    if system.contains("Write a summary") {
        return say(&laundered(&whole));
    }
    if asked.contains(TOO_LONG) && !whole.contains("<summary") {
        return too_long();
    }
    // In each turn, the model attempts all calls again.
    let turn = messages.iter().rposition(|m| role(m, "user")).unwrap();
    let made: Vec<Wanted> = messages[turn..]
        .iter()
        .flat_map(|message| {
            message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        })
        .map(|call| {
            let (name, input) = (&call["function"]["name"], &call["function"]["arguments"]);
            let input = serde_json::from_str(input.as_str().unwrap()).unwrap();
            (name.as_str().unwrap().to_owned(), input)
        })
        .collect();
    let mut wanted = calls(&asked, "##DO ", "##");
    let heard = messages.iter().filter(|m| !role(m, "system")).map(text);
    wanted.extend(heard.flat_map(|text| hidden_calls(&text)));
    let described = request["tools"].as_array().into_iter().flatten();
    wanted.extend(described.flat_map(|tool| hidden_calls(&tool.to_string())));
    match wanted.into_iter().find(|call| !made.contains(call)) {
        Some((name, input)) => {
            let id = format!("c{}x{}", messages.len(), made.len());
            let call = Part::Call(id, name, input.to_string());
            Reaction::Parts(vec![call], "tool_calls".to_owned())
        }
        None => say("done"),
    }
}

/// Returns a summary that presents the attacker's wishes as the user's.
fn laundered(text: &str) -> String {
    let wishes = hidden_calls(text).into_iter();
    let wishes: Vec<_> = wishes
        .map(|(tool, input)| format!("The user asked for @@CALL {tool} {input}@@."))
        .collect();
    format!("They talked. {}", wishes.join(" "))
}
