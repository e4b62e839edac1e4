//! Samples of GitLab deliveries.

use serde_json::{Map, Value, json};

use super::{SampleInput, action, family, time};

const PROJECT: &str = "https://codehost.example/acme/shop";
const HEAD: &str = "6f2b1c0d9e8a7f6b5c4d3e2f1a0b9c8d7e6f5a4b";
const BASE: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";

pub(crate) fn body(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    let mut body = Map::new();
    body.insert("object_kind".to_owned(), json!(family(input.event)));
    for (name, value) in about(input.event, &at) {
        body.insert(name.to_owned(), value);
    }
    if let Some(action) = action(input.event) {
        match body
            .get_mut("object_attributes")
            .and_then(Value::as_object_mut)
        {
            Some(attributes) => attributes.insert("action".to_owned(), json!(action)),
            None => body.insert("action".to_owned(), json!(action)),
        };
    }
    body.insert("user".to_owned(), user());
    body.insert("project".to_owned(), project());
    Value::Object(body)
}

fn about(event: &str, at: &str) -> Vec<(&'static str, Value)> {
    let (family, action) = (family(event), action(event));
    match family {
        "merge_request" => vec![
            ("object_attributes", merge_request(action, at)),
            ("labels", json!([{ "title": "bug" }])),
            ("assignees", json!([user()])),
            (
                "reviewers",
                json!([{ "name": "Grace Example", "username": "grace" }]),
            ),
        ],
        "issue" => vec![
            ("object_attributes", issue(action, at)),
            ("labels", json!([{ "title": "bug" }])),
        ],
        "note" => vec![
            ("object_attributes", note(at)),
            ("merge_request", merge_request(None, at)),
        ],
        "pipeline" => vec![("object_attributes", pipeline(at)), ("builds", jobs())],
        "push" => push("refs/heads/main", at),
        "tag_push" => push("refs/tags/v1.4.0", at),
        "release" => vec![
            ("tag", json!("v1.4.0")),
            ("name", json!("1.4.0")),
            ("url", json!(format!("{PROJECT}/-/releases/v1.4.0"))),
            ("description", json!("Totals are no longer off by a cent.")),
        ],
        _ => Vec::new(),
    }
}

fn user() -> Value {
    json!({ "name": "Ada Example", "username": "ada", "email": "[REDACTED]" })
}

fn project() -> Value {
    json!({
        "name": "shop",
        "path_with_namespace": "acme/shop",
        "web_url": PROJECT,
        "default_branch": "main",
    })
}

fn merge_request(action: Option<&str>, at: &str) -> Value {
    json!({
        "iid": 42,
        "title": "Round prices half to even",
        "description": "Totals were off by a cent for some carts.",
        "source_branch": "round-half-even",
        "target_branch": "main",
        "state": match action { Some("merge") => "merged", Some("close") => "closed", _ => "opened" },
        "draft": false,
        "detailed_merge_status": "mergeable",
        "url": format!("{PROJECT}/-/merge_requests/42"),
        "last_commit": commit(at),
        "created_at": at,
        "updated_at": at,
    })
}

fn issue(action: Option<&str>, at: &str) -> Value {
    json!({
        "iid": 7,
        "title": "Totals are off by a cent",
        "description": "With three items at 0.333 the total is 0.99 instead of 1.00.",
        "state": if action == Some("close") { "closed" } else { "opened" },
        "confidential": false,
        "type": "Issue",
        "url": format!("{PROJECT}/-/issues/7"),
        "created_at": at,
        "updated_at": at,
    })
}

fn note(at: &str) -> Value {
    json!({
        "note": "Please also cover negative totals.",
        "noteable_type": "MergeRequest",
        "action": "create",
        "url": format!("{PROJECT}/-/merge_requests/42#note_1"),
        "created_at": at,
    })
}

fn pipeline(at: &str) -> Value {
    json!({
        "id": 128,
        "iid": 31,
        "ref": "round-half-even",
        "tag": false,
        "sha": HEAD,
        "source": "push",
        "status": "failed",
        "detailed_status": "failed",
        "stages": ["build", "test"],
        "duration": 95,
        "url": format!("{PROJECT}/-/pipelines/128"),
        "created_at": at,
        "finished_at": at,
    })
}

fn jobs() -> Value {
    json!([
        { "stage": "build", "name": "build", "status": "success" },
        { "stage": "test", "name": "unit tests", "status": "failed", "failure_reason": "script_failure" },
    ])
}

fn commit(at: &str) -> Value {
    json!({
        "id": HEAD,
        "message": "Round prices half to even",
        "title": "Round prices half to even",
        "timestamp": at,
        "url": format!("{PROJECT}/-/commit/{HEAD}"),
        "author": { "name": "Ada Example", "email": "ada@example.com" },
        "added": [],
        "modified": ["src/price.rs"],
        "removed": [],
    })
}

fn push(reference: &str, at: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("ref", json!(reference)),
        ("before", json!(BASE)),
        ("after", json!(HEAD)),
        ("user_name", json!("Ada Example")),
        ("user_username", json!("ada")),
        ("commits", json!([commit(at)])),
        ("total_commits_count", json!(1)),
    ]
}
