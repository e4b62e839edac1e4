//! A test connection that records its outputs.

use crate::harness::Harness;
use gatehouse_auth::{Decision, RequestContext};
use gatehouse_rpc::{Connection, Input, Output, PathKind};
use serde_json::{Value, json};

pub const PASSWORD: &str = "correct horse battery";

/// A connection with its outputs so far.
pub struct Line {
    pub connection: Connection,
    pub said: Vec<Value>,
    pub pings: usize,
    pub closed: Option<(u16, &'static str)>,
    pub waiting: Vec<std::pin::Pin<Box<dyn Future<Output = gatehouse_rpc::Finished> + Send>>>,
}

impl Line {
    pub fn open(harness: &Harness, context: RequestContext) -> Self {
        let connection = Connection::open(harness.rpc.clone(), context, PathKind::Public).unwrap();
        Self {
            connection,
            said: Vec::new(),
            pings: 0,
            closed: None,
            waiting: Vec::new(),
        }
    }

    /// Returns a connection of the owner before setup.
    pub async fn ready(harness: &Harness) -> Self {
        Self::open(harness, harness.context(&[]).await)
    }

    /// Returns a connection without authentication.
    pub async fn unauthenticated_client(harness: &Harness) -> Self {
        let mut context = harness.visit_from("192.0.2.1", &[]).await;
        if matches!(context.decision, Decision::Allowed(_)) {
            context.decision = Decision::Unauthorized;
        }
        Self::open(harness, context)
    }

    pub fn feed(&mut self, input: Input) {
        for output in self.connection.handle(input) {
            assert_eq!(self.closed, None, "nothing after the close");
            match output {
                Output::Send(text) => self.said.push(serde_json::from_str(&text).unwrap()),
                Output::Ping => self.pings += 1,
                Output::Call(work) => self.waiting.push(work),
                Output::Answered(guard) => drop(guard),
                Output::Close { code, reason } => self.closed = Some((code, reason)),
            }
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.feed(Input::Text(message.to_string()));
    }

    pub async fn finish(&mut self) {
        for work in std::mem::take(&mut self.waiting) {
            let finished = work.await;
            self.feed(Input::CallFinished(finished));
        }
    }

    pub fn code(&self, place: usize) -> &str {
        self.said[place]["error"]["data"]["code"]
            .as_str()
            .unwrap_or("no error")
    }

    pub fn close_code(&self) -> Option<u16> {
        self.closed.map(|(code, _)| code)
    }
}

pub async fn set_password(harness: &Harness) {
    let context = harness.context(&[]).await;
    let request = serde_json::from_value(json!({ "password": PASSWORD })).unwrap();
    let caller = gatehouse_auth::Caller {
        context: &context,
        user_agent: None,
    };
    harness
        .services()
        .auth
        .setup(&caller, request)
        .await
        .unwrap();
}

/// Returns the owner, logged in with the password after setup.
pub async fn owner(harness: &Harness) -> gatehouse_auth::RequestContext {
    let mut context = harness.context(&[]).await;
    let auth = serde_json::from_value(json!({ "password": PASSWORD })).unwrap();
    let identity = harness
        .services()
        .auth
        .socket_login(&context, auth)
        .await
        .unwrap();
    context.decision = gatehouse_auth::Decision::Allowed(identity);
    context
}

pub fn connect_with(password: &str) -> Value {
    json!({ "method": "connect", "params": { "auth": { "password": password } } })
}
