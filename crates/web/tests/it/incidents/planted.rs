//! Session cookies that an attacker planted next to the owner's.

use crate::steps::light_owner;
use gatehouse_testkit::Options;

/// CWE-384: a sibling subdomain or another port of the host can set cookies that the browser sends before
/// the owner's. They must not displace it.
#[tokio::test]
async fn cwe_384_planted_cookies_do_not_log_the_owner_out() {
    let (server, owner) = light_owner(Options::default()).await;
    let own = owner.headers()[0].1.clone();
    for planted in [1, 4, 5, 150, 1000] {
        let mut pairs: Vec<String> = (0..planted)
            .map(|n| format!("service_session={n:A>43}"))
            .collect();
        pairs.push(own.clone());
        let crowded = server.local().with("cookie", &pairs.join("; "));
        let answer = crowded.get("/api/gon").await;
        assert_eq!(answer.status, 200, "{planted} planted: {}", answer.text);
    }
    let strangers = (0..150).map(|n| format!("service_session={n:A>43}"));
    let strangers: Vec<String> = strangers.collect();
    server
        .local()
        .with("cookie", &strangers.join("; "))
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}
