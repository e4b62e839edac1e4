//! A test connection that records its outputs.

use crate::harness::House;
use gatehouse_auth::{Decision, Visit};
use gatehouse_rpc::{Connection, Input, Output, PathKind};
use serde_json::{Value, json};

pub const PASSWORD: &str = "correct horse battery";

/// A connection and its outputs so far.
pub struct Line {
    pub connection: Connection,
    pub said: Vec<Value>,
    pub pings: usize,
    pub closed: Option<(u16, &'static str)>,
    pub waiting: Vec<std::pin::Pin<Box<dyn Future<Output = gatehouse_rpc::Finished> + Send>>>,
}

impl Line {
    pub fn open(house: &House, visit: Visit) -> Self {
        let connection = Connection::open(house.rpc.clone(), visit, PathKind::Public).unwrap();
        Self {
            connection,
            said: Vec::new(),
            pings: 0,
            closed: None,
            waiting: Vec::new(),
        }
    }

    /// A connection of the owner before setup.
    pub async fn ready(house: &House) -> Self {
        Self::open(house, house.visit(&[]).await)
    }

    /// A connection without authentication.
    pub async fn stranger(house: &House) -> Self {
        let mut visit = house.visit_from("192.0.2.1", &[]).await;
        if matches!(visit.decision, Decision::Allowed(_)) {
            visit.decision = Decision::Unauthorized;
        }
        Self::open(house, visit)
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

pub async fn set_password(house: &House) {
    let visit = house.visit(&[]).await;
    let request = serde_json::from_value(json!({ "password": PASSWORD })).unwrap();
    let caller = gatehouse_auth::Caller {
        visit: &visit,
        user_agent: None,
    };
    house.services().auth.setup(&caller, request).await.unwrap();
}

/// The owner, logged in with the password after setup.
pub async fn owner(house: &House) -> gatehouse_auth::Visit {
    let mut visit = house.visit(&[]).await;
    let auth = serde_json::from_value(json!({ "password": PASSWORD })).unwrap();
    let identity = house
        .services()
        .auth
        .socket_login(&visit, auth)
        .await
        .unwrap();
    visit.decision = gatehouse_auth::Decision::Allowed(identity);
    visit
}

pub fn connect_with(password: &str) -> Value {
    json!({ "method": "connect", "params": { "auth": { "password": password } } })
}
