//! Certificates by ACME, against an authority that verifies its requests.

use super::authority::Authority;
use super::{handshake, presented, until};
use gatehouse_domain::{Clock, ManualClock, SystemClock, Timestamp};
use gatehouse_services::certificates::CertificateFacts;
use gatehouse_services::doctor::Check;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Options, TestServer};
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use x509_parser::prelude::{FromDer, X509Certificate};

const DAY: Duration = Duration::from_hours(24);

fn options(directory: &str) -> Options {
    options_with(directory, "admin@gate.example")
}

fn options_with(directory: &str, email: &str) -> Options {
    Options::default()
        .env(
            "SERVICE_SERVER__TLS__ACME__DOMAINS",
            "www.gate.example,gate.example",
        )
        .env("SERVICE_SERVER__TLS__ACME__EMAIL", email)
        .env("SERVICE_SERVER__TLS__ACME__DIRECTORY", directory)
}

fn of(authority: &Authority) -> Options {
    options(&format!("{}/directory", authority.base))
}

fn clock() -> Arc<ManualClock> {
    let system: &dyn Clock = &SystemClock::new();
    Arc::new(ManualClock::at(system.now()))
}

/// Returns whether the authority issued it.
fn is_issued(certificate: &CertificateDer<'_>, authority: &Authority) -> bool {
    let root = x509_parser::pem::parse_x509_pem(authority.root_pem().as_bytes())
        .unwrap()
        .1;
    let root = root.parse_x509().unwrap();
    let (_, found) = X509Certificate::from_der(certificate).unwrap();
    found.verify_signature(Some(root.public_key())).is_ok()
}

async fn until_issued(server: &TestServer, authority: &Arc<Authority>) -> CertificateDer<'static> {
    until("the certificate", || async {
        is_issued(&presented(server.address()).await, authority)
    })
    .await;
    presented(server.address()).await
}

async fn check(server: &TestServer) -> Check {
    let services = server.app().services();
    let checks = gatehouse_services::doctor::checks(services, None).await;
    checks
        .into_iter()
        .find(|check| check.id == "certificate")
        .unwrap()
}

async fn until_failed(server: &TestServer, text: &str) -> Check {
    until(text, || async {
        check(server).await.message.contains(text)
    })
    .await;
    check(server).await
}

fn assert_well_formed(authority: &Authority) {
    let malformed = authority.state.lock().unwrap().malformed.clone();
    assert_eq!(malformed, Vec::<String>::new());
}

#[tokio::test]
async fn the_first_certificate_is_issued_and_kept() {
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    let server = TestServer::start(of(&authority)).await;
    // The server serves before there is a certificate.
    assert!(!is_issued(&presented(server.address()).await, &authority));
    assert!(!check(&server).await.ok);
    authority.validate_at(server.address());
    let first = until_issued(&server, &authority).await;
    {
        let state = authority.state.lock().unwrap();
        assert_eq!(state.accounts.len(), 1);
        assert_eq!(
            state.accounts[0].contact,
            json!(["mailto:admin@gate.example"])
        );
    }
    // A client that trusts the authority gets an answer.
    let root = reqwest::Certificate::from_pem(authority.root_pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder()
        .tls_certs_only([root])
        .resolve("www.gate.example", server.address())
        .build()
        .unwrap();
    let url = format!("https://www.gate.example:{}/livez", server.address().port());
    assert_eq!(client.get(url).send().await.unwrap().status(), 200);
    assert!(check(&server).await.ok);
    // Nobody set `server.external_url`.
    let base = server.app().services().config.base_url();
    assert_eq!(base, "https://www.gate.example");

    let server = server.restart().await;
    assert_eq!(presented(server.address()).await, first);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(
        authority.orders(),
        1,
        "a stored certificate is not ordered again"
    );
    assert_well_formed(&authority);
}

#[tokio::test]
async fn challenges_are_answered_only_while_they_are_open() {
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    let server = TestServer::start(of(&authority)).await;
    authority.validate_at(server.address());
    until_issued(&server, &authority).await;
    let alpn: &[u8] = b"acme-tls/1";
    for name in ["gate.example", "other.example"] {
        assert!(handshake(server.address(), name, Some(alpn)).await.is_err());
    }
    // A client that also offers another protocol is not a certificate authority.
    let found = handshake(server.address(), "other.example", None)
        .await
        .unwrap();
    assert!(is_issued(&found.certificate, &authority));
}

#[tokio::test]
async fn a_certificate_is_renewed_and_stays_in_use_when_that_fails() {
    let clock = clock();
    let authority = Authority::start(Arc::clone(&clock) as Arc<dyn Clock>).await;
    let server = TestServer::start(of(&authority).clock(Arc::clone(&clock))).await;
    authority.validate_at(server.address());
    let first = until_issued(&server, &authority).await;

    clock.advance(DAY * 55);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(authority.orders(), 1, "renewed too early");

    authority.state.lock().unwrap().rate_limit = Some(7200);
    clock.advance(DAY * 6);
    let found = until_failed(&server, "too many new orders recently").await;
    assert!(!found.ok && found.message.contains("The certificate is valid until"));
    assert_eq!(presented(server.address()).await, first);

    // The gateway waits as long as the authority requested.
    authority.state.lock().unwrap().rate_limit = None;
    clock.advance(Duration::from_secs(7100));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(authority.orders(), 1);
    clock.advance(Duration::from_secs(100 + 7200 / 5));
    until("the renewal", || async {
        presented(server.address()).await != first
    })
    .await;
    assert_eq!(authority.orders(), 2);
    assert!(check(&server).await.ok);
    let state = authority.state.lock().unwrap();
    assert_eq!(state.accounts.len(), 1, "the account is used again");
    assert_eq!(state.malformed, Vec::<String>::new());
}

#[tokio::test]
async fn a_name_that_the_authority_refuses_is_reported() {
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    authority.state.lock().unwrap().rejected_name = Some("www.gate.example".to_owned());
    let server = TestServer::start(of(&authority)).await;
    let found = until_failed(&server, "the policy forbids issuing for www.gate.example").await;
    assert!(!found.ok && found.hint.is_some());
    assert!(found.message.contains("The next is at"));
    assert!(!is_issued(&presented(server.address()).await, &authority));
}

#[tokio::test]
async fn a_validation_that_fails_is_reported_with_its_name() {
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    let server = TestServer::start(of(&authority)).await;
    // A server that speaks no TLS.
    authority.validate_at(
        authority
            .base
            .trim_start_matches("http://")
            .parse()
            .unwrap(),
    );
    let found = until_failed(&server, "Error getting validation data").await;
    assert!(
        found.message.contains("gate.example: "),
        "{}",
        found.message
    );
}

#[tokio::test]
async fn the_server_starts_while_the_authority_is_down() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let directory = format!("http://{}/directory", closed.local_addr().unwrap());
    drop(closed);
    let clock = clock();
    let server = TestServer::start(options(&directory).clock(Arc::clone(&clock))).await;
    let found = until_failed(&server, "The last order failed").await;
    assert!(!found.ok);
    assert!(found.message.contains("a self-signed one is in use"));
    presented(server.address()).await;
}

#[tokio::test]
async fn a_nonce_that_the_authority_refuses_is_replaced() {
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    authority.state.lock().unwrap().bad_nonces = 2;
    let server = TestServer::start(of(&authority)).await;
    authority.validate_at(server.address());
    until_issued(&server, &authority).await;
    assert_eq!(authority.state.lock().unwrap().bad_nonces, 0);
}

#[tokio::test]
async fn an_account_that_the_authority_forgot_is_created_again_in_the_same_order() {
    let clock = clock();
    let authority = Authority::start(Arc::clone(&clock) as Arc<dyn Clock>).await;
    let server = TestServer::start(of(&authority).clock(Arc::clone(&clock))).await;
    authority.validate_at(server.address());
    let first = until_issued(&server, &authority).await;
    authority.state.lock().unwrap().forget_accounts = true;
    clock.advance(DAY * 61);
    until("the renewal", || async {
        presented(server.address()).await != first
    })
    .await;
    assert!(check(&server).await.ok);
    assert_eq!(authority.state.lock().unwrap().accounts.len(), 2);
    assert_well_formed(&authority);
}

fn contact(authority: &Authority, account: usize) -> Value {
    let state = authority.state.lock().unwrap();
    let found = state.accounts.get(account);
    found.map_or(Value::Null, |account| account.contact.clone())
}

#[tokio::test]
async fn a_changed_email_is_the_contact_from_the_start_on() {
    let clock = clock();
    let authority = Authority::start(Arc::clone(&clock) as Arc<dyn Clock>).await;
    let mut server = TestServer::start(of(&authority).clock(Arc::clone(&clock))).await;
    authority.validate_at(server.address());
    until_issued(&server, &authority).await;
    let database = server.stop().await;
    let with = |email: &str, database| {
        options_with(&format!("{}/directory", authority.base), email)
            .clock(Arc::clone(&clock))
            .database(database)
    };
    // Long before the certificate is renewed.
    let mut server = TestServer::start(with("new@gate.example", database)).await;
    until("the contact", || async {
        contact(&authority, 0) == json!(["mailto:new@gate.example"])
    })
    .await;
    assert_eq!(authority.orders(), 1);
    let database = server.stop().await;

    // The account is lost as well.
    authority.state.lock().unwrap().forget_accounts = true;
    let server = TestServer::start(with("third@gate.example", database)).await;
    until("the account", || async {
        contact(&authority, 1) == json!(["mailto:third@gate.example"])
    })
    .await;
    authority.validate_at(server.address());
    let before = presented(server.address()).await;
    clock.advance(DAY * 61);
    until("the renewal", || async {
        presented(server.address()).await != before
    })
    .await;
    assert_eq!(authority.state.lock().unwrap().accounts.len(), 2);
    assert_well_formed(&authority);
}

#[tokio::test]
async fn a_sealed_vault_does_not_prevent_tls() {
    let mut plain = TestServer::fresh().await;
    plain.set_up().await;
    let database = plain.stop().await;
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    let server = TestServer::start(of(&authority).database(database)).await;
    authority.validate_at(server.address());
    until_issued(&server, &authority).await;
    let server = server.restart().await;
    let status = server.app().services().secrets.status();
    assert_eq!(format!("{status:?}"), "Sealed");
    assert!(is_issued(&presented(server.address()).await, &authority));
}

#[tokio::test]
async fn nodes_order_once_and_any_of_them_answers_the_challenge() {
    let Some(database) = postgres().await else {
        return;
    };
    let other = database.for_another_node();
    let authority = Authority::start(Arc::new(SystemClock::new())).await;
    let first = TestServer::start(of(&authority).database(database)).await;
    until("the order", || async { authority.orders() == 1 }).await;
    let second = TestServer::start(of(&authority).database(other)).await;
    // The balancer sends the authority to the node that does not order.
    authority.validate_at(second.address());
    let issued = until_issued(&first, &authority).await;
    assert_eq!(until_issued(&second, &authority).await, issued);
    assert_eq!(authority.orders(), 1);
}

#[test]
fn facts_are_those_of_the_first_certificate() {
    let made = rcgen::generate_simple_self_signed(["A.example".to_owned()]).unwrap();
    let facts = CertificateFacts::from_pem(&made.cert.pem()).unwrap();
    assert_eq!(facts.names, ["a.example"]);
    assert_eq!(
        facts.not_before,
        "1975-01-01T00:00:00Z".parse::<Timestamp>().unwrap()
    );
    assert!(CertificateFacts::from_pem("").is_err());
    assert!(CertificateFacts::from_pem(&made.signing_key.serialize_pem()).is_err());
}
