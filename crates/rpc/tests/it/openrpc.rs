//! The OpenRPC document matches the method table.

use crate::harness::Harness;
use gatehouse_domain::ErrorCode;
use gatehouse_rpc::{METHODS, openrpc};
use serde_json::{Value, json};
use std::collections::HashSet;

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => found.push(target.clone()),
                    other => references(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = openrpc::document(METHODS, "1.0.0");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > METHODS.len());
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    assert!(
        openrpc::document(METHODS, "1.0.0") == document,
        "the same each time"
    );
}

#[test]
fn every_method_stands_in_it_once() {
    let document = openrpc::document(METHODS, "1.0.0");
    assert_eq!(document["openrpc"], "1.3.2");
    let listed: Vec<&str> = document["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        listed,
        METHODS.iter().map(|method| method.name).collect::<Vec<_>>()
    );
    assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len());
    for method in document["methods"].as_array().unwrap() {
        assert_eq!(method["paramStructure"], "by-name");
        assert!(method["result"]["schema"].is_object(), "{method}");
        assert!(!method["summary"].as_str().unwrap().is_empty());
        let mut optional_seen = false;
        for param in method["params"].as_array().unwrap() {
            let required = param["required"].as_bool().unwrap();
            assert!(
                !(required && optional_seen),
                "required ones first: {method}"
            );
            optional_seen |= !required;
        }
    }
    let scope_of = |name: &str| {
        let methods = document["methods"].as_array().unwrap();
        methods.iter().find(|m| m["name"] == name).unwrap()["x-scope"].clone()
    };
    assert_eq!(scope_of("audit.list"), "operator.admin");
    assert_eq!(scope_of("env.set"), "operator.write");
    assert_eq!(scope_of("env.list"), "operator.read");
    for name in ["connect", "rpc.discover", "system.status"] {
        assert_eq!(scope_of(name), Value::Null);
    }
    let errors = document["components"]["errors"].as_object().unwrap();
    assert_eq!(errors.len(), ErrorCode::ALL.len());
}

#[test]
fn params_and_results_never_share_a_name_with_another_meaning() {
    // A type that is both read and written should be listed once. This checks that the two versions
    // are identical.
    let document = openrpc::document(METHODS, "1.0.0");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in ["EnvVariable", "SshKey", "Provider", "AuditEvent", "Check"] {
        assert!(schemas.contains_key(name), "{name} in {:?}", schemas.keys());
    }
}

#[tokio::test]
async fn every_method_refuses_an_unknown_param() {
    let harness = Harness::new().await;
    for method in METHODS {
        let data = harness
            .refusal(method.name, json!({ "no_such_param": 1 }))
            .await;
        assert_eq!(data["code"], "INVALID_PARAMS", "{}: {data}", method.name);
        assert_eq!(data["field"], "no_such_param", "{}: {data}", method.name);
    }
}

#[tokio::test]
async fn every_required_param_is_required() {
    let harness = Harness::new().await;
    let document = openrpc::document(METHODS, "1.0.0");
    for method in document["methods"].as_array().unwrap() {
        let params = method["params"].as_array().unwrap();
        let required: Vec<&str> = params
            .iter()
            .filter(|param| param["required"] == true)
            .map(|param| param["name"].as_str().unwrap())
            .collect();
        if !required.is_empty() {
            let data = harness
                .refusal(method["name"].as_str().unwrap(), json!({}))
                .await;
            assert_eq!(data["code"], "INVALID_PARAMS", "{method}");
            assert!(
                required.contains(&data["field"].as_str().unwrap()),
                "{method}: {data}"
            );
        }
    }
}

#[tokio::test]
async fn discover_is_the_document() {
    let harness = Harness::new().await;
    assert_eq!(
        harness.call("rpc.discover", json!({})).await,
        openrpc::document(METHODS, "9.9.9")
    );
}
