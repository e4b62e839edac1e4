//! Private responses in the browser cache after logout.

use crate::matrix::table::{Needs, ROUTE_TABLE};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::json;

/// CWE-524: private responses are not cached, or are revalidated before use.
#[tokio::test]
async fn cwe_524_no_private_answer_may_be_shown_from_a_cache() {
    let (server, owner) = light_owner(Options::default()).await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap();
    let session = session["id"].as_str().unwrap();
    for (method, _, path, needs) in ROUTE_TABLE {
        // These calls end the owner's session. They are tested below.
        if [Needs::Nothing].contains(needs) || path.ends_with("/logout") || path.ends_with("/reset")
        {
            continue;
        }
        let path = path.replace("ses_none", session);
        for caller in [&owner, &server.local()] {
            let answer = caller.send(method, &path, None).await;
            let policy = answer.header("cache-control").unwrap_or_default();
            let kept_but_asked = policy == "private, no-cache" && answer.header("etag").is_some();
            assert!(
                policy == "no-store" || kept_but_asked,
                "{method} {path} answers {} with {policy:?}",
                answer.status
            );
        }
    }
}

/// CWE-525: the browser of a shared computer must not show recordings to the next user.
#[tokio::test]
async fn cwe_525_the_end_of_the_own_session_clears_the_browser_s_cache() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.admin"]).await;
    let cleared =
        |reply: &gatehouse_testkit::Reply| reply.header("clear-site-data").map(str::to_owned);
    let cache = Some("\"cache\"".to_owned());
    // Ending other sessions keeps this browser's cache.
    let other = owner.delete("/api/auth/sessions").await;
    other.expect(200);
    assert_eq!(cleared(&other), None);
    let by_key = key.post("/api/auth/logout", json!({})).await;
    by_key.expect(200);
    assert_eq!(cleared(&by_key), cache);
    let (_server, ending) = light_owner(Options::default()).await;
    let ended = ending.delete("/api/auth/sessions/as_owner").await;
    ended.expect(200);
    assert_eq!(cleared(&ended), cache);
    let (_server, resetting) = light_owner(Options::default()).await;
    let reset = resetting.post("/api/auth/reset", json!({})).await;
    reset.expect(200);
    assert_eq!(cleared(&reset), cache);
    let logout = owner.post("/api/auth/logout", json!({})).await;
    logout.expect(200);
    assert_eq!(cleared(&logout), cache);
}
