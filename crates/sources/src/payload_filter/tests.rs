//! Tests of the parent module.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn condition(path: &str, is: &str, value: Option<Value>) -> Condition {
    let mut members = json!({ "path": path, "is": is });
    if let Some(value) = value {
        members["value"] = value;
    }
    serde_json::from_value(members).unwrap()
}

fn payload() -> Payload {
    Payload::from_json(
        r#"{"action":"opened","draft":false,"gone":null,"number":42,"amount":12.50,"price":"12.50",
            "id":12345678901234567890,"huge":1e400,"text":"infinity","empty":"",
            "labels":["bug","P1",3,null],"people":[{"name":"Zoë"},{"name":"Ada","age":36}],
            "*":"star","none_in":[],"grid":[[1,2],[3]],"deep":{"a":{"b":"c"}},
            "escaped":"line\none \"two\" \u00e9"}"#,
    )
    .unwrap()
}

fn met(path: &str, is: &str, value: Value) -> bool {
    condition(path, is, Some(value)).is_met(&payload())
}

#[test]
fn equal_values_have_the_same_type() {
    for (path, value) in [
        ("action", json!("opened")),
        ("draft", json!(false)),
        ("gone", json!(null)),
        ("number", json!(42)),
        ("number", json!(42.0)),
        ("amount", json!(12.5)),
        ("people.0.name", json!("Zoë")),
        ("deep.a.b", json!("c")),
        ("labels.1", json!("P1")),
        ("empty", json!("")),
        ("escaped", json!("line\none \"two\" é")),
    ] {
        assert!(met(path, "equals", value.clone()), "{path} {value}");
        assert!(!met(path, "not_equals", value.clone()), "{path} {value}");
    }
    for (path, value) in [
        ("action", json!("Opened")),
        ("draft", json!("false")),
        ("draft", json!(0)),
        ("gone", json!("null")),
        ("gone", json!(false)),
        ("number", json!("42")),
        ("labels", json!("bug")),
        ("deep", json!("c")),
        ("none", json!(null)),
        ("text", json!(1)),
    ] {
        assert!(!met(path, "equals", value.clone()), "{path} {value}");
        assert!(met(path, "not_equals", value.clone()), "{path} {value}");
    }
}

#[test]
fn a_number_in_a_text_is_a_number_if_the_value_is_one() {
    assert!(met("price", "equals", json!(12.5)));
    assert!(met("price", "greater", json!(12)));
    assert!(met("price", "less", json!(13)));
    assert!(met("price", "equals", json!("12.50")));
    assert!(!met("price", "equals", json!("12.5")));
    for path in ["text", "empty", "action"] {
        assert!(!met(path, "greater", json!(0)), "{path}");
        assert!(!met(path, "less", json!(0)), "{path}");
    }
}

#[test]
fn whole_numbers_are_compared_exactly() {
    assert!(met("id", "equals", json!(12_345_678_901_234_567_890_u64)));
    assert!(!met("id", "equals", json!(12_345_678_901_234_567_891_u64)));
    assert!(met("id", "less", json!(12_345_678_901_234_567_891_u64)));
    assert!(met("huge", "greater", json!(u64::MAX)));
}

#[test]
fn an_equal_number_is_neither_greater_nor_less() {
    assert!(met("number", "greater", json!(41.9)));
    assert!(!met("number", "greater", json!(42)));
    assert!(!met("number", "less", json!(42)));
    assert!(met("number", "less", json!(42.1)));
    for path in ["draft", "gone", "labels", "deep", "none"] {
        assert!(!met(path, "greater", json!(-1)), "{path}");
        assert!(!met(path, "less", json!(9)), "{path}");
    }
}

#[test]
fn a_text_contains_a_text_and_a_list_contains_a_value() {
    assert!(met("action", "contains", json!("pen")));
    assert!(!met("action", "contains", json!("PEN")));
    assert!(met("labels", "contains", json!("bug")));
    assert!(!met("labels", "contains", json!("bu")));
    assert!(met("labels", "contains", json!(3)));
    assert!(met("labels", "contains", json!(null)));
    assert!(!met("labels", "contains", json!("3")));
    for path in ["number", "deep", "none", "gone"] {
        assert!(!met(path, "contains", json!("a")), "{path}");
    }
    assert!(!met("price", "contains", json!(12)));
}

#[test]
fn a_field_exists_also_if_it_is_null() {
    let is = |path: &str, is: &str| condition(path, is, None).is_met(&payload());
    for path in ["gone", "labels.3", "deep.a", "people.0.name"] {
        assert!(is(path, "exists") && !is(path, "missing"), "{path}");
    }
    for path in ["none", "labels.4", "deep.a.b.c", "action.0", "deep.b"] {
        assert!(!is(path, "exists") && is(path, "missing"), "{path}");
    }
}

#[test]
fn a_star_is_any_item_of_a_list() {
    for (path, value) in [
        ("people.*.name", json!("Zoë")),
        ("people.*.name", json!("Ada")),
        ("labels.*", json!("P1")),
        ("labels.*", json!(null)),
        ("grid.*.*", json!(3)),
        ("grid.1.*", json!(3)),
        // `*` is a key of the object here, not a wildcard.
        ("*", json!("star")),
    ] {
        assert!(met(path, "equals", value.clone()), "{path} {value}");
        assert!(!met(path, "not_equals", value.clone()), "{path} {value}");
    }
    for (path, value) in [
        ("people.*.name", json!("Eve")),
        ("people.*.name.*", json!("Ada")),
        ("people.*", json!("Ada")),
        ("deep.*.b", json!("c")),
        ("none_in.*", json!(null)),
    ] {
        assert!(!met(path, "equals", value.clone()), "{path} {value}");
        assert!(met(path, "not_equals", value.clone()), "{path} {value}");
    }
    assert!(met("people.*.name", "contains", json!("da")));
    assert!(met("people.*.age", "greater", json!(35)));
    assert!(!met("people.*.age", "less", json!(36)));
    let is = |path: &str, is: &str| condition(path, is, None).is_met(&payload());
    for path in ["people.*.age", "people.*", "grid.*.1"] {
        assert!(is(path, "exists") && !is(path, "missing"), "{path}");
    }
    for path in ["people.*.none", "none_in.*", "grid.*.2", "deep.*"] {
        assert!(!is(path, "exists") && is(path, "missing"), "{path}");
    }
}

#[test]
fn of_alternatives_one_must_be_met_and_the_first_is_reported() {
    let payload = payload();
    let or = |path: &str, value: Value| Condition {
        or: true,
        ..condition(path, "equals", Some(value))
    };
    let closed = || condition("action", "equals", Some(json!("closed")));
    let opened = || condition("action", "equals", Some(json!("opened")));
    let (is_draft, is_42) = (|| or("draft", json!(true)), || or("number", json!(42)));
    for met in [
        vec![closed(), is_42()],
        vec![closed(), is_draft(), is_42()],
        vec![opened(), is_draft()],
        vec![closed(), is_42(), opened(), is_draft()],
        // The first condition has no previous one, so it is not an alternative.
        vec![is_42()],
    ] {
        assert_eq!(unmet(&met, &payload), None, "{met:?}");
    }
    let all = [opened(), is_draft(), closed(), is_draft()];
    assert_eq!(unmet(&all, &payload), Some(&all[2]));
    let all = [closed(), is_42(), closed()];
    assert_eq!(unmet(&all, &payload), Some(&all[2]));
    assert_eq!(unmet(&[is_draft()], &payload), Some(&is_draft()));
}

#[test]
fn all_conditions_must_be_met_and_the_first_unmet_one_is_reported() {
    let payload = payload();
    assert_eq!(unmet(&[], &payload), None);
    let all = [
        condition("action", "equals", Some(json!("opened"))),
        condition("draft", "equals", Some(json!(true))),
        condition("none", "exists", None),
    ];
    assert_eq!(unmet(&all[..1], &payload), None);
    assert_eq!(unmet(&all, &payload), Some(&all[1]));
    // A payload that is not an object has no fields.
    let text = Payload::from_json("\"opened\"").unwrap();
    assert_eq!(unmet(&all, &text), Some(&all[0]));
}

#[test]
fn a_condition_is_shown_in_words_and_a_long_value_is_cut() {
    let shown = |is, value| condition("a.b", is, value).to_string();
    assert_eq!(shown("equals", Some(json!(true))), "a.b equals true");
    assert_eq!(
        shown("not_equals", Some(json!("x\"y"))),
        r#"a.b does not equal "x\"y""#
    );
    assert_eq!(shown("contains", Some(json!(null))), "a.b contains null");
    assert_eq!(shown("exists", None), "a.b exists");
    assert_eq!(shown("missing", None), "a.b is missing");
    assert_eq!(
        shown("greater", Some(json!(1.5))),
        "a.b is greater than 1.5"
    );
    assert_eq!(shown("less", Some(json!(-3))), "a.b is less than -3");
    let of = |count: usize| shown("equals", Some(json!("é".repeat(count))));
    assert_eq!(of(78), format!("a.b equals \"{}\"", "é".repeat(78)));
    assert_eq!(of(79), format!("a.b equals \"{}…", "é".repeat(79)));
}

#[test]
fn a_stored_condition_keeps_null_apart_from_no_value() {
    let null = condition("a", "equals", Some(json!(null)));
    assert_eq!(null.value, Some(Value::Null));
    let exists = condition("a", "exists", None);
    let or = Condition {
        or: true,
        ..exists.clone()
    };
    for one in [null, exists, or] {
        let text = serde_json::to_string(&one).unwrap();
        // An earlier version did not store the member `or`.
        assert_eq!(text.contains("or"), one.or);
        assert_eq!(serde_json::from_str::<Condition>(&text).unwrap(), one);
    }
}

proptest! {
    #[test]
    fn numbers_are_ordered_as_integers(found in any::<i64>(), wanted in any::<i64>()) {
        let payload = Payload::from_json(&json!({ "n": found, "t": found.to_string() }).to_string()).unwrap();
        for path in ["n", "t"] {
            let is = |is| condition(path, is, Some(json!(wanted))).is_met(&payload);
            prop_assert_eq!(is("equals"), found == wanted);
            prop_assert_eq!(is("greater"), found > wanted);
            prop_assert_eq!(is("less"), found < wanted);
            prop_assert_eq!(is("not_equals"), found != wanted);
        }
    }
}
