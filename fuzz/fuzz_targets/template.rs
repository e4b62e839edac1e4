//! Templates of deliver-only webhooks: placeholders without a value stay, and values are never parsed as
//! templates.
#![no_main]

use std::borrow::Cow;

use gatehouse_sources::payload::Payload;
use gatehouse_sources::template::{MAX_JSON_CHARS, MAX_RAW_CHARS, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // The first line is the template, the rest is the payload.
    let (template, json) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(payload) = Payload::from_json(json) else {
        return;
    };
    if template.contains('\0') {
        return;
    }
    // Each value is replaced by a mark, so that only the template's own text remains.
    let marked = render(template, &payload, &|_| Cow::Borrowed("\0"));
    let marks = marked.matches('\0').count();
    let placeholders = template
        .matches('{')
        .count()
        .min(template.matches('}').count());
    assert!(marks <= placeholders);
    if marks == 0 {
        assert_eq!(marked, template);
    }
    let filled = render(template, &payload, &|value| Cow::Borrowed(value));
    let longest = MAX_RAW_CHARS.max(MAX_JSON_CHARS).max(json.chars().count());
    assert!(filled.chars().count() <= template.chars().count() + marks * longest);
    let empty = Payload::from_json("[]").expect("JSON");
    assert_eq!(
        render(template, &empty, &|_| Cow::Borrowed("")),
        template.replace("{__raw__}", "")
    );
});
