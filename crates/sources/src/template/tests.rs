use super::*;
use proptest::prelude::*;
use serde_json::json;

fn plain(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

fn rendered(template: &str, json: &str) -> String {
    render(template, &Payload::from_json(json).unwrap(), &plain)
}

const PAYLOAD: &str = r#"{"action":"opened","n":1.0,"big":12345678901234567890,"yes":true,"no":null,
    "a":{"b":{"c":"deep"}},"items":[{"name":"first"},"second"],"o":{"z":1,"y":"é \"q\""},"evil":"{action} {__raw__}"}"#;

#[test]
fn placeholders_become_values() {
    for (template, expected) in [
        ("{action}", "opened"),
        ("PR {action}!", "PR opened!"),
        ("{a.b.c}{action}", "deepopened"),
        ("{n} {big}", "1.0 12345678901234567890"),
        ("{yes} {no}", "true null"),
        ("{items.0.name} {items.1}", "first second"),
        ("{o}", "{\"z\":1,\"y\":\"é \\\"q\\\"\"}"),
        ("{items}", "[{\"name\":\"first\"},\"second\"]"),
        ("é{action}é", "éopenedé"),
        ("", ""),
        ("nothing", "nothing"),
    ] {
        assert_eq!(rendered(template, PAYLOAD), expected, "{template}");
    }
}

#[test]
fn what_names_nothing_stays() {
    for template in [
        "{missing}",
        "{a.missing}",
        "{action.more}",
        "{items.2}",
        "{items.first}",
        "{Action}",
        "{ action }",
        "{action }",
        "{}",
        "{ }",
        "{.}",
        "{a.}",
        "{.a}",
        "{a..b}",
        "{__RAW__}",
        "{a.__raw__}",
    ] {
        assert_eq!(rendered(template, PAYLOAD), template);
    }
    // Unusual keys work if the payload contains them.
    assert_eq!(rendered("{ k }{a b}", r#"{" k ":1,"a b":2}"#), "12");
    assert_eq!(rendered("{}", r#"{"":1}"#), "{}");
}

#[test]
fn braces_without_a_partner_stay() {
    for (template, expected) in [
        ("{", "{"),
        ("}", "}"),
        ("a{action", "a{action"),
        ("{action}}", "opened}"),
        ("{{action}}", "{opened}"),
        ("{{action}", "{opened"),
        ("{a{action}", "{aopened"),
        ("}{action}{", "}opened{"),
        ("{\"text\":\"{action}\"}", "{\"text\":\"opened\"}"),
        ("{{}}", "{{}}"),
        ("{{{action}}}", "{{opened}}"),
    ] {
        assert_eq!(rendered(template, PAYLOAD), expected, "{template}");
    }
}

#[test]
fn raw_is_the_payload_with_an_indent() {
    assert_eq!(
        rendered("<{__raw__}>", "{\"b\":1.0,\"a\":\"\\u00e9\"}"),
        "<{\n  \"b\": 1.0,\n  \"a\": \"é\"\n}>"
    );
    assert_eq!(
        rendered("{__raw__}", r#"{"__raw__":1}"#),
        "{\n  \"__raw__\": 1\n}"
    );
    assert_eq!(rendered("{__raw__}", "[]"), "[]");
}

#[test]
fn raw_is_cut_at_4000_characters() {
    // The value is a string with quotes. An escape counts as its written characters.
    let text = |chars: usize| format!("\"{}\"", "é".repeat(chars));
    assert_eq!(rendered("{__raw__}", &text(3998)), text(3998));
    let cut = rendered("{__raw__}.", &text(3999));
    assert_eq!(cut.chars().count(), 4001);
    assert_eq!(cut, format!("\"{}.", "é".repeat(3999)));
}

#[test]
fn objects_and_arrays_are_cut_at_2000_characters() {
    let array = |chars: usize| format!("[\"{}\"]", "é".repeat(chars));
    let wrap = |inner: &str| format!("{{\"a\":{inner}}}");
    assert_eq!(rendered("{a}", &wrap(&array(1996))), array(1996));
    let cut = rendered("{a}", &wrap(&array(1997)));
    assert_eq!(cut, format!("[\"{}\"", "é".repeat(1997)));
    assert_eq!(cut.chars().count(), 2000);
    // Strings are not truncated.
    let long = "x".repeat(5000);
    assert_eq!(rendered("{a}", &wrap(&format!("\"{long}\""))), long);
}

#[test]
fn values_are_never_templates() {
    assert_eq!(rendered("{evil}", PAYLOAD), "{action} {__raw__}");
    // A value and the surrounding template do not combine into a placeholder.
    assert_eq!(rendered("{{a}b}", r#"{"a":"a","ab":"x"}"#), "{ab}");
}

#[test]
fn only_inserted_values_are_escaped() {
    fn shout(text: &str) -> Cow<'_, str> {
        Cow::Owned(format!("<{}>", text.to_uppercase()))
    }
    let payload = Payload::from_json(PAYLOAD).unwrap();
    assert_eq!(
        render("*b* {action} {missing} {yes} {action}", &payload, &shout),
        "*b* <OPENED> {missing} <TRUE> <OPENED>"
    );
    assert_eq!(
        render("{__raw__}", &Payload::from_json("[]").unwrap(), &shout),
        "<[]>"
    );
}

#[test]
fn a_value_is_worked_out_once() {
    let calls = std::cell::Cell::new(0);
    let body = format!("[{}0]", "0,".repeat(200_000));
    let payload = Payload::from_json(&body).unwrap();
    let out = render(&"{__raw__}".repeat(200), &payload, &|text| {
        calls.set(calls.get() + 1);
        Cow::Borrowed(text)
    });
    assert_eq!(out.chars().count(), 800_000);
    assert_eq!(calls.get(), 1);
}

#[test]
fn a_rendered_text_at_its_limit_is_whole_and_one_byte_more_is_cut() {
    let value = "x".repeat(1024);
    let body = json!({ "v": value, "e": "é" }).to_string();
    let payload = Payload::from_json(&body).unwrap();
    let rendered = |template: &str| render(template, &payload, &plain);
    let fits = rendered(&"{v}".repeat(1024));
    assert_eq!(fits, "x".repeat(MAX_RENDERED_BYTES));
    for over in [
        format!("{}y", "{v}".repeat(1024)),
        format!("y{}", "{v}".repeat(1024)),
        format!("{}{{missing}}", "{v}".repeat(1024)),
        format!("{}{{", "{v}".repeat(1024)),
        "{v}".repeat(1_000_000),
    ] {
        let cut = rendered(&over);
        assert_eq!(cut.len(), MAX_RENDERED_BYTES);
        assert!(cut.ends_with(CUT_MARK));
        assert_eq!(cut.matches(CUT_MARK).count(), 1);
    }
    // Truncation never splits a character, at any offset.
    for shift in 0..2 {
        let cut = rendered(&format!("{}{}", "x".repeat(shift), "{e}".repeat(600_000)));
        assert!(cut.len() <= MAX_RENDERED_BYTES && cut.ends_with(&format!("é{CUT_MARK}")));
    }
}

proptest! {
    #[test]
    fn a_template_without_known_names_stays(template in "[{}a-c. \u{e9}]{0,40}") {
        prop_assert_eq!(rendered(&template, r#"{"x":1}"#), template);
    }

    #[test]
    fn each_placeholder_is_filled(parts in prop::collection::vec(("[^{}]{0,5}", any::<bool>()), 0..12)) {
        let mut template = String::new();
        let mut expected = String::new();
        for (text, filled) in &parts {
            template.push_str(text);
            expected.push_str(text);
            template.push_str(if *filled { "{k}" } else { "{m}" });
            expected.push_str(if *filled { "{v}" } else { "{m}" });
        }
        prop_assert_eq!(rendered(&template, r#"{"k":"{v}","v":"no"}"#), expected);
    }
}
