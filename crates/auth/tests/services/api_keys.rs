//! API keys: creation, permissions, expiry.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, key_request};
use gatehouse_auth::api::CreateApiKeyRequest;
use gatehouse_domain::{ApiKeyId, ErrorCode, Scope};
use gatehouse_store::testing::{databases, sqlite};
use std::time::Duration;

#[tokio::test]
async fn a_key_is_shown_once_and_kept_as_a_hash() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let created = gate.key(&cookie, &[Scope::Read, Scope::Write]).await;
        assert_eq!(created.key.len(), 46);
        assert!(created.key.starts_with("mk_"));
        assert_eq!(created.prefix, created.key[..11]);
        let context = gate.context(HERE, &cookie).await;
        let list =
            serde_json::to_string(&gate.auth.list_api_keys(&caller(&context)).await.unwrap());
        let list = list.unwrap();
        assert!(list.contains(&created.prefix) && !list.contains(&created.key[11..]));
        assert!(!list.contains("last_used_at"));
        gate.advance(2);
        assert!(gate.is_let_in(AWAY, &created.key).await);
        let list = gate.auth.list_api_keys(&caller(&context)).await.unwrap();
        assert!(list.api_keys[0].last_used_at.is_some(), "visible at once");
    }
}

#[tokio::test]
async fn a_key_cannot_mint_a_wider_one() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        for scope in Scope::ALL {
            let key = gate.key(&cookie, &[scope]).await.key;
            let context = gate.context(AWAY, &key).await;
            for wanted in Scope::ALL {
                let minted = gate
                    .auth
                    .create_api_key(&caller(&context), key_request(&[wanted]))
                    .await;
                let expected = (scope != Scope::Admin).then_some(ErrorCode::Forbidden);
                assert_eq!(code_of(minted), expected, "{scope:?} mints {wanted:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_key_may_do_as_the_session() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    for scope in Scope::ALL {
        let key = gate.key(&cookie, &[scope]).await.key;
        let context = gate.context(AWAY, &key).await;
        let lists = gate.auth.list_api_keys(&caller(&context)).await.is_ok();
        assert_eq!(
            lists,
            matches!(scope, Scope::Read | Scope::Admin),
            "{scope:?} lists keys"
        );
        let lists = gate.auth.list_sessions(&caller(&context)).await.is_ok();
        assert_eq!(
            lists,
            matches!(scope, Scope::Read | Scope::Admin),
            "{scope:?} lists sessions"
        );
        let ended = gate
            .auth
            .delete_api_key(&caller(&context), &ApiKeyId::from_text("x"), false)
            .await;
        let expected = if scope == Scope::Admin {
            ErrorCode::NotFound
        } else {
            ErrorCode::Forbidden
        };
        assert_eq!(code_of(ended), Some(expected), "{scope:?} revokes");
    }
}

#[tokio::test]
async fn bad_requests_name_their_field() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    let now = gatehouse_domain::Clock::now(&*gate.clock);
    let base = || key_request(&[Scope::Read]);
    let cases = [
        (
            CreateApiKeyRequest {
                scopes: vec![],
                ..base()
            },
            "scopes",
        ),
        (
            CreateApiKeyRequest {
                label: " ".into(),
                ..base()
            },
            "label",
        ),
        (
            CreateApiKeyRequest {
                label: "a\nb".into(),
                ..base()
            },
            "label",
        ),
        (
            CreateApiKeyRequest {
                label: "x".repeat(101),
                ..base()
            },
            "label",
        ),
        (
            CreateApiKeyRequest {
                expires_at: Some(now),
                ..base()
            },
            "expires_at",
        ),
        (
            CreateApiKeyRequest {
                allowed_cidrs: Some(vec![]),
                ..base()
            },
            "allowed_cidrs",
        ),
    ];
    for (request, field) in cases {
        let refused = gate.auth.create_api_key(&caller(&context), request).await;
        let problem: gatehouse_domain::Problem = refused.err().unwrap().into();
        assert_eq!(problem.code, ErrorCode::InvalidParams);
        assert_eq!(problem.details["field"], field);
    }
    let longest = CreateApiKeyRequest {
        label: "é".repeat(100),
        ..base()
    };
    assert!(
        gate.auth
            .create_api_key(&caller(&context), longest)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_key_ends_by_time_by_place_and_by_hand() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let context = gate.context(HERE, &cookie).await;
        let end = gatehouse_domain::Clock::now(&*gate.clock).after(Duration::from_secs(10));
        let request = CreateApiKeyRequest {
            expires_at: Some(end),
            allowed_cidrs: Some(vec!["192.0.2.0/24".parse().unwrap()]),
            ..key_request(&[Scope::Read])
        };
        let created = gate
            .auth
            .create_api_key(&caller(&context), request)
            .await
            .unwrap();
        assert!(gate.is_let_in(AWAY, &created.key).await);
        assert!(
            !gate.is_let_in("198.51.100.1", &created.key).await,
            "not from there"
        );
        gate.advance(9);
        let held = gate.context(AWAY, &created.key).await;
        assert_eq!(gate.auth.expires_at(held.identity().unwrap()), Some(end));
        gate.advance(1);
        assert!(!gate.is_let_in(AWAY, &created.key).await, "not any more");
        assert!(!gate.auth.is_live(held.identity().unwrap()));

        let key = gate.key(&cookie, &[Scope::Read]).await;
        let held = gate.context(AWAY, &key.key).await;
        assert!(gate.auth.is_live(held.identity().unwrap()));
        gate.auth
            .delete_api_key(&caller(&context), &key.id, false)
            .await
            .unwrap();
        assert!(!gate.auth.is_live(held.identity().unwrap()));
        assert!(!gate.is_let_in(AWAY, &key.key).await);
    }
}

#[tokio::test]
async fn minting_admin_needs_a_confirmation_unless_a_key_asks() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let admin = gate.key(&cookie, &[Scope::Admin]).await.key;
    gate.advance(901);
    for (credential, scope, expected) in [
        (&cookie, Scope::Admin, Some(ErrorCode::ConfirmationRequired)),
        (&cookie, Scope::Write, None),
        (&admin, Scope::Admin, None),
    ] {
        let context = gate.context(HERE, credential).await;
        let minted = gate
            .auth
            .create_api_key(&caller(&context), key_request(&[scope]))
            .await;
        assert_eq!(code_of(minted), expected, "{scope:?}");
    }
}

#[tokio::test]
async fn a_key_minted_from_elsewhere_under_row_1_dies_when_setup_completes() {
    for database in databases().await {
        let gate = Gate::on(database).await;
        gate.auth.offline_reset().await.unwrap();
        let mut keys = Vec::new();
        for peer in [HERE, AWAY] {
            let context = gate.context(peer, "").await;
            let request = key_request(&[Scope::Admin]);
            keys.push(
                gate.auth
                    .create_api_key(&caller(&context), request)
                    .await
                    .unwrap()
                    .key,
            );
        }
        gate.setup(HERE, PASSWORD, None).await.unwrap();
        assert!(gate.is_let_in(AWAY, &keys[0]).await, "minted here");
        assert!(
            !gate.is_let_in(AWAY, &keys[1]).await,
            "minted from elsewhere"
        );
    }
}
