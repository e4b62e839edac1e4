//! Builds the OpenAPI 3.1 document from the route table. OpenAPI 3.1 uses JSON Schema 2020-12, which the
//! request and response types generate.

use crate::route::{Access, Route, StepUp};
use crate::routes::ROUTES;
use gatehouse_domain::{ErrorCode, Scope};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Builds the document.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES.iter() {
        let item = paths
            .entry(documented_path(route.path))
            .or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(
                route.verb.name().to_lowercase(),
                operation(route, &mut generator),
            );
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Error".to_owned(), error_schema());
    schemas.insert("OpenAiError".to_owned(), openai_error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Gatehouse",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "session": { "type": "apiKey", "in": "cookie", "name": "service_session" },
                "apiKey": { "type": "http", "scheme": "bearer", "description": "An API key: mk_…" },
            },
        },
    })
}

/// Converts a path of the router. Its `/{*rest}` is `/{rest}` in OpenAPI.
fn documented_path(path: &str) -> String {
    path.replace("{*", "{")
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "responses": responses(route, generator),
    });
    let Some(fields) = operation.as_object_mut() else {
        return operation;
    };
    let parameters = parameters(route.path);
    if !parameters.is_empty() {
        fields.insert("parameters".to_owned(), parameters.into());
    }
    if let Some(body) = route.body {
        let schema = body(generator);
        let content = json!({ route.body_type: { "schema": schema } });
        fields.insert("requestBody".to_owned(), json!({ "content": content }));
    }
    match route.access {
        Access::Public => {
            fields.insert("security".to_owned(), json!([]));
        }
        Access::Identity => {
            fields.insert(
                "security".to_owned(),
                json!([{ "session": [] }, { "apiKey": [] }]),
            );
        }
        Access::AdminOrSetup => {
            let security = json!([{ "session": [] }, { "apiKey": [Scope::Admin.name()] }, {}]);
            fields.insert("security".to_owned(), security);
        }
        Access::Scope(scope) => {
            let security = json!([{ "session": [] }, { "apiKey": [scope.name()] }]);
            fields.insert("security".to_owned(), security);
        }
    }
    if route.step_up != StepUp::No {
        fields.insert("x-step-up".to_owned(), true.into());
    }
    operation
}

fn parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let name = name.trim_start_matches('*');
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
        })
        .collect()
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let success = match route.answer {
        Some(answer) => json!({
            "description": "Done.",
            "content": { "application/json": { "schema": answer(generator) } },
        }),
        None if route.answer_type != "application/json" => json!({
            "description": "The file or audio.",
            "content": { route.answer_type: {} },
        }),
        None => json!({ "description": "Done." }),
    };
    let usual = json!({ "$ref": "#/components/schemas/Error" });
    let schema = if route.path.starts_with("/v1/") {
        // The first alternative is the handler's response. The second is the gate's.
        json!({ "anyOf": [{ "$ref": "#/components/schemas/OpenAiError" }, usual] })
    } else {
        usual
    };
    let error = json!({
        "description": "The request was refused or failed.",
        "content": { "application/json": { "schema": schema } },
    });
    let mut responses = json!({ "200": success, "default": error });
    if let (Some(map), "/ws" | "/ws/chat") = (responses.as_object_mut(), route.path) {
        map.remove("200");
        map.insert(
            "101".to_owned(),
            json!({ "description": "Switching to JSON-RPC 2.0 over a WebSocket." }),
        );
    }
    if let (Some(map), "/ws/talk") = (responses.as_object_mut(), route.path) {
        map.remove("200");
        let description =
            "Switching to a WebSocket of audio and JSON messages; see the manual, API: voice.";
        map.insert("101".to_owned(), json!({ "description": description }));
    }
    if let (Some(map), "webhooks.ingest") = (responses.as_object_mut(), route.id)
        && let Some(Value::Object(mut accepted)) = map.get("200").cloned()
    {
        let description = "The delivery is stored and queued.";
        accepted.insert("description".to_owned(), description.into());
        map.insert("202".to_owned(), accepted.into());
    }
    responses
}

/// Returns the schema of [`crate::respond::openai_error`], with the code and its fields.
fn openai_error_schema() -> Value {
    let mut schema = error_schema();
    let code = schema.pointer("/properties/code").cloned();
    if let Some(error) = schema.pointer_mut("/properties/error") {
        *error = json!({
            "type": "object",
            "required": ["message", "type", "code", "param"],
            "properties": {
                "message": { "type": "string", "description": "A message for people." },
                "type": { "type": "string" },
                "code": code,
                "param": { "type": ["string", "null"], "description": "The invalid member." },
            },
        });
    }
    schema
}

fn error_schema() -> Value {
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    json!({
        "type": "object",
        "required": ["error", "code"],
        "properties": {
            "error": { "type": "string", "description": "A message for people." },
            "code": { "type": "string", "enum": codes },
            "field": { "type": "string" },
            "reason": { "type": "string" },
            "retry_after_seconds": { "type": "integer", "minimum": 1 },
            "request_id": { "type": "string" },
        },
    })
}
