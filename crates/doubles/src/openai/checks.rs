//! Checks that make vendors refuse a request.

use serde_json::Value;
use std::collections::HashSet;

/// The name of a model that reads images. The gateway has no record of this model.
pub const SEEING: &str = "seeing";
/// The models that read images.
const VISION: [&str; 2] = [SEEING, "gpt-4o"];

pub(super) fn check(request: &Value) -> Result<(), String> {
    let messages = request["messages"].as_array();
    let messages = messages.ok_or("Missing required parameter: 'messages'.")?;
    if request["stream"] != true {
        return Err("This double streams every answer: 'stream' must be true.".to_owned());
    }
    check_pairs(messages)?;
    let model = request["model"].as_str().unwrap_or_default();
    check_order(model, messages)?;
    for message in messages {
        let mut parts = message["content"].as_array().into_iter().flatten();
        parts.try_for_each(|part| check_part(model, part))?;
    }
    let calls = || {
        messages
            .iter()
            .filter_map(|m| m["tool_calls"].as_array())
            .flatten()
    };
    calls().try_for_each(check_name)?;
    check_ids(model, calls())
}

/// Checks that every call has an answer and every answer a call.
fn check_pairs(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = &message["tool_call_id"];
            let place = open.iter().position(|call| call["id"] == *id);
            open.remove(place.ok_or_else(|| format!("no call for {message}"))?);
        } else if open.is_empty() {
            let calls = message["tool_calls"].as_array();
            open = calls.cloned().unwrap_or_default();
        } else {
            break;
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("no answer to {open:?}"))
    }
}

/// Checks the order of messages. Mistral refuses a user's message after the result of a tool (code
/// 3230, <https://github.com/avante-corp/avante.nvim/issues/2562>).
fn check_order(model: &str, messages: &[Value]) -> Result<(), String> {
    let is_refused = |pair: &[Value]| matches!(pair, [before, after] if before["role"] == "tool" && after["role"] == "user");
    if model.starts_with("mistral") && messages.windows(2).any(is_refused) {
        return Err("Unexpected role 'user' after role 'tool'".to_owned());
    }
    Ok(())
}

/// Checks the name of a tool. Vendors refuse invalid names.
fn check_name(call: &Value) -> Result<(), String> {
    let name = call["function"]["name"].as_str().unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(is_allowed) {
        Ok(())
    } else {
        Err(format!("Invalid 'name': {name:?}"))
    }
}

/// Checks the IDs of calls. Anthropic refuses duplicate IDs (<https://platform.claude.com/docs/en/api/messages>).
/// Mistral refuses every ID that is not nine letters or digits (`mistral-common`, `validator.py`).
fn check_ids<'a>(model: &str, calls: impl Iterator<Item = &'a Value>) -> Result<(), String> {
    let mut seen = HashSet::new();
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default();
        let is_plain = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if model.starts_with("mistral") && !is_plain {
            return Err(format!(
                "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
            ));
        }
        if !seen.insert(id) {
            return Err(format!("two calls have the id {id}"));
        }
    }
    Ok(())
}

/// Refuses empty texts, images for a model that does not read images, image formats other than PNG, JPEG, WebP and GIF,
/// and content whose format differs from the stated one (<https://platform.openai.com/docs/guides/images-vision>).
fn check_part(model: &str, part: &Value) -> Result<(), String> {
    match part["type"].as_str() {
        Some("text") if part["text"].as_str().is_some_and(|text| !text.is_empty()) => Ok(()),
        Some("text") => Err("Invalid 'text': empty string.".to_owned()),
        Some("image_url") if !VISION.contains(&model) => {
            Err("Invalid content type. image_url is only supported by certain models.".to_owned())
        }
        Some("image_url") => {
            let url = part["image_url"]["url"].as_str().unwrap_or_default();
            let data = url.strip_prefix("data:image/jpeg;base64,");
            // A JPEG begins with these three bytes.
            match data {
                Some(data) if data.starts_with("/9j/") && data.len() <= 50 << 20 => Ok(()),
                _ => Err("You uploaded an unsupported image.".to_owned()),
            }
        }
        _ => Err("Invalid value: 'type'.".to_owned()),
    }
}
