//! Limits that the nodes of a PostgreSQL database share.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, context};
use gatehouse_auth::Auth;
use gatehouse_auth::api::{ConfirmRequest, ConnectAuth};
use gatehouse_auth::client_address::Client;
use gatehouse_auth::throttle::ThrottleClass;
use gatehouse_domain::ErrorCode;
use gatehouse_store::testing::{number, postgres, run_sql};
use secrecy::SecretString;

/// Returns two nodes and the owner's cookie.
async fn two_nodes() -> Option<(Gate, Auth, String)> {
    let (gate, cookie) = Gate::with_owner(postgres().await?).await;
    let other = gate.second_node().await;
    Some((gate, other, cookie))
}

fn client(number: u8) -> Client {
    Client::at(format!("192.0.2.{number}").parse().unwrap())
}

/// Sends requests to the nodes in turn. Returns how many were admitted.
async fn admitted(nodes: [&Auth; 2], class: ThrottleClass, client: &Client, count: usize) -> u32 {
    let mut admitted = 0;
    for node in nodes.iter().cycle().take(count) {
        admitted += u32::from(node.admit(class, client).await.is_ok());
    }
    admitted
}

#[tokio::test]
async fn nodes_share_the_limits_of_a_client() {
    let Some((gate, other, _)) = two_nodes().await else {
        return;
    };
    let nodes = [&gate.auth, &other];
    for class in [
        ThrottleClass::Login,
        ThrottleClass::Share,
        ThrottleClass::Api,
    ] {
        let limit = class.limit();
        for round in 0..2 {
            let count = admitted(nodes, class, &client(1), 400).await;
            // Each node keeps at most a fortieth of the limit unused.
            let least = limit - limit / 40;
            assert!(
                (least..=limit).contains(&count),
                "{class:?}, {round}: {count}"
            );
            gate.advance(60);
        }
    }
    // Behind a proxy that names no client, the proxy's limit is also shared.
    let behind = |number| Client {
        peer_bucket: Some(client(200).key),
        ..client(number)
    };
    let mut all = 0;
    for number in 2..16 {
        all += admitted(nodes, ThrottleClass::Login, &behind(number), 10).await;
    }
    assert!((49..=50).contains(&all), "{all}");
}

#[tokio::test]
async fn refused_requests_cost_no_writes_and_an_outage_leaves_the_limit_of_each_node() {
    let Some((gate, other, _)) = two_nodes().await else {
        return;
    };
    let nodes = [&gate.auth, &other];
    assert_eq!(
        admitted(nodes, ThrottleClass::Login, &client(1), 8).await,
        5
    );
    // From now on, every query of the database fails.
    let location = &gate.database.location;
    run_sql(location, "ALTER TABLE rate_permits RENAME TO gone").await;
    for _ in 0..2 {
        assert_eq!(
            admitted(nodes, ThrottleClass::Login, &client(1), 500).await,
            0
        );
        gate.advance(9);
    }
    assert_eq!(
        admitted(nodes, ThrottleClass::Login, &client(2), 20).await,
        10
    );
    run_sql(location, "ALTER TABLE gone RENAME TO rate_permits").await;
    gate.advance(60);
    assert_eq!(
        admitted(nodes, ThrottleClass::Login, &client(2), 20).await,
        5
    );
}

#[tokio::test]
async fn wrong_socket_passwords_count_on_all_nodes_and_correct_ones_on_none() {
    let Some((gate, other, _)) = two_nodes().await else {
        return;
    };
    let nodes = [&gate.auth, &other];
    let connect = async |number: usize, password: &str| {
        let node = nodes[number % 2];
        let context = context(node, AWAY, "").await;
        let auth = ConnectAuth {
            password: Some(SecretString::from(password)),
            ..ConnectAuth::default()
        };
        code_of(node.socket_login(&context, auth).await)
    };
    for number in 0..12 {
        assert_eq!(connect(number, PASSWORD).await, None, "{number}");
    }
    // The permits that each node has are used first.
    let mut evaluated = 0;
    for number in 0..12 {
        match connect(number, "wrong").await {
            Some(ErrorCode::InvalidCredentials) => evaluated += 1,
            code => assert_eq!(code, Some(ErrorCode::RateLimited)),
        }
    }
    assert_eq!(evaluated, 5);
    gate.advance(60);
    assert_eq!(connect(0, PASSWORD).await, None);
}

#[tokio::test]
async fn wrong_passwords_of_a_session_count_on_all_nodes() {
    let Some((gate, other, cookie)) = two_nodes().await else {
        return;
    };
    let nodes = [&gate.auth, &other];
    let confirm = async |number: usize, password: &str| {
        let node = nodes[number % 2];
        let context = context(node, HERE, &cookie).await;
        let request = ConfirmRequest {
            password: Some(SecretString::from(password)),
            challenge_id: None,
            credential: None,
        };
        code_of(node.confirm(&caller(&context), request).await)
    };
    for number in 0..30 {
        let code = confirm(number, "wrong").await;
        assert_eq!(code, Some(ErrorCode::InvalidCredentials), "{number}");
        gate.advance(10);
    }
    for number in 0..2 {
        let code = confirm(number, PASSWORD).await;
        assert_eq!(code, Some(ErrorCode::RateLimited), "{number}");
    }
    // The first wrong password no longer counts after ten minutes.
    gate.advance(301);
    assert_eq!(confirm(1, PASSWORD).await, None);
    assert_eq!(
        confirm(1, "wrong").await,
        Some(ErrorCode::InvalidCredentials)
    );
}

#[tokio::test]
async fn a_client_that_all_nodes_together_refuse_costs_no_read() {
    let Some((gate, other, cookie)) = two_nodes().await else {
        return;
    };
    let nodes = [&gate.auth, &other];
    let probe = gate.context(AWAY, "").await;
    let class = probe.class.unwrap();
    let limit = class.limit() as usize;
    let all = admitted(nodes, class, &probe.client, 3 * limit).await as usize;
    assert!(all <= limit);
    assert_eq!(other.throttle().would_refuse(class, &probe.client), None);
    let location = &gate.database.location;
    run_sql(location, "ALTER TABLE auth_sessions RENAME TO gone").await;
    let unknown: String = cookie.chars().rev().collect();
    // A database read would have failed.
    let context = context(&other, AWAY, &unknown).await;
    assert!(context.decision.identity().is_none());
}

#[tokio::test]
async fn a_loopback_address_is_another_client_on_each_node() {
    let Some((gate, other, _)) = two_nodes().await else {
        return;
    };
    for address in [HERE, "::1"] {
        let local = Client::at(address.parse().unwrap());
        let all = admitted([&gate.auth, &other], ThrottleClass::Login, &local, 20).await;
        assert_eq!(all, 10, "{address}");
    }
}

#[tokio::test]
async fn one_node_deletes_expired_credentials_until_it_is_gone() {
    let Some((gate, other, _)) = two_nodes().await else {
        return;
    };
    let (first, second) = (Auth::sweep_duty(), Auth::sweep_duty());
    let sessions = "SELECT COUNT(*) FROM auth_sessions";
    let location = &gate.database.location;
    let expire = "UPDATE auth_sessions SET expires_at = 0";
    assert!(gate.auth.sweep_rows_once(&first, "one").await.unwrap());
    assert_eq!(number(location, sessions).await, 1);
    run_sql(location, expire).await;
    assert!(!other.sweep_rows_once(&second, "two").await.unwrap());
    assert_eq!(number(location, sessions).await, 1);
    // The first node is gone.
    gate.advance(15 * 60);
    assert!(other.sweep_rows_once(&second, "two").await.unwrap());
    assert_eq!(number(location, sessions).await, 0);
    assert!(!gate.auth.sweep_rows_once(&first, "one").await.unwrap());
}
