use super::*;
use proptest::prelude::*;
use serde_json::json;

fn refused(schema: &Value, input: &Value) -> String {
    check(schema, input).err().unwrap_or_default()
}

fn is_good(schema: &Value, input: &Value) -> bool {
    check(schema, input).is_ok()
}

#[test]
fn types() {
    let samples = [
        ("object", json!({})),
        ("array", json!([])),
        ("string", json!("")),
        ("boolean", json!(true)),
        ("null", json!(null)),
        ("integer", json!(1)),
    ];
    for (kind, _) in &samples {
        for (other, value) in &samples {
            let good = is_good(&json!({ "type": kind }), value);
            assert_eq!(good, kind == other, "{kind} {value}");
        }
    }
    assert!(is_good(&json!({ "type": "number" }), &json!(1.5)));
    assert!(is_good(&json!({ "type": "integer" }), &json!(2.0)));
    assert!(!is_good(&json!({ "type": "integer" }), &json!(1.5)));
    assert!(is_good(
        &json!({ "type": ["string", "null"] }),
        &json!(null)
    ));
    assert_eq!(
        refused(&json!({ "type": ["string", "null"] }), &json!(1)),
        "input must be of type string or null"
    );
}

#[test]
fn objects() {
    let schema = json!({ "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": "string" }, "b": { "items": { "minimum": 1 } } } });
    assert!(is_good(&schema, &json!({ "a": "x", "b": [1] })));
    assert_eq!(
        refused(&schema, &json!({})),
        "input lacks the required field `a`"
    );
    assert_eq!(
        refused(&schema, &json!({ "a": 1 })),
        "input.a must be of type string"
    );
    assert_eq!(
        refused(&schema, &json!({ "a": "", "c": 1 })),
        "input has no field `c`"
    );
    assert_eq!(
        refused(&schema, &json!({ "a": "", "b": [1, 0] })),
        "input.b.1 must be at least 1"
    );
    let open = json!({ "additionalProperties": { "type": "string" } });
    assert!(is_good(&open, &json!({ "x": "y" })));
    assert!(!is_good(&open, &json!({ "x": 1 })));
}

#[test]
fn bounds_at_and_past_them() {
    for (schema, good, bad) in [
        (json!({ "minimum": 1 }), json!(1), json!(0)),
        (json!({ "maximum": 1 }), json!(1), json!(2)),
        (json!({ "exclusiveMinimum": 1 }), json!(1.1), json!(1)),
        (json!({ "exclusiveMaximum": 1 }), json!(0.9), json!(1)),
        (json!({ "minLength": 2 }), json!("ää"), json!("ä")),
        (json!({ "maxLength": 2 }), json!("ää"), json!("äää")),
        (json!({ "minItems": 1 }), json!([1]), json!([])),
        (json!({ "maxItems": 1 }), json!([1]), json!([1, 2])),
        (json!({ "enum": ["a", 1] }), json!(1), json!("b")),
        (json!({ "const": "a" }), json!("a"), json!("b")),
        (
            json!({ "anyOf": [{ "const": 1 }, { "const": 2 }] }),
            json!(2),
            json!(3),
        ),
        (
            json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 2 }] }),
            json!(1),
            json!(2),
        ),
        (
            json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }),
            json!(2),
            json!(3),
        ),
    ] {
        assert!(is_good(&schema, &good), "{schema} {good}");
        assert!(!is_good(&schema, &bad), "{schema} {bad}");
    }
}

#[test]
fn references_are_followed_and_circles_end() {
    let schema = json!({ "$ref": "#/$defs/N", "$defs": { "N": { "type": "integer" } } });
    assert!(is_good(&schema, &json!(1)));
    assert!(!is_good(&schema, &json!("x")));
    let circle = json!({ "$ref": "#/$defs/N", "$defs": { "N": { "$ref": "#/$defs/N" } } });
    assert_eq!(refused(&circle, &json!(1)), "input is nested too deeply");
    assert!(is_good(
        &json!({ "$ref": "https://example.com/x" }),
        &json!(1)
    ));
    assert!(is_good(&json!({ "$ref": "#/nowhere" }), &json!(1)));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![
            Just("type"),
            Just("object"),
            Just("items"),
            Just("#/a"),
            Just("$ref"),
            Just("x")
        ]
        .prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("required"),
        Just("items"),
        Just("enum"),
        Just("anyOf"),
        Just("$ref"),
        Just("minimum"),
        Just("additionalProperties"),
        Just("a")
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..5).prop_map(|all| {
                let all = all
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(all.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_input_breaks_it(schema in any_json(), input in any_json()) {
        drop(check(&schema, &input));
    }
}
