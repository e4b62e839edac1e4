//! Answers of language models, of both families: however the bytes are cut they read the same, there is
//! at most one end and nothing after it, and no limit is passed.

use gatehouse_models::reply_reader::{ReadError, ReplyReader};
use gatehouse_models::{Chunk, Limits, ProviderKind};

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

fn target(bytes: &[u8]) {
    let (first, bytes) = bytes.split_first().map_or((0, bytes), |(f, r)| (*f, r));
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
                assert!(!call.arguments.is_empty());
                // An absent id or absent arguments are filled in after counting.
                let length = call.id.len() + call.name.len() + call.arguments.len();
                assert!(length <= LIMITS.call_bytes + "call_3{}".len());
            }
            Chunk::End { .. } => {}
        }
    }
    assert!(text <= LIMITS.text_bytes && calls <= LIMITS.calls);
}

#[test]
fn tmp_fuzz() {
    let mut seeds = Vec::new();
    for e in std::fs::read_dir("../../fuzz/seeds/model_stream").unwrap() { seeds.push(std::fs::read(e.unwrap().path()).unwrap()); }
    let mut z: u64 = 88172645463325252;
    let mut rnd = move |n: usize| { z ^= z << 13; z ^= z >> 7; z ^= z << 17; (z % n.max(1) as u64) as usize };
    let mut ok = 0;
    for s in &seeds { target(s); }
    for _ in 0..60000 {
        let a = &seeds[rnd(seeds.len())];
        let b = &seeds[rnd(seeds.len())];
        let mut t = a.clone();
        for _ in 0..rnd(6) {
            match rnd(6) {
                0 => { let i = rnd(t.len()); if i < t.len() { t[i] = rnd(256) as u8; } }
                1 => { let i = rnd(t.len()); if i < t.len() { t.remove(i); } }
                2 => { let i = rnd(b.len()); let j = i + rnd(b.len() - i); let k = rnd(t.len() + 1); let part = b[i..j].to_vec(); t.splice(k..k, part); }
                3 => { let i = rnd(t.len() + 1); t.insert(i, b"\n\r:{}[]\",0 "[rnd(12)]); }
                4 => { let i = rnd(t.len() + 1); t.truncate(i); }
                _ => { let mut ls: Vec<&[u8]> = t.split(|c| *c == b'\n').collect(); let i = rnd(ls.len()); let j = rnd(ls.len()); ls.swap(i, j); let u = ls.join(&b'\n'); t = u; }
            }
        }
        target(&t);
        ok += 1;
    }
    println!("{ok}");
}
