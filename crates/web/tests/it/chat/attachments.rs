//! `/api/sessions/{id}/attachments`, and files in `chat.send_sync` and `chat.history`.

use gatehouse_doubles::openai::{FakeModel, say};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};

/// A PNG image of one pixel.
const PNG: &[u8] = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub fn png() -> Vec<u8> {
    data_encoding::BASE64.decode(PNG).unwrap()
}

struct Harness {
    _server: TestServer,
    owner: Actor,
    model: FakeModel,
    session: String,
}

impl Harness {
    async fn new() -> Self {
        let model = FakeModel::answering(|_| say("A dot.")).await;
        let options = Options::default().model(&model.url, "gpt-4o");
        let server = TestServer::start(options).await;
        let owner = server.set_up().await;
        let session = owner.rpc("sessions.create", json!({})).await.unwrap();
        Self {
            _server: server,
            owner,
            model,
            session: session["id"].as_str().unwrap().to_owned(),
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/sessions/{}/attachments{rest}", self.session)
    }

    async fn upload(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Reply {
        let path = self.path(&format!("?name={name}"));
        let media_type = Some("application/octet-stream");
        let sent = self
            .owner
            .send_bytes("POST", &path, media_type, bytes.into());
        sent.await
    }

    async fn send(&self, text: &str, id: &Value) -> Result<Value, String> {
        let params = json!({ "session": self.session, "text": text, "attachments": [id] });
        self.owner.rpc("chat.send_sync", params).await
    }

    /// Returns the headers and the body of a file.
    async fn fetch(&self, id: &Value) -> (reqwest::header::HeaderMap, Vec<u8>) {
        let path = self.path(&format!("/{}", id.as_str().unwrap()));
        let response = self.owner.request("GET", &path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let headers = response.headers().clone();
        (headers, response.bytes().await.unwrap().to_vec())
    }
}

#[tokio::test]
async fn a_picture_is_stored_shown_to_the_model_and_returned() {
    let harness = Harness::new().await;
    let file = harness.upload("my%20dot.png", png()).await.expect(200);
    let id = &file["id"];
    assert!(id.as_str().unwrap().starts_with("att_"));
    let received = json!({
        "id": id, "name": "my dot.png", "type": "image/png", "size": png().len(), "width": 1, "height": 1,
    });
    assert_eq!(file, received);
    let answer = harness.send("What is this?", id).await.unwrap();
    assert_eq!(answer["text"], "A dot.");
    let seen = harness.model.seen();
    assert!(seen[0]["messages"].to_string().contains("image_url"));

    let params = json!({ "session": harness.session });
    let history = harness.owner.rpc("chat.history", params).await.unwrap();
    assert_eq!(history["messages"][0]["attachments"], json!([received]));
    let state = harness
        .owner
        .rpc("sessions.get", json!({ "id": harness.session }));
    assert_eq!(state.await.unwrap()["tainted"], true);

    let (headers, body) = harness.fetch(id).await;
    assert_eq!(body, png());
    for (header, value) in [
        ("content-type", "image/png"),
        ("cache-control", "private, no-store"),
        (
            "content-disposition",
            "inline; filename*=UTF-8''my%20dot.png",
        ),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "content-security-policy",
            "default-src 'none'; sandbox; frame-ancestors 'none'",
        ),
    ] {
        assert_eq!(headers[header], value, "{header}");
    }
    // A model that does not see is not sent the picture, which its vendor would refuse.
    let file = harness.upload("b.png", png()).await.expect(200);
    let params = json!({
        "session": harness.session, "text": "And?", "attachments": [file["id"]], "model": "fake/gpt-4",
    });
    harness.owner.rpc("chat.send_sync", params).await.unwrap();
}

#[tokio::test]
async fn active_content_is_only_downloaded() {
    let harness = Harness::new().await;
    for (name, bytes, media_type) in [
        (
            "a.html",
            &b"<script>alert(1)</script>"[..],
            "text/plain; charset=utf-8",
        ),
        (
            "a.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            "text/plain; charset=utf-8",
        ),
        ("a.png", b"%PDF-1.7 x", "application/pdf"),
        ("a.png", b"\0\x01\x02", "application/octet-stream"),
    ] {
        let file = harness.upload(name, bytes).await.expect(200);
        let (headers, body) = harness.fetch(&file["id"]).await;
        assert_eq!(
            (&headers["content-type"], body),
            (&media_type.parse().unwrap(), bytes.to_vec())
        );
        let disposition = headers["content-disposition"].to_str().unwrap();
        assert!(disposition.starts_with("attachment; "), "{disposition}");
        assert!(
            headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("sandbox")
        );
    }
}

#[tokio::test]
async fn names_are_cleaned() {
    let harness = Harness::new().await;
    let name = "..%2F..%2Fin%0D%0Avoice%E2%80%AEfdp.exe%22%3Bx";
    let file = harness.upload(name, png()).await.expect(200);
    assert_eq!(file["name"], "invoicefdp.exe\";x");
    let (headers, _) = harness.fetch(&file["id"]).await;
    let disposition = &headers["content-disposition"];
    assert_eq!(
        disposition,
        "inline; filename*=UTF-8''invoicefdp.exe%22%3Bx"
    );
}

#[tokio::test]
async fn a_file_at_the_limit_and_one_byte_past_it() {
    let harness = Harness::new().await;
    let params = json!({ "key": "agents.attachment_max_bytes", "value": 1024 });
    harness.owner.rpc("config.set", params).await.unwrap();
    harness.upload("a", vec![b'x'; 1024]).await.expect(200);
    let past = harness.upload("a", vec![b'x'; 1025]).await;
    let refused = past.refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused["max_bytes"], 1024);
}

#[tokio::test]
async fn what_is_no_file_or_no_supported_image_is_refused() {
    let harness = Harness::new().await;
    harness
        .upload("a.gif", *b"GIF89a")
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    harness
        .upload("a.png", *b"\x89PNG\r\n\x1a\n")
        .await
        .refused(400, "INVALID_REQUEST");
    harness
        .upload("a", *b"")
        .await
        .refused(400, "INVALID_REQUEST");
    for (rest, media_type, status, code) in [
        (
            "?name=a",
            "multipart/form-data; boundary=x",
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        ),
        ("", "text/plain", 400, "INVALID_PARAMS"),
        ("?name=a&name=b", "text/plain", 400, "INVALID_PARAMS"),
        ("?name=a&x=b", "text/plain", 400, "INVALID_PARAMS"),
    ] {
        let path = harness.path(rest);
        let sent = harness
            .owner
            .send_bytes("POST", &path, Some(media_type), png());
        sent.await.refused(status, code);
    }
    let path = "/api/sessions/ses_none/attachments?name=a";
    let sent = harness
        .owner
        .send_bytes("POST", path, Some("image/png"), png());
    sent.await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn an_unsent_file_can_be_deleted_and_a_sent_one_cannot() {
    let harness = Harness::new().await;
    let file = harness.upload("a.png", png()).await.expect(200);
    let path = harness.path(&format!("/{}", file["id"].as_str().unwrap()));
    harness.owner.delete(&path).await.expect(200);
    harness.owner.get(&path).await.refused(404, "NOT_FOUND");
    let file = harness.upload("a.png", png()).await.expect(200);
    harness.send("Look.", &file["id"]).await.unwrap();
    let path = harness.path(&format!("/{}", file["id"].as_str().unwrap()));
    harness.owner.delete(&path).await.refused(404, "NOT_FOUND");
    let again = harness.send("Again.", &file["id"]).await;
    assert_eq!(again, Err("INVALID_PARAMS".to_owned()));
}
