use super::gemini::GEMINI_FIELDS;
use super::*;
use proptest::prelude::*;

const ALL: [Dialect; 3] = [Dialect::Openai, Dialect::Anthropic, Dialect::Gemini];

/// Checks the rules that the vendors document. Panics at the first violation.
fn check(schema: &Value, dialect: Dialect) {
    assert_eq!(schema["type"], "object", "{schema}");
    assert!(schema["properties"].is_object(), "{schema}");
    for name in ["oneOf", "anyOf", "allOf", "not", "enum"] {
        assert!(schema.get(name).is_none(), "{name} at the root: {schema}");
    }
    check_part(schema, dialect);
}

fn check_part(part: &Value, dialect: Dialect) {
    let Some(fields) = part.as_object() else {
        panic!("not an object: {part}");
    };
    assert!(!fields.contains_key("$ref"), "{part}");
    if is_type(fields, "array") {
        assert!(fields.contains_key("items"), "{part}");
    }
    for name in fields
        .get("required")
        .into_iter()
        .flat_map(|r| r.as_array().unwrap())
    {
        assert!(
            part["properties"].get(name.as_str().unwrap()).is_some(),
            "{part}"
        );
    }
    if dialect == Dialect::Gemini {
        for name in fields.keys() {
            assert!(GEMINI_FIELDS.contains(&name.as_str()), "{name}: {part}");
        }
        assert!(
            part["type"].is_string() || part["anyOf"].is_array(),
            "{part}"
        );
    }
    let below = fields.get("properties").and_then(Value::as_object);
    for (name, value) in below.into_iter().flatten() {
        if dialect == Dialect::Anthropic {
            assert!(!name.is_empty() && name.len() <= 64);
        }
        check_part(value, dialect);
    }
    for name in ["oneOf", "anyOf", "allOf"] {
        for value in fields
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            check_part(value, dialect);
        }
    }
    if let Some(items) = fields.get("items") {
        check_part(items, dialect);
    }
}

#[test]
fn a_plain_schema_stays_as_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {
            "expression": { "type": "string", "description": "What to calculate.", "maxLength": 1000 },
            "digits": { "type": "integer", "minimum": 1 },
        },
        "required": ["expression"],
    });
    for dialect in ALL {
        assert_eq!(normalized(&schema, dialect), schema, "{dialect:?}");
    }
}

#[test]
fn alternatives_at_the_root_become_one_object() {
    let schema = json!({
        "description": "By id or by name.",
        "oneOf": [
            { "type": "object", "properties": { "id": { "type": "string" }, "n": { "type": "integer" } },
              "required": ["id", "n"] },
            { "type": "object", "properties": { "name": { "type": "string" }, "n": { "type": "integer" } },
              "required": ["name", "n"] },
        ],
    });
    for dialect in ALL {
        let made = normalized(&schema, dialect);
        check(&made, dialect);
        let mut names: Vec<_> = made["properties"].as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["id", "n", "name"]);
        assert_eq!(made["required"], json!(["n"]), "only what all require");
        assert_eq!(made["description"], "By id or by name.");
    }
    let both = json!({ "allOf": [
        { "properties": { "a": { "type": "string" } }, "required": ["a"] },
        { "properties": { "b": { "type": "string" } }, "required": ["b"] },
    ]});
    assert_eq!(
        normalized(&both, Dialect::Openai)["required"],
        json!(["a", "b"])
    );
}

#[test]
fn references_are_replaced_by_what_they_refer_to() {
    let schema = json!({
        "type": "object",
        "properties": { "at": { "$ref": "#/$defs/Place", "description": "Where." } },
        "$defs": { "Place": { "type": "object", "description": "A place.",
            "properties": { "city": { "$ref": "#/definitions/City" } } } },
        "definitions": { "City": { "type": "string" } },
    });
    for dialect in ALL {
        let made = normalized(&schema, dialect);
        check(&made, dialect);
        assert_eq!(made["properties"]["at"]["description"], "Where.");
        assert_eq!(
            made["properties"]["at"]["properties"]["city"]["type"],
            "string"
        );
        assert!(made.get("$defs").is_none() && made.get("definitions").is_none());
    }
}

#[test]
fn a_schema_that_contains_itself_ends() {
    let schema = json!({
        "$ref": "#/$defs/Node",
        "$defs": { "Node": { "type": "object", "properties": {
            "left": { "$ref": "#/$defs/Node" }, "right": { "$ref": "#/$defs/Node" } } } },
    });
    for dialect in ALL {
        let made = normalized(&schema, dialect);
        check(&made, dialect);
        assert!(made.to_string().len() < 1 << 20);
    }
    let endless = json!({ "properties": { "a": { "$ref": "#/properties/a" } } });
    check(&normalized(&endless, Dialect::Gemini), Dialect::Gemini);
}

#[test]
fn an_array_without_items_gets_them() {
    let schema = json!({ "type": "object", "properties": {
        "tags": { "type": "array" }, "pair": { "type": "array", "items": [{ "type": "integer" }] },
        "maybe": { "type": ["array", "null"] } } });
    for dialect in ALL {
        let made = normalized(&schema, dialect);
        check(&made, dialect);
        assert_eq!(
            made["properties"]["pair"]["items"],
            json!({ "type": "integer" })
        );
    }
    let gemini = normalized(&schema, Dialect::Gemini);
    assert_eq!(gemini["properties"]["tags"]["items"]["type"], "string");
    assert_eq!(gemini["properties"]["maybe"]["type"], "array");
    assert_eq!(gemini["properties"]["maybe"]["nullable"], true);
}

#[test]
fn gemini_gets_only_the_fields_that_it_has() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "additionalProperties": false,
        "properties": {
            "mode": { "const": "fast" },
            "level": { "type": "integer", "enum": [1, 2], "exclusiveMinimum": 0 },
            "url": { "type": "string", "format": "uri" },
            "any": true,
            "either": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
        },
        "required": ["mode", "gone"],
    });
    let made = normalized(&schema, Dialect::Gemini);
    check(&made, Dialect::Gemini);
    let of = |name: &str| made["properties"][name].clone();
    assert_eq!(of("mode"), json!({ "type": "string", "enum": ["fast"] }));
    assert_eq!(of("level"), json!({ "type": "integer" }));
    assert_eq!(of("url"), json!({ "type": "string" }));
    assert_eq!(
        of("either"),
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] })
    );
    assert_eq!(made["required"], json!(["mode"]));
    // Other dialects keep the fields that they accept.
    let other = normalized(&schema, Dialect::Openai);
    assert_eq!(other["properties"]["url"]["format"], "uri");
    assert_eq!(other["additionalProperties"], false);
}

#[test]
fn anthropic_gets_no_property_with_another_alphabet() {
    let schema = json!({ "type": "object", "properties": { "a b": {}, "größe": {}, "ok-1.x": {} },
        "required": ["a b", "ok-1.x"] });
    let made = normalized(&schema, Dialect::Anthropic);
    check(&made, Dialect::Anthropic);
    assert_eq!(made["properties"], json!({ "ok-1.x": {} }));
    assert_eq!(made["required"], json!(["ok-1.x"]));
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "array" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "$ref": "#/properties/a" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "const": 1 })),
        Just(json!(true)),
        Just(json!(7)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(
                |(a, b)| json!({ "properties": { "a": a, "b c": b }, "required": ["a", "z"] })
            ),
            inner
                .clone()
                .prop_map(|a| json!({ "type": "array", "items": a })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "oneOf": [a, b] })),
            (inner.clone(), inner).prop_map(|(a, b)| json!({ "allOf": [a, b], "type": "object" })),
        ]
    })
}

proptest! {
    #[test]
    fn every_family_accepts_whatever_comes_out(schema in any_schema()) {
        for dialect in ALL {
            let once = normalized(&schema, dialect);
            check(&once, dialect);
            prop_assert_eq!(normalized(&once, dialect), once);
        }
    }
}
