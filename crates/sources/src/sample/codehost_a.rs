//! Samples of GitHub deliveries.

use serde_json::{Map, Value, json};

use super::{SampleInput, action, family, time};

const REPOSITORY: &str = "https://codehost.example/acme/shop";
const HEAD: &str = "6f2b1c0d9e8a7f6b5c4d3e2f1a0b9c8d7e6f5a4b";
const BASE: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";

pub(crate) fn body(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    let mut body = Map::new();
    if let Some(action) = action(input.event) {
        body.insert("action".to_owned(), json!(action));
    }
    for (name, value) in about(family(input.event), action(input.event), &at) {
        body.insert(name.to_owned(), value);
    }
    body.insert("repository".to_owned(), repository());
    body.insert("sender".to_owned(), user("ada"));
    Value::Object(body)
}

fn about(family: &str, action: Option<&str>, at: &str) -> Vec<(&'static str, Value)> {
    match family {
        "pull_request" => vec![
            ("number", json!(42)),
            ("pull_request", pull_request(action == Some("closed"), at)),
        ],
        "pull_request_review" => vec![
            ("review", review(at)),
            ("pull_request", pull_request(false, at)),
        ],
        "pull_request_review_comment" => vec![
            ("comment", comment("pull/42#discussion_r1", at)),
            ("pull_request", pull_request(false, at)),
        ],
        "push" => push(at),
        "issues" => vec![("issue", issue(at))],
        "issue_comment" => vec![
            ("issue", issue(at)),
            ("comment", comment("issues/7#issuecomment-1", at)),
        ],
        "release" => vec![("release", release(at))],
        "workflow_run" => vec![
            ("workflow_run", workflow_run(action, at)),
            (
                "workflow",
                json!({ "name": "CI", "path": ".github/workflows/ci.yml" }),
            ),
        ],
        "ping" => vec![
            ("zen", json!("Keep it logically awesome.")),
            ("hook_id", json!(1)),
            (
                "hook",
                json!({ "type": "Repository", "active": true, "events": ["*"] }),
            ),
        ],
        _ => Vec::new(),
    }
}

fn user(login: &str) -> Value {
    json!({
        "login": login,
        "html_url": format!("https://codehost.example/{login}"),
        "type": "User",
    })
}

fn repository() -> Value {
    json!({
        "name": "shop",
        "full_name": "acme/shop",
        "private": true,
        "owner": { "login": "acme", "type": "Organization" },
        "html_url": REPOSITORY,
        "default_branch": "main",
    })
}

fn branch(name: &str, sha: &str) -> Value {
    json!({ "label": format!("acme:{name}"), "ref": name, "sha": sha, "repo": repository() })
}

fn pull_request(merged: bool, at: &str) -> Value {
    json!({
        "number": 42,
        "html_url": format!("{REPOSITORY}/pull/42"),
        "state": if merged { "closed" } else { "open" },
        "title": "Round prices half to even",
        "body": "Totals were off by a cent for some carts.\n\n- round each line, then add\n- cover it by a test",
        "user": user("ada"),
        "draft": false,
        "merged": merged,
        "merged_by": merged.then(|| user("grace")),
        "created_at": at,
        "updated_at": at,
        "head": branch("round-half-even", HEAD),
        "base": branch("main", BASE),
        "labels": [{ "name": "bug" }],
        "assignees": [user("ada")],
        "requested_reviewers": [user("grace")],
        "commits": 2,
        "additions": 31,
        "deletions": 4,
        "changed_files": 3,
        "comments": 1,
        "review_comments": 0,
    })
}

fn review(at: &str) -> Value {
    json!({
        "state": "changes_requested",
        "body": "Please also cover negative totals.",
        "user": user("grace"),
        "html_url": format!("{REPOSITORY}/pull/42#pullrequestreview-1"),
        "commit_id": HEAD,
        "submitted_at": at,
    })
}

fn issue(at: &str) -> Value {
    json!({
        "number": 7,
        "html_url": format!("{REPOSITORY}/issues/7"),
        "state": "open",
        "title": "Totals are off by a cent",
        "body": "With three items at 0.333 the total is 0.99 instead of 1.00.",
        "user": user("linus"),
        "labels": [{ "name": "bug" }],
        "assignees": [],
        "comments": 1,
        "created_at": at,
        "updated_at": at,
    })
}

fn comment(place: &str, at: &str) -> Value {
    json!({
        "body": "I can see it too, with every third cart.",
        "user": user("ada"),
        "html_url": format!("{REPOSITORY}/{place}"),
        "created_at": at,
        "updated_at": at,
    })
}

fn push(at: &str) -> Vec<(&'static str, Value)> {
    let commit = json!({
        "id": HEAD,
        "message": "Round prices half to even\n\nTotals were off by a cent.",
        "timestamp": at,
        "url": format!("{REPOSITORY}/commit/{HEAD}"),
        "author": { "name": "Ada Example", "email": "ada@example.com", "username": "ada" },
        "added": [],
        "removed": [],
        "modified": ["src/price.rs"],
    });
    vec![
        ("ref", json!("refs/heads/main")),
        ("before", json!(BASE)),
        ("after", json!(HEAD)),
        ("created", json!(false)),
        ("deleted", json!(false)),
        ("forced", json!(false)),
        (
            "compare",
            json!(format!("{REPOSITORY}/compare/0a1b2c3d4e5f...6f2b1c0d9e8a")),
        ),
        ("commits", json!([commit])),
        ("head_commit", commit),
        (
            "pusher",
            json!({ "name": "ada", "email": "ada@example.com" }),
        ),
    ]
}

fn release(at: &str) -> Value {
    json!({
        "tag_name": "v1.4.0",
        "name": "1.4.0",
        "target_commitish": "main",
        "draft": false,
        "prerelease": false,
        "html_url": format!("{REPOSITORY}/releases/tag/v1.4.0"),
        "author": user("ada"),
        "body": "## Fixed\n- Totals are no longer off by a cent (#42)",
        "published_at": at,
        "assets": [],
    })
}

fn workflow_run(action: Option<&str>, at: &str) -> Value {
    let done = action == Some("completed");
    json!({
        "name": "CI",
        "display_title": "Round prices half to even",
        "run_number": 128,
        "run_attempt": 1,
        "event": "pull_request",
        "status": if done { "completed" } else { "queued" },
        "conclusion": done.then_some("failure"),
        "head_branch": "round-half-even",
        "head_sha": HEAD,
        "head_commit": { "id": HEAD, "message": "Round prices half to even" },
        "html_url": format!("{REPOSITORY}/actions/runs/128"),
        "actor": user("ada"),
        "pull_requests": [{ "number": 42 }],
        "run_started_at": at,
        "updated_at": at,
    })
}
