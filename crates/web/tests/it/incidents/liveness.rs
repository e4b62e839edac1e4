//! CWE-367, CWE-613: a credential that ends after its request began and before the request is
//! finished.

use crate::steps::{light_owner, set_up_with_vault};
use gatehouse_store::StoreError;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A request whose head the server has accepted. The server waits for its body.
struct Begun {
    stream: TcpStream,
    body: Vec<u8>,
}

impl Begun {
    /// Sends the head. The server requests the body only after it has authenticated the caller.
    async fn post(actor: &Actor, path: &str, content_type: &str, body: &[u8]) -> Self {
        let mut stream = TcpStream::connect(actor.address()).await.unwrap();
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n",
            body.len()
        );
        let headers = actor.headers().iter();
        let headers = headers.flat_map(|(name, value)| [name.as_str(), ": ", value, "\r\n"]);
        head.extend(headers);
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 25];
        let read = stream.read_exact(&mut answer);
        tokio::time::timeout(TIMEOUT, read).await.unwrap().unwrap();
        assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self {
            stream,
            body: body.to_vec(),
        }
    }

    /// Sends the body and returns the whole response.
    async fn finish(mut self) -> String {
        self.stream.write_all(&self.body).await.unwrap();
        let mut answer = Vec::new();
        let read = self.stream.read_to_end(&mut answer);
        tokio::time::timeout(TIMEOUT, read).await.unwrap().unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn config_set() -> Vec<u8> {
    let params = json!({ "key": "metrics.enabled", "value": false });
    let call = json!({ "id": 1, "method": "config.set", "params": params });
    call.to_string().into_bytes()
}

/// Creates another credential of the owner. Returns it and its ID.
async fn second_credential(server: &TestServer, owner: &Actor) -> (Actor, String) {
    let key = server.api_key(owner, &["operator.admin"]).await;
    let listed = owner.get("/api/auth/api-keys").await.expect(200);
    let id = listed["api_keys"][0]["id"].as_str().unwrap().to_owned();
    (key, id)
}

async fn metrics_enabled(owner: &Actor) -> Value {
    let keys = json!({ "keys": ["metrics.enabled"] });
    owner.rpc("config.get", keys).await.unwrap()["values"][0]["value"].clone()
}

#[tokio::test]
async fn cwe_613_a_call_whose_body_trickles_past_the_end_of_its_key_changes_nothing() {
    let (server, owner) = light_owner(Options::default()).await;
    let (other, id) = second_credential(&server, &owner).await;
    let begun = Begun::post(&other, "/api/rpc", "application/json", &config_set()).await;
    let ended = owner.delete(&format!("/api/auth/api-keys/{id}")).await;
    ended.expect(200);
    let answer = begun.finish().await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.contains("AUTH_NOT_AUTHENTICATED"), "{answer}");
    assert_eq!(metrics_enabled(&owner).await, true);
}

#[tokio::test]
async fn cwe_613_a_reset_whose_body_trickles_past_the_logout_removes_nothing() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.admin"]).await;
    let begun = Begun::post(&owner, "/api/auth/reset", "application/json", b"{}").await;
    owner.post("/api/auth/logout", json!({})).await.expect(200);
    let answer = begun.finish().await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    key.get("/api/gon").await.expect(200);
    let status = server.local().get("/api/auth/status").await.expect(200);
    assert_eq!(
        (&status["setup_complete"], &status["auth_disabled"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn cwe_613_a_request_begun_before_setup_ends_with_setup() {
    let server = TestServer::fresh().await;
    let local = server.local();
    let call = Begun::post(&local, "/api/rpc", "application/json", &config_set()).await;
    let body = br#"{"label":"early","scopes":["operator.admin"]}"#;
    let key = Begun::post(&local, "/api/auth/api-keys", "application/json", body).await;
    let (owner, _) = set_up_with_vault(&server).await;
    for begun in [call, key] {
        let answer = begun.finish().await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    assert_eq!(metrics_enabled(&owner).await, true);
    let keys = owner.get("/api/auth/api-keys").await.expect(200);
    assert_eq!(keys["api_keys"], json!([]));
}

#[cfg(feature = "voice")]
#[tokio::test]
async fn cwe_613_an_upload_past_the_end_of_its_key_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let (other, id) = second_credential(&server, &owner).await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap();
    let path = format!("/api/sessions/{}/audio", session["id"].as_str().unwrap());
    let audio = Begun::post(&other, &path, "audio/wav", b"RIFF").await;
    let form = b"--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\ny\r\n--x--\r\n";
    let media_type = "multipart/form-data; boundary=x";
    let at = "/v1/audio/translations";
    let translation = Begun::post(&other, at, media_type, form).await;
    let form = Begun::post(&other, "/v1/audio/transcriptions", media_type, form).await;
    let speech = br#"{"input":"hello","model":"x","voice":"y"}"#;
    let speech = Begun::post(&other, "/v1/audio/speech", "application/json", speech).await;
    let ended = owner.delete(&format!("/api/auth/api-keys/{id}")).await;
    ended.expect(200);
    for begun in [audio, translation, form, speech] {
        let answer = begun.finish().await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
}

#[tokio::test]
async fn cwe_613_a_conversation_past_the_end_of_its_key_is_not_answered() {
    let (server, owner) = light_owner(Options::default()).await;
    let (other, id) = second_credential(&server, &owner).await;
    let mut all = Vec::new();
    for (path, body) in [
        (
            "/v1/chat/completions",
            json!({ "model": "agent/default", "messages": [{ "role": "user", "content": "Hi." }] }),
        ),
        (
            "/v1/responses",
            json!({ "model": "agent/default", "input": "Hi." }),
        ),
    ] {
        let body = body.to_string().into_bytes();
        all.push(Begun::post(&other, path, "application/json", &body).await);
    }
    let ended = owner.delete(&format!("/api/auth/api-keys/{id}")).await;
    ended.expect(200);
    for begun in all {
        let answer = begun.finish().await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert!(answer.contains("AUTH_NOT_AUTHENTICATED"), "{answer}");
    }
}

/// Requests a file and runs `then` when the response has begun. Returns the number of received bytes.
async fn download(actor: &Actor, path: &str, then: impl Future<Output = ()>) -> usize {
    let socket = TcpSocket::new_v4().unwrap();
    // The server can send ahead only a part of a large file.
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(actor.address()).await.unwrap();
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    let headers = actor.headers().iter();
    head.extend(headers.flat_map(|(name, value)| [name.as_str(), ": ", value, "\r\n"]));
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut received = vec![0; 1024];
    let read = tokio::time::timeout(TIMEOUT, stream.read(&mut received)).await;
    received.truncate(read.unwrap().unwrap());
    assert!(received.starts_with(b"HTTP/1.1 200"));
    then.await;
    // The server may reset the connection.
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut received)).await;
    drop(read.expect("the response ends"));
    received.len()
}

/// More data than the buffers of a connection hold.
const LARGE: usize = 9 << 20;

async fn ends_with_its_key(server: &TestServer, owner: &Actor, path: &str) {
    let (other, id) = second_credential(server, owner).await;
    assert!(download(&other, path, async {}).await > LARGE);
    let ending = async {
        let ended = owner.delete(&format!("/api/auth/api-keys/{id}")).await;
        ended.expect(200);
    };
    let received = download(&other, path, ending).await;
    assert!(received < LARGE, "{received} bytes");
}

#[tokio::test]
async fn cwe_613_a_file_past_the_end_of_its_key_breaks_off() {
    let (server, owner) = light_owner(Options::default()).await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap();
    let files = format!(
        "/api/sessions/{}/attachments",
        session["id"].as_str().unwrap()
    );
    let at = format!("{files}?name=a.txt");
    let stored = owner.send_bytes("POST", &at, Some("text/plain"), vec![b'a'; LARGE]);
    let file = stored.await.expect(200);
    let path = format!("{files}/{}", file["id"].as_str().unwrap());
    ends_with_its_key(&server, &owner, &path).await;
}

#[cfg(feature = "voice")]
#[tokio::test]
async fn cwe_613_a_recording_past_the_end_of_its_key_breaks_off() {
    let (server, owner) = light_owner(Options::default()).await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap();
    let session = session["id"].as_str().unwrap();
    let audio = gatehouse_voice::NewAudio {
        session: gatehouse_domain::id::SessionId::from_text(session),
        is_inbound: true,
        format: "wav",
        mime_type: "audio/wav",
        duration_ms: 0,
        transcript: None,
        data: vec![0; LARGE].into(),
    };
    let voice = &server.app().services().voice;
    let id = voice.store_audio(audio).await.unwrap();
    let path = format!("/api/sessions/{session}/audio/{id}");
    ends_with_its_key(&server, &owner, &path).await;
}

/// Ends the session as another node would, before this node is notified.
async fn end_in_the_database_alone(server: &TestServer) {
    let store = &server.app().services().store;
    let ended: Result<u64, StoreError> = store
        .write(|conn| Box::pin(async move { conn.delete_other_auth_sessions(None).await }))
        .await;
    assert_eq!(ended.unwrap(), 1);
}

#[tokio::test]
async fn cwe_367_what_another_node_has_ended_writes_nothing_here() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.admin"]).await;
    owner.get("/api/gon").await.expect(200);
    end_in_the_database_alone(&server).await;
    for (method, path, body) in [
        (
            "POST",
            "/api/auth/api-keys",
            json!({ "label": "x", "scopes": ["operator.read"] }),
        ),
        ("DELETE", "/api/auth/sessions", json!({})),
        ("DELETE", "/api/auth/api-keys/key_x", json!({})),
        ("POST", "/api/auth/reset", json!({})),
    ] {
        let reply = owner.send(method, path, Some(body)).await;
        reply.refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    for (method, params) in [
        (
            "config.set",
            json!({ "key": "metrics.enabled", "value": false }),
        ),
        ("env.set", json!({ "key": "A", "value": "b" })),
        ("agents.create", json!({ "id": "x", "name": "X" })),
        ("pairing.create", json!({ "label": "x" })),
    ] {
        let outcome = owner.rpc(method, params).await;
        assert_eq!(
            outcome,
            Err("AUTH_NOT_AUTHENTICATED".to_owned()),
            "{method}"
        );
    }
    assert_eq!(metrics_enabled(&key).await, true);
}
