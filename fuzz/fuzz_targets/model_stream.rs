//! Response streams of both families of language models. The result does not depend on how the bytes are
//! split, there is at most one end with nothing after it, and no limit is exceeded.
#![no_main]

use gatehouse_models::reply_reader::{ReadError, ReplyReader};
use gatehouse_models::{Chunk, Limits, ProviderKind, StopReason};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits {
    reply_bytes: 4096,
    event_bytes: 1024,
    text_bytes: 256,
    call_bytes: 128,
    calls: 4,
};

fn read<'a>(
    kind: ProviderKind,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Chunk>, Result<(), ReadError>) {
    let mut reader = ReplyReader::new(kind, LIMITS);
    let mut out = Vec::new();
    for piece in pieces {
        if let Err(error) = reader.push(piece, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = reader.end(&mut out);
    assert_eq!(ended.is_ok(), reader.is_complete());
    (out, ended)
}

fuzz_target!(|bytes: &[u8]| {
    let (first, bytes) = gatehouse_fuzz::split(bytes);
    let kind = if first & 1 == 0 {
        ProviderKind::Openai
    } else {
        ProviderKind::Anthropic
    };
    let whole = read(kind, [bytes]);
    assert_eq!(read(kind, bytes.chunks(1)), whole);
    assert_eq!(read(kind, bytes.chunks(usize::from(first) + 1)), whole);
    let (chunks, ended) = whole;
    let is_end = |chunk: &Chunk| matches!(chunk, Chunk::End { .. });
    let ends = chunks.iter().filter(|chunk| is_end(chunk)).count();
    assert_eq!(ends, usize::from(ended.is_ok()));
    assert!(ends == 0 || chunks.last().is_some_and(is_end));
    let is_cut = chunks
        .iter()
        .any(|chunk| matches!(chunk, Chunk::End { stop, .. } if *stop == StopReason::Length));
    let (mut text, mut calls) = (0, 0);
    for chunk in &chunks {
        match chunk {
            Chunk::Text(more) => {
                assert!(!more.is_empty());
                text += more.len();
            }
            Chunk::ToolCall(call) => {
                calls += 1;
                assert!(!call.id.is_empty() && !call.name.is_empty());
                assert!(is_cut || !call.arguments.is_empty());
                // A missing ID or missing arguments are filled in after counting.
                let length = call.id.len() + call.name.len() + call.arguments.len();
                assert!(length <= LIMITS.call_bytes + "call_3{}".len());
            }
            Chunk::Reasoning(more) => assert!(!more.is_empty()),
            Chunk::State(state) => assert!(state.is_object()),
            Chunk::End { .. } => {}
        }
    }
    assert!(text <= LIMITS.text_bytes && calls <= LIMITS.calls);
});
