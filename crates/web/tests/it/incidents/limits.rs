//! Limits that an attacker could evade.

use crate::steps::{WRONG_PASSWORD, behind_trusted_proxy, light_owner, log_in};
use gatehouse_testkit::Options;
use serde_json::json;

async fn is_limited_at_the_sixth(actors: impl IntoIterator<Item = gatehouse_testkit::Actor>) {
    for (number, actor) in actors.into_iter().enumerate() {
        let reply = log_in(&actor, WRONG_PASSWORD).await;
        let expected = if number < 5 {
            (401, "INVALID_CREDENTIALS")
        } else {
            (429, "RATE_LIMITED")
        };
        reply.refused(expected.0, expected.1);
    }
}

/// `ZhuLinsen/daily_stock_analysis#842`, `glanceapp/glance#1031`: the limiter's key was the left-most
/// address, which the client controls.
#[tokio::test]
async fn glance_1031_the_right_most_address_is_the_client_s() {
    let (server, _owner) = light_owner(behind_trusted_proxy()).await;
    let forged = |n: u8| format!("198.51.100.{n}, 192.0.2.{n}, 203.0.113.9");
    is_limited_at_the_sixth((0..8).map(|n| server.local().proxied(&forged(n)))).await;
    // Another client of the same proxy has its own limit.
    log_in(&server.local().proxied("203.0.113.10"), WRONG_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
}

/// `ZerosAndOnesLLC/AiFw#165`, `marceld23/BlocksBeyondTheStars#418`: the header chose the key even without
/// a proxy.
#[tokio::test]
async fn aifw_165_without_a_trusted_proxy_no_header_chooses_the_key() {
    let (server, _owner) = light_owner(Options::default()).await;
    let names = [
        "X-Forwarded-For",
        "X-Real-IP",
        "CF-Connecting-IP",
        "Forwarded",
        "True-Client-IP",
        "X-Client-IP",
        "Host",
        "User-Agent",
    ];
    is_limited_at_the_sixth(
        names
            .iter()
            .enumerate()
            .map(|(n, name)| server.local().with(name, &format!("203.0.113.{n}"))),
    )
    .await;
}

/// GHSA-5847-rm3g-23mw: one address in two spellings had two budgets.
#[tokio::test]
async fn ghsa_5847_rm3g_23mw_one_address_has_one_budget() {
    let (server, _owner) = light_owner(behind_trusted_proxy()).await;
    let spellings = [
        "203.0.113.7",
        "::ffff:203.0.113.7",
        "::ffff:cb00:7107",
        "[::ffff:203.0.113.7]:443",
        "203.0.113.7:50000",
        "0:0:0:0:0:ffff:203.0.113.7",
    ];
    is_limited_at_the_sixth(spellings.map(|spelling| server.local().proxied(spelling))).await;
}

/// No public identifier found; CWE-799: an IPv6 client has more addresses than any table can hold.
#[tokio::test]
async fn cwe_799_an_ipv6_network_has_one_budget() {
    let (server, _owner) = light_owner(behind_trusted_proxy()).await;
    let address = |n: u8| format!("2001:db8:1:2:{n:x}::{n:x}");
    is_limited_at_the_sixth((1..8).map(|n| server.local().proxied(&address(n)))).await;
    let next = server.local().proxied("2001:db8:1:3::1");
    log_in(&next, WRONG_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
}

/// `openclaw/openclaw#57647`: an invented device token next to the password disabled the limiter.
#[tokio::test]
async fn openclaw_57647_a_second_credential_does_not_switch_the_limiter_off() {
    let (server, _owner) = light_owner(Options::default()).await;
    for number in 0..7 {
        let mut socket = server.socket(&server.local(), "/ws").await;
        let auth = json!({ "password": WRONG_PASSWORD, "device_token": format!("gd_{number}") });
        let answer = socket.connect(auth).await.unwrap();
        let expected = if number < 5 {
            ("INVALID_CREDENTIALS", 4401)
        } else {
            ("RATE_LIMITED", 4429)
        };
        assert_eq!(
            answer["error"]["data"]["code"], expected.0,
            "{number}: {answer}"
        );
        assert_eq!(socket.closed().await, expected.1, "{number}");
    }
}

/// CVE-2026-56450: a six-digit code could be guessed without limit.
#[tokio::test]
async fn cve_2026_56450_the_setup_code_bears_ten_guesses() {
    let clock = crate::steps::stopped_clock();
    let server = crate::steps::by_clock(&clock).await;
    let guess = async |code: &str| {
        let body = json!({ "password": gatehouse_testkit::PASSWORD, "setup_code": code });
        server.remote().post("/api/auth/setup", body).await
    };
    let first = server.setup_code();
    for number in 0..10_u32 {
        let wrong = format!(
            "{:06}",
            (first.parse::<u32>().unwrap() + 1 + number) % 1_000_000
        );
        guess(&wrong).await.refused(403, "FORBIDDEN");
    }
    let second = server.setup_code();
    assert_ne!(first, second);
    guess(&first).await.refused(403, "FORBIDDEN");
    for _ in 0..9 {
        guess("x").await.refused(403, "FORBIDDEN");
    }
    // The second code is used up too. A third one is available ten minutes later at the earliest.
    let refused = guess(&second).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused["retry_after_seconds"], 600);
    clock.advance(std::time::Duration::from_mins(10));
    guess(&second).await.refused(403, "FORBIDDEN");
    guess(&server.setup_code()).await.expect(200);
}

/// No public identifier found; CWE-307: a stolen session allowed guessing the password.
#[tokio::test]
async fn cwe_307_one_credential_sends_thirty_wrong_passwords() {
    let clock = crate::steps::stopped_clock();
    let server = crate::steps::by_clock(&clock).await;
    let owner = server.set_up().await;
    let wrong = json!({ "password": WRONG_PASSWORD });
    for number in 0..30 {
        let (path, status) = match number % 3 {
            0 => ("/api/auth/confirm", 401),
            1 => ("/api/auth/vault/unlock", 423),
            _ => ("/api/auth/vault/rotate", 423),
        };
        assert_eq!(
            owner.post(path, wrong.clone()).await.status,
            status,
            "{number}"
        );
    }
    for path in ["/api/auth/confirm", "/api/auth/vault/unlock"] {
        let right = json!({ "password": gatehouse_testkit::PASSWORD });
        let body = owner.post(path, right).await.refused(429, "RATE_LIMITED");
        assert_eq!(body["retry_after_seconds"], 600);
    }
    // The session's other requests still succeed.
    owner.get("/api/gon").await.expect(200);
    clock.advance(std::time::Duration::from_mins(10));
    let right = json!({ "password": gatehouse_testkit::PASSWORD });
    owner.post("/api/auth/confirm", right).await.expect(200);
}
