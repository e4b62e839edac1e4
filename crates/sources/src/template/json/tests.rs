use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

const PAYLOAD: &str = r#"{"action":"opened","n":1.50,"big":12345678901234567890,"yes":true,"no":null,
    "quote":"a \"b\" \\ \u0001\n","evil":"\",\"admin\":true,\"x\":\"{action}",
    "issue":{"title":"T","labels":[{"name":"bug"},"ui"]},"first name":"Ada"}"#;

fn render(template: &str, payload: &str) -> Result<RenderedJson, JsonRenderError> {
    let template = JsonTemplate::parse(template).unwrap();
    template.render(&Payload::from_json(payload).unwrap(), None)
}

fn rendered(template: &str) -> String {
    render(template, PAYLOAD).unwrap().text
}

#[test]
fn a_string_that_is_one_placeholder_takes_the_value_with_its_type() {
    for (template, expected) in [
        (r#""{action}""#, r#""opened""#),
        (
            r#"["{n}","{big}","{yes}","{no}"]"#,
            "[1.50,12345678901234567890,true,null]",
        ),
        (
            r#"{"a":"{issue}"}"#,
            r#"{"a":{"title":"T","labels":[{"name":"bug"},"ui"]}}"#,
        ),
        (
            r#"{"a":"{issue.labels}"}"#,
            r#"{"a":[{"name":"bug"},"ui"]}"#,
        ),
        (r#"{"a":"{issue.labels.0.name}"}"#, r#"{"a":"bug"}"#),
        (r#""{quote}""#, r#""a \"b\" \\ \u0001\n""#),
        (r#""{first name}""#, r#""Ada""#),
    ] {
        assert_eq!(rendered(template), expected, "{template}");
    }
    let whole: Value = serde_json::from_str(&rendered(r#""{__raw__}""#)).unwrap();
    assert_eq!(whole, serde_json::from_str::<Value>(PAYLOAD).unwrap());
}

#[test]
fn a_longer_string_takes_values_as_text() {
    for (template, expected) in [
        (
            r#""PR {action}: {n} {yes} {no}""#,
            r#""PR opened: 1.50 true null""#,
        ),
        (r#""{action}{action}""#, r#""openedopened""#),
        (r#""<{quote}>""#, r#""<a \"b\" \\ \u0001\n>""#),
        (
            r#""labels {issue.labels}""#,
            r#""labels [{\"name\":\"bug\"},\"ui\"]""#,
        ),
    ] {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn the_rest_of_the_template_stays_without_its_white_space() {
    let template =
        "{\n  \"{action}\": [1.0, true, null, \"\\u00e9 {\", { }, [ ] ],\n  \"b\": \"}\" }\n";
    let expected = r#"{"{action}":[1.0,true,null,"é {",{},[]],"b":"}"}"#;
    assert_eq!(rendered(template), expected);
}

#[test]
fn a_value_that_is_missing_is_null_or_stays_in_a_text_and_is_named_once() {
    let template = r#"{"a":"{gone}","b":"by {issue.gone} and {gone}","c":"{action}"}"#;
    let RenderedJson { text, missing } = render(template, PAYLOAD).unwrap();
    let expected = r#"{"a":null,"b":"by {issue.gone} and {gone}","c":"opened"}"#;
    assert_eq!(text, expected);
    assert_eq!(missing, ["gone", "issue.gone"]);
    // A `null` in the payload is not missing.
    assert!(render(r#""{no}""#, PAYLOAD).unwrap().missing.is_empty());
}

#[test]
fn braces_of_a_text_that_name_no_field_stay() {
    for text in [
        "use {curly} words",
        "{{ not a field",
        "{{ not a field }}",
        "{code}\nlet x = 1;\n{code}",
        "{{monospaced}}",
        "{a}{b}",
        "say {answer}",
    ] {
        let template = json!({ "x": text }).to_string();
        assert_eq!(rendered(&template), template);
    }
    // A text of missing names has the same limits as any other text.
    let names = "{gone}".repeat(MAX_RENDERED_BYTES / 6);
    let rest = MAX_RENDERED_BYTES - 2 - names.len();
    for (more, fits) in [(rest, true), (rest + 1, false)] {
        let template = json!(names.clone() + &"x".repeat(more)).to_string();
        assert_eq!(render(&template, PAYLOAD).is_ok(), fits, "{more}");
    }
}

#[test]
fn a_string_in_braces_that_cannot_name_a_field_stays() {
    for text in [
        "{ not a field }",
        "{a, b}",
        "{3,5}",
        "{a b}",
        "{a..b}",
        "{.a}",
        "{a.}",
        "{}",
        "{what?}",
        "{\n}",
    ] {
        let template = json!([text]).to_string();
        assert_eq!(rendered(&template), template);
    }
    for name in [
        "gone", "a.b.0", "$ref", "@type", "a-b_c", "xml:lang", "größe", "a/b",
    ] {
        let template = json!([format!("{{{name}}}")]).to_string();
        let RenderedJson { text, missing } = render(&template, PAYLOAD).unwrap();
        assert_eq!((text.as_str(), missing), ("[null]", vec![name.to_owned()]));
    }
}

#[test]
fn json_within_a_string_is_no_placeholder() {
    let template =
        r#"{"content":"{\"text\":\"{action}\",\"n\":1}","empty":"{}","one":"{\"a\":1}"}"#;
    let RenderedJson { text, missing } = render(template, PAYLOAD).unwrap();
    let expected = r#"{"content":"{\"text\":\"opened\",\"n\":1}","empty":"{}","one":"{\"a\":1}"}"#;
    assert_eq!((text.as_str(), missing.len()), (expected, 0));
}

#[test]
fn a_value_changes_nothing_but_its_place() {
    for template in [r#"{"x":"{evil}"}"#, r#"{"x":"a {evil}"}"#] {
        let body: Value = serde_json::from_str(&rendered(template)).unwrap();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        let text = body["x"].as_str().unwrap();
        assert!(text.ends_with(r#"","admin":true,"x":"{action}"#), "{text}");
    }
}

#[test]
fn an_answer_is_text_and_comes_before_a_field_of_its_name() {
    let payload = Payload::from_json(r#"{"answer":1}"#).unwrap();
    let template = JsonTemplate::parse(r#"["{answer}","say {answer}"]"#).unwrap();
    let with = template.render(&payload, Some("\"yes\" {answer}")).unwrap();
    assert_eq!(with.text, r#"["\"yes\" {answer}","say \"yes\" {answer}"]"#);
    let without = template.render(&payload, None).unwrap();
    assert_eq!(without.text, r#"[1,"say 1"]"#);
}

#[test]
fn what_is_not_json_is_named_with_its_place() {
    for (template, line, column) in [
        ("", 1, 0),
        ("{action}", 1, 2),
        ("{\n  \"a\": {action}\n}", 2, 9),
        ("{\"a\": 1,}", 1, 9),
        ("{} {}", 1, 4),
    ] {
        let error = JsonTemplate::parse(template).unwrap_err();
        let expected = JsonTemplateError::NotJson { line, column };
        assert_eq!(error, expected, "{template}");
    }
}

#[test]
fn a_template_at_its_depth_is_taken_and_one_level_more_is_refused() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(render(&nested(128), "{}").unwrap().text, nested(128));
    let error = JsonTemplate::parse(&nested(129)).unwrap_err();
    assert_eq!(error, JsonTemplateError::TooDeep);
}

#[test]
fn a_result_at_its_depth_is_whole_and_one_level_more_is_refused() {
    let nested =
        |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    let payload = format!("{{\"a\":{}}}", nested(64, "1"));
    let fits = render(&nested(64, "\"{a}\""), &payload).unwrap();
    assert_eq!(fits.text, nested(128, "1"));
    let over = render(&nested(65, "\"{a}\""), &payload).unwrap_err();
    assert_eq!(over, JsonRenderError::TooDeep);
    // A value that is not an object or array has no depth.
    assert!(render(&nested(128, "\"{a}\""), r#"{"a":"x"}"#).is_ok());
}

#[test]
fn a_result_at_its_size_is_whole_and_one_byte_more_is_refused() {
    let payload =
        |chars: usize| json!({ "v": "x".repeat(chars), "l": ["y".repeat(chars)] }).to_string();
    // The surroundings are two quotes, or two quotes and the brackets of a list.
    for (template, around) in [
        ("\"{v}\"", 2),
        ("\"{l}\"", 4),
        ("\"{v}!\"", 3),
        ("[\"{v}\"]", 4),
    ] {
        let fits = render(template, &payload(MAX_RENDERED_BYTES - around)).unwrap();
        assert_eq!(fits.text.len(), MAX_RENDERED_BYTES, "{template}");
        let over = render(template, &payload(MAX_RENDERED_BYTES - around + 1));
        assert_eq!(over, Err(JsonRenderError::TooLarge), "{template}");
    }
    // Characters of several bytes, and characters that JSON escapes.
    for (value, bytes) in [("é", 2), ("\u{1}", 6)] {
        let payload = |count: usize| json!({ "v": value.repeat(count) }).to_string();
        let most = (MAX_RENDERED_BYTES - 2) / bytes;
        assert!(render("\"{v}\"", &payload(most)).is_ok());
        let over = render("\"{v}\"", &payload(most + 1));
        assert_eq!(over, Err(JsonRenderError::TooLarge), "{value}");
    }
    let many = format!("\"{}\"", "{v}".repeat(20_000));
    assert_eq!(
        render(&many, &payload(2_000)),
        Err(JsonRenderError::TooLarge)
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[{}\"\\\\a-c\u{e9}\u{1}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[{}a-c]{0,3}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_result_is_json_whatever_the_payload_is(template in any_json(), payload in any_json()) {
        let rendered = render(&template.to_string(), &payload.to_string()).unwrap();
        prop_assert!(serde_json::from_str::<Value>(&rendered.text).is_ok(), "{}", rendered.text);
    }

    #[test]
    fn a_value_arrives_as_it_is(value in any_json()) {
        let payload = json!({ "v": value }).to_string();
        let body = render(r#"{"a":["{v}"]}"#, &payload).unwrap().text;
        prop_assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({ "a": [value] }));
    }
}
