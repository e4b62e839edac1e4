//! Builds the OpenRPC document (<https://spec.open-rpc.org/>, 1.3.2) from the method table.

use crate::events::EVENTS;
use crate::method_entry::Method;
use gatehouse_domain::{ErrorCode, Scope};
use gatehouse_services::bootstrap::PRODUCT;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Errors that every method can return.
const OF_EVERY_METHOD: [ErrorCode; 4] = [
    ErrorCode::InvalidParams,
    ErrorCode::Internal,
    ErrorCode::RateLimited,
    ErrorCode::StorageUnavailable,
];

/// Builds the document of these methods and every event.
pub fn document(methods: &[Method], version: &str) -> Value {
    let mut inputs = generator(true);
    let mut outputs = generator(false);
    let methods: Vec<Value> = methods
        .iter()
        .map(|method| method_object(method, &mut inputs, &mut outputs))
        .collect();
    let events: Vec<Value> = EVENTS
        .iter()
        .map(|event| {
            let params = finished((event.params)(&mut outputs), &mut outputs);
            json!({
                "name": event.name,
                "summary": event.summary,
                "x-scope": event.scope.name(),
                "params": params,
            })
        })
        .collect();
    let mut schemas = inputs.take_definitions(true);
    schemas.extend(outputs.take_definitions(true));
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": PRODUCT,
            "version": version,
            "description": "JSON-RPC 2.0 over WebSocket (/ws) and POST /api/rpc; params by name.",
            "license": { "name": "Apache-2.0" },
        },
        "methods": methods,
        "components": { "schemas": schemas, "errors": errors() },
        "x-events": events,
    })
}

/// `OpenRPC` uses JSON Schema draft 7.
fn generator(input: bool) -> SchemaGenerator {
    let settings = SchemaSettings::draft07()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    if input {
        settings.for_deserialize()
    } else {
        settings.for_serialize()
    }
    .into_generator()
}

/// Converts a schema to the dialect of the generator.
pub(crate) fn finished(mut schema: Schema, generator: &mut SchemaGenerator) -> Value {
    for transform in generator.transforms_mut() {
        transform.transform(&mut schema);
    }
    schema.to_value()
}

fn errors() -> Map<String, Value> {
    let object = |code: &ErrorCode| {
        json!({
            "code": code.rpc_code(),
            "message": code.meaning().trim(),
            "data": { "code": code.name() },
        })
    };
    ErrorCode::ALL
        .iter()
        .map(|code| (code.name().to_owned(), object(code)))
        .collect()
}

fn method_object(
    method: &Method,
    inputs: &mut SchemaGenerator,
    outputs: &mut SchemaGenerator,
) -> Value {
    let params = finished((method.params)(inputs), inputs);
    let result = finished((method.result)(outputs), outputs);
    let refused = OF_EVERY_METHOD
        .into_iter()
        .chain(method.scope.map(|_| ErrorCode::Forbidden))
        .chain(method.needs_open_vault.then_some(ErrorCode::VaultSealed))
        .chain(method.errors.iter().copied());
    let errors: Vec<Value> = refused
        .map(|code| json!({ "$ref": format!("#/components/errors/{}", code.name()) }))
        .collect();
    json!({
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": param_list(&params),
        "result": { "name": "result", "schema": result },
        "errors": errors,
        "x-scope": method.scope.map(Scope::name),
        "x-needs-open-vault": method.needs_open_vault,
    })
}

/// Lists the properties of the params object one by one, as `OpenRPC` requires.
fn param_list(object: &Value) -> Vec<Value> {
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = object.get("properties").and_then(Value::as_object);
    let mut params: Vec<Value> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            json!({ "name": name, "required": required.contains(&name.as_str()), "schema": schema })
        })
        .collect();
    // The specification requires the required params first.
    params.sort_by_key(|param| param.get("required") != Some(&Value::Bool(true)));
    params
}
