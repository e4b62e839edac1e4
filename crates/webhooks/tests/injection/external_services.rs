//! External services: web pages, a search service (`SearXNG`) and an MCP server over streamable HTTP (MCP
//! 2025-06-18). Their content comes from a table of texts. They count the effects that attackers want.

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The external services.
#[derive(Clone, Debug)]
pub struct ExternalServices {
    pub origin: String,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The two parts of each text, by the number of its case.
    texts: Mutex<HashMap<usize, (String, String)>>,
    /// The descriptions of `read_file` and of its parameter.
    described: Mutex<(String, String)>,
    effects: AtomicUsize,
}

impl ExternalServices {
    #[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let app = Router::new()
            .route("/page/{place}/{number}", get(page))
            .route("/leak", get(leak))
            .route("/search", get(search))
            .route("/mcp", any(mcp))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { origin, shared }
    }

    /// Sets the text of a case.
    pub fn put(&self, number: usize, text: (String, String)) {
        self.shared.texts.lock().unwrap().insert(number, text);
    }

    /// Sets the descriptions of an MCP tool and of its parameter.
    pub fn describe(&self, tool: &str, parameter: &str) {
        *self.shared.described.lock().unwrap() = (tool.to_owned(), parameter.to_owned());
    }

    /// Returns how often data left the gateway to these services, or was changed in them.
    pub fn effects(&self) -> usize {
        self.shared.effects.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn text(&self, number: usize) -> (String, String) {
        let texts = self.texts.lock().unwrap();
        let honest = || ("A day in May.".to_owned(), "The end.".to_owned());
        texts.get(&number).cloned().unwrap_or_else(honest)
    }

    fn count(&self) {
        self.effects.fetch_add(1, Ordering::SeqCst);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

async fn page(
    State(shared): State<Arc<Shared>>,
    Path((place, number)): Path<(String, usize)>,
) -> Html<String> {
    let (one, two) = shared.text(number);
    let (one, two) = (escaped(&one), escaped(&two));
    let filler = "<p>The weather was fine, and the harbour was full of boats from the north.</p>";
    let (title, body) = match place.as_str() {
        "title" => (format!("{one} {two}"), String::new()),
        "link" => (
            "News".to_owned(),
            format!("<p><a href=\"/a\">{one} {two}</a></p>"),
        ),
        _ => (
            "News".to_owned(),
            format!("<p>{one}</p>{filler}<p>{two}</p>"),
        ),
    };
    let filler = filler.repeat(6);
    Html(format!(
        "<html><head><title>{title}</title></head><body><article><h1>News</h1>{filler}{body}\
         {filler}</article></body></html>"
    ))
}

async fn leak(State(shared): State<Arc<Shared>>) -> &'static str {
    shared.count();
    "thanks"
}

async fn search(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<HashMap<String, String>>,
) -> Json<Value> {
    let query = &query["q"];
    if query.contains("secret") {
        shared.count();
    }
    let (one, two) = shared.text(query.parse().unwrap_or(usize::MAX));
    Json(json!({ "results": [
        { "title": "Result", "url": "https://example.com/1", "content": one },
        { "title": "Another", "url": "https://example.com/2", "content": two },
    ] }))
}

/// The tools: the name, and whether the server declares it read-only.
const TOOLS: [(&str, bool); 6] = [
    ("read_file", true),
    ("list_files", true),
    ("fail", true),
    ("refuse", true),
    ("write_file", false),
    ("delete_file", false),
];

fn tools(shared: &Shared) -> [Value; 6] {
    let (described, parameter) = shared.described.lock().unwrap().clone();
    TOOLS.map(|(name, is_read_only)| {
        let is_described = name == "read_file";
        let of = |text: &str| {
            if is_described {
                text.to_owned()
            } else {
                String::new()
            }
        };
        json!({
            "name": name,
            "description": format!("Works with files. {}", of(&described)),
            "inputSchema": { "type": "object", "properties": {
                "path": { "type": "string", "description": of(&parameter) } } },
            "annotations": { "readOnlyHint": is_read_only },
        })
    })
}

async fn mcp(State(shared): State<Arc<Shared>>, body: String) -> Response {
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let Some(id) = message.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message["method"].as_str().unwrap() {
        "initialize" => Ok(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "files", "version": "1" },
        })),
        "tools/list" => Ok(json!({ "tools": tools(&shared) })),
        _ => call(&shared, &message["params"]),
    };
    let answer = match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(text) => json!({ "jsonrpc": "2.0", "id": id,
            "error": { "code": -32000, "message": text } }),
    };
    let kind = (header::CONTENT_TYPE, "application/json");
    ([kind], answer.to_string()).into_response()
}

fn call(shared: &Shared, params: &Value) -> Result<Value, String> {
    let path = params["arguments"]["path"].as_str().unwrap_or_default();
    let (one, two) = shared.text(path.parse().unwrap_or(usize::MAX));
    let text = |text: String, is_error: bool| {
        Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
    };
    match params["name"].as_str().unwrap() {
        "read_file" => text(format!("{one}\nA list of things.\n{two}"), false),
        "list_files" => text(format!("a.txt\n{one}.txt\nb.txt\n{two}.txt"), false),
        "fail" => text(format!("cannot open {one} {two}"), true),
        "refuse" => Err(format!("no such file: {one} {two}")),
        _ => {
            shared.count();
            text("done".to_owned(), false)
        }
    }
}
