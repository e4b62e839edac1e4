//! The results of tools
//! (<https://modelcontextprotocol.io/specification/2025-06-18/server/tools#tool-result>).

use crate::envelope::Outcome;
use crate::method_entry::outcome_of;
use gatehouse_domain::{ErrorCode, Problem};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct ToolResult<'a> {
    content: &'a [Content<'a>],
    #[serde(rename = "isError")]
    is_error: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Content<'a> {
    Text {
        text: &'a str,
    },
    #[cfg(feature = "voice")]
    Audio {
        /// The audio in base64.
        data: &'a str,
        #[serde(rename = "mimeType")]
        media_type: &'a str,
    },
}

fn result(content: &[Content<'_>], is_error: bool) -> Outcome {
    outcome_of(Ok(ToolResult { content, is_error }))
}

/// Returns the result of the method as JSON text.
pub(super) fn text(outcome: Outcome) -> Outcome {
    match outcome {
        Ok(value) => result(&[Content::Text { text: value.get() }], false),
        Err(problem) => failed(problem),
    }
}

/// Returns the audio of `tts.convert`, and the rest of its result as JSON text.
#[cfg(feature = "voice")]
pub(super) fn speech(outcome: Outcome) -> Outcome {
    let value = match outcome {
        Ok(value) => value,
        Err(problem) => return failed(problem),
    };
    let mut members: Map<String, Value> =
        serde_json::from_str(value.get()).map_err(|_| Problem::internal())?;
    drop(value);
    let audio = members.remove("audio");
    let (Some(Value::String(data)), Some(media_type)) = (
        audio,
        members
            .get("mimeType")
            .and_then(Value::as_str)
            .map(str::to_owned),
    ) else {
        return Err(Problem::internal());
    };
    let audio = Content::Audio {
        data: &data,
        media_type: &media_type,
    };
    let rest = Value::Object(members).to_string();
    result(&[audio, Content::Text { text: &rest }], false)
}

/// Converts a refusal that the model can act on to a result with `isError`. Its text has the format of an HTTP error.
fn failed(problem: Problem) -> Outcome {
    if is_of_protocol(problem.code) {
        return Err(problem);
    }
    let mut body = Map::new();
    body.insert("error".to_owned(), problem.message.into());
    body.insert("code".to_owned(), problem.code.name().into());
    body.extend(problem.details);
    let text = Value::Object(body).to_string();
    result(&[Content::Text { text: &text }], true)
}

/// Returns whether an error is about the caller or the server, not about the call.
const fn is_of_protocol(code: ErrorCode) -> bool {
    use ErrorCode as Code;
    matches!(
        code,
        Code::NotAuthenticated
            | Code::SetupRequired
            | Code::Forbidden
            | Code::ConfirmationRequired
            | Code::RateLimited
            | Code::Internal
            | Code::StorageUnavailable
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    fn value(outcome: Outcome) -> Value {
        serde_json::from_str(outcome.unwrap().get()).unwrap()
    }

    #[test]
    fn a_result_is_text_and_a_failure_is_marked() {
        let raw = to_raw_value(&json!({ "a": "ä\"" })).unwrap();
        let expected = json!({ "content": [{ "type": "text", "text": "{\"a\":\"ä\\\"\"}" }], "isError": false });
        assert_eq!(value(text(Ok(raw))), expected);
        let failed = value(text(Err(Problem::not_found("delivery"))));
        assert_eq!(failed["isError"], true);
        let body: Value =
            serde_json::from_str(failed["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(body["code"], "NOT_FOUND");
    }

    #[test]
    fn a_refusal_of_the_caller_is_an_error_of_the_protocol() {
        for problem in [Problem::rate_limited(1), Problem::internal()] {
            let code = problem.code;
            assert_eq!(text(Err(problem)).unwrap_err().code, code);
        }
    }

    #[cfg(feature = "voice")]
    #[test]
    fn speech_is_audio_and_what_describes_it() {
        let raw =
            to_raw_value(&json!({ "audio": "AQID", "mimeType": "audio/mpeg", "size": 3 })).unwrap();
        let spoken = value(speech(Ok(raw)));
        let audio = json!({ "type": "audio", "data": "AQID", "mimeType": "audio/mpeg" });
        assert_eq!(spoken["content"][0], audio);
        let rest: Value =
            serde_json::from_str(spoken["content"][1]["text"].as_str().unwrap()).unwrap();
        assert_eq!(rest, json!({ "mimeType": "audio/mpeg", "size": 3 }));
        let failed = speech(Err(Problem::not_found("voice")));
        assert_eq!(value(failed)["isError"], true);
    }
}
