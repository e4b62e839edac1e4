//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

type Read = (Vec<Chunk>, Result<bool, ReadError>);

fn read<'a>(
    kind: ProviderKind,
    limits: Limits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Read {
    let mut reader = ReplyReader::new(kind, limits);
    let mut out = Vec::new();
    for piece in pieces {
        if let Err(error) = reader.push(piece, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = reader.end(&mut out).map(|()| reader.is_complete());
    (out, ended)
}

const FRAMES: &[&str] = &[
    r#"{"choices":[{"index":0,"delta":{"content":"ä"}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{"}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}"#,
    r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
    "[DONE]",
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"t"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ö"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_stop"}"#,
    r#"{"type":"ping"}"#,
    "garbage",
];

proptest! {
    #[test]
    fn however_it_is_split(
        picks in proptest::collection::vec((0..FRAMES.len(), 0_usize..4), 0..8),
        cuts in proptest::collection::vec(0_usize..1000, 0..8),
        total in 0_usize..1500,
        event in 60_usize..200,
        is_openai: bool,
    ) {
        let mut text = String::new();
        for (pick, ending) in picks {
            text.push_str("data: ");
            text.push_str(FRAMES[pick]);
            text.push_str(["\n\n", "\r\n\r\n", "\r\r", "\n"][ending]);
        }
        let kind = if is_openai { ProviderKind::Openai } else { ProviderKind::Anthropic };
        let limits = Limits { reply_bytes: total, event_bytes: event, ..Limits::default() };
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        let whole = read(kind, limits, [bytes]);
        prop_assert_eq!(&read(kind, limits, pieces), &whole);
        let ends = whole.0.iter().filter(|chunk| matches!(chunk, Chunk::End { .. })).count();
        prop_assert_eq!(ends == 1, whole.1.is_ok());
        prop_assert!(ends <= 1);
    }
}
