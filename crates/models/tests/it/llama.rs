//! A real llama.cpp server, created by `tests/llama_server.py`: both families, tools, token counts and
//! errors.
//!
//! `GATEHOUSE_TEST_PYTHON` names a Python interpreter with the script's dependencies (`cargo xtask test`
//! creates one).

use crate::harness::{Harness, call, hello, listen, model_of, provider, user};
use gatehouse_doubles::prepared_if;
use gatehouse_models::ProviderKind::{self, Anthropic, Openai};
use gatehouse_models::{
    ChatMessage, ChatRequest, ModelError, Models, ModelsSettings, StopReason, ToolSpec,
};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use url::Url;

const KEY: &str = "sk-llama";

/// The server. It ends when its standard input closes or when this is dropped.
struct Server {
    child: Child,
    url: Url,
}

impl Server {
    fn start(python: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llama_server.py");
        let mut child = Command::new(python)
            .arg(script)
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find(|line| line.starts_with("http://"));
        let address = address.expect("the server did not start");
        Self {
            child,
            url: Url::parse(&format!("{address}/v1")).unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn models(harness: &Harness, kind: ProviderKind, url: &Url, key: Option<&str>) -> Models {
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("llama".to_owned(), provider(kind, url, key));
    harness.models(settings)
}

fn calc() -> ToolSpec {
    ToolSpec {
        name: "calc".to_owned(),
        description: "Calculates.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "expression": { "type": "string" } },
            "required": ["expression"],
        }),
        strict: None,
    }
}

#[tokio::test]
async fn a_real_server_speaks_both_families() {
    let has_it = |python: &Path| {
        let mut import = Command::new(python);
        import.args(["-c", "import gguf, xllamacpp"]);
        import.output().is_ok_and(|output| output.status.success())
    };
    let what = "the llama.cpp server (xllamacpp and gguf)";
    let Some(python) = prepared_if("GATEHOUSE_TEST_PYTHON", what, has_it) else {
        return;
    };
    let server = tokio::task::spawn_blocking(move || Server::start(&python))
        .await
        .unwrap();
    let harness = Harness::new().await;
    for kind in [Openai, Anthropic] {
        let models = models(&harness, kind, &server.url, Some(KEY));
        let tested = models.test("llama", None).await.unwrap();
        assert_eq!(tested.models, Some(1), "{kind:?}");
        let chosen = models.choose(None, None).await.unwrap();
        assert_eq!(chosen, model_of("llama", "parrot"));

        let (collected, error) = listen(&models, &chosen, hello()).await;
        assert!(error.is_none(), "{kind:?}: {error:?}");
        assert_eq!(collected.text, "Hello, wörld");
        let (usage, stop) = collected.end.unwrap();
        assert_eq!(stop, StopReason::End);
        assert!(
            usage.input_tokens > 5 && usage.output_tokens == 3,
            "{usage:?}"
        );

        tool_loop(&models, kind).await;

        let mut short = hello();
        short.max_tokens = Some(1);
        let (collected, _) = listen(&models, &chosen, short).await;
        assert_eq!(collected.end.unwrap().1, StopReason::Length, "{kind:?}");

        let long = ChatRequest {
            messages: vec![user(&"long ".repeat(1000))],
            ..ChatRequest::default()
        };
        let (_, error) = listen(&models, &chosen, long).await;
        assert!(
            matches!(error, Some(ModelError::ContextTooLong { .. })),
            "{kind:?}: {error:?}"
        );
        wrong_key(&harness, kind, &server.url).await;
    }
}

async fn tool_loop(models: &Models, kind: ProviderKind) {
    let model = model_of("llama", "parrot");
    let mut request = ChatRequest {
        system: Some("You calculate.".to_owned()),
        tools: vec![calc()],
        ..hello()
    };
    let (first, error) = listen(models, &model, request.clone()).await;
    assert!(error.is_none(), "{kind:?}: {error:?}");
    assert_eq!(first.end.unwrap().1, StopReason::ToolUse, "{kind:?}");
    let id = first.calls[0].id.clone();
    assert_eq!(
        first.calls,
        [call(&id, "calc", "{\"expression\": \"6*7\"}")],
        "{kind:?}"
    );
    request.messages.push(ChatMessage::Assistant {
        text: first.text,
        tool_calls: first.calls,
        state: None,
    });
    request.messages.push(ChatMessage::Tool {
        call_id: id,
        name: "calc".to_owned(),
        text: "42".to_owned(),
    });
    let (second, error) = listen(models, &model, request).await;
    assert!(error.is_none(), "{kind:?}: {error:?}");
    assert_eq!(second.text, "It is 42.", "{kind:?}");
    assert_eq!(second.end.unwrap().1, StopReason::End, "{kind:?}");
}

async fn wrong_key(harness: &Harness, kind: ProviderKind, url: &Url) {
    let models = models(harness, kind, url, Some("sk-wrong"));
    let (_, error) = listen(&models, &model_of("llama", "parrot"), hello()).await;
    let refused = matches!(
        error,
        Some(ModelError::Failed {
            status: Some(401),
            retryable: false,
            ..
        })
    );
    assert!(refused, "{kind:?}: {error:?}");
}
