//! `sessions.share`, `sessions.unshare` and `GET /share/{id}`.

use super::with_model;
use serde_json::json;

#[tokio::test]
async fn a_shared_session_is_a_page_without_script_for_anybody() {
    let (server, owner) = with_model().await;
    let text = "<script>alert('x')</script> \"&amp;";
    let answer = owner
        .rpc("chat.send_sync", json!({ "text": text }))
        .await
        .unwrap();
    let id = json!({ "id": answer["session"] });
    let share = owner.rpc("sessions.share", id.clone()).await.unwrap();
    let share_id = share["share_id"].as_str().unwrap();
    assert_eq!(
        share["url"],
        format!("https://gate.example/share/{share_id}")
    );
    let path = format!("/share/{share_id}");
    let later = json!({ "session": answer["session"], "text": "a secret" });
    owner.rpc("chat.send_sync", later).await.unwrap();

    for actor in [server.remote(), server.local(), owner.clone()] {
        let page = actor.get(&path).await;
        page.expect(200);
        assert!(!page.text.contains("<script") && !page.text.contains("a secret"));
        assert!(
            page.text.contains("&lt;script&gt;alert(&#39;x&#39;)"),
            "{}",
            page.text
        );
        assert!(page.text.contains("pong"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; style-src 'sha256-"),
            "{policy}"
        );
        assert!(!policy.contains("script-src") && !policy.contains("unsafe"));
        assert!(page.header("x-robots-tag").unwrap().contains("noindex"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    }
    // Every other response keeps the default policy.
    let home = owner.get("/").await;
    assert!(
        home.header("content-security-policy")
            .unwrap()
            .contains("script-src 'self'")
    );

    let again = owner.rpc("sessions.share", id.clone()).await.unwrap();
    assert_eq!(again["share_id"], share_id);
    assert!(server.remote().get(&path).await.text.contains("a secret"));

    let done = owner.rpc("sessions.unshare", id.clone()).await;
    assert_eq!(done, Ok(json!({ "ok": true })));
    let revoked = server.remote().get(&path).await;
    let unknown = server.remote().get("/share/AAAAAAAAAAAAAAAAAAAAAA").await;
    revoked.refused(404, "NOT_FOUND");
    unknown.refused(404, "NOT_FOUND");
    assert_eq!(revoked.text, unknown.text);
    assert_eq!(
        owner.rpc("sessions.unshare", id).await,
        Err("NOT_FOUND".to_owned())
    );
    let audited = owner
        .rpc("audit.list", json!({ "kind": "session.shared" }))
        .await
        .unwrap();
    assert_eq!(audited["events"].as_array().unwrap().len(), 2);
    assert!(!audited.to_string().contains(share_id));
}

#[tokio::test]
async fn pages_for_strangers_are_in_the_language_of_their_browser() {
    let (server, owner) = with_model().await;
    let answer = owner
        .rpc("chat.send_sync", json!({ "text": "Hello" }))
        .await;
    let id = json!({ "id": answer.unwrap()["session"] });
    let share = owner.rpc("sessions.share", id).await.unwrap();
    let known = format!("/share/{}", share["share_id"].as_str().unwrap());
    for (path, language, lang, said) in [
        (
            known.as_str(),
            "de-AT, en;q=0.5",
            "de",
            "Eine Unterhaltung mit einem Agenten",
        ),
        (known.as_str(), "fr", "en", "A conversation with an agent"),
        ("/share/x", "de", "de", "Link nicht gefunden"),
        ("/share/x", "en-GB, de;q=0.9", "en", "Link not found"),
    ] {
        let request = server.remote().request("GET", path);
        let request = request.header("accept", "text/html");
        let page = request.header("accept-language", language).send().await;
        let page = page.unwrap();
        assert_eq!(page.headers()["vary"], "accept-language");
        let text = page.text().await.unwrap();
        assert!(text.contains(&format!("<html lang=\"{lang}\">")), "{text}");
        assert!(
            text.contains(said) && text.contains("class=\"brand\""),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_shared_page_of_a_very_long_session_is_bounded() {
    let (server, owner) = with_model().await;
    let mut session = None;
    // 1.5 MiB of characters that are six times as long in HTML.
    for number in 0..24 {
        let text = format!("message {number} {}", "\"".repeat(64 << 10));
        let params = json!({ "session": session, "text": text });
        let answer = owner.rpc("chat.send_sync", params).await.unwrap();
        session = Some(answer["session"].clone());
    }
    let share = owner.rpc("sessions.share", json!({ "id": session })).await;
    let share = share.unwrap();
    let path = format!("/share/{}", share["share_id"].as_str().unwrap());
    let page = server.remote().get(&path).await;
    page.expect(200);
    assert!(page.text.contains("message 23") && !page.text.contains("message 1 "));
    assert!(page.text.contains("Earlier messages are not shown."));
    assert!(page.text.len() < 8 << 20, "{} bytes", page.text.len());
}
