//! The decision table of `check_auth()`, row by row.

use crate::support::{AWAY, Gate, HERE, row_of};
use gatehouse_auth::AuthSettings;
use gatehouse_config::DisabledScope;
use gatehouse_domain::Scope;
use gatehouse_store::testing::databases;

#[tokio::test]
async fn the_first_matching_row_wins() {
    for database in databases().await {
        let engine = database.engine();
        let gate = Gate::on(database).await;
        // Rows 2 and 3 apply with any credential.
        for credential in ["", "x", "mk_x"] {
            let [here, away] = [
                gate.context(HERE, credential).await,
                gate.context(AWAY, credential).await,
            ];
            assert_eq!(
                row_of(&here.decision),
                "Loopback",
                "{engine:?} {credential}"
            );
            assert_eq!(
                row_of(&away.decision),
                "SetupRequired",
                "{engine:?} {credential}"
            );
        }
        let outcome = gate
            .setup(HERE, crate::support::PASSWORD, None)
            .await
            .unwrap();
        let cookie = crate::support::cookie_of(&outcome.cookies);
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        for peer in [HERE, AWAY] {
            let table = [
                (cookie.as_str(), "Password"),
                (key.as_str(), "ApiKey"),
                ("", "Unauthorized"),
                (
                    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                    "Unauthorized",
                ),
                (
                    "mk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                    "Unauthorized",
                ),
                ("mk_", "Unauthorized"),
            ];
            for (credential, expected) in table {
                let found = gate.context(peer, credential).await;
                assert_eq!(
                    row_of(&found.decision),
                    expected,
                    "{engine:?} {peer} {credential}"
                );
            }
        }
        gate.auth.offline_reset().await.unwrap();
        for peer in [HERE, AWAY] {
            for credential in ["", &cookie, &key] {
                let found = gate.context(peer, credential).await;
                assert_eq!(row_of(&found.decision), "Loopback", "row 1 {peer}");
            }
        }
        let settings = AuthSettings {
            disabled_scope: DisabledScope::Local,
            ..AuthSettings::default()
        };
        gate.auth.update_settings(settings);
        assert_eq!(row_of(&gate.context(HERE, "").await.decision), "Loopback");
        assert_eq!(
            row_of(&gate.context(AWAY, &cookie).await.decision),
            "SetupRequired"
        );
    }
}

#[tokio::test]
async fn the_session_comes_before_the_key_and_a_wrong_cookie_does_not_hide_the_key() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let both = |value: String| {
            let mut headers = http::HeaderMap::new();
            headers.insert("host", http::HeaderValue::from_static("localhost"));
            headers.insert(
                "cookie",
                format!("service_session={value}").parse().unwrap(),
            );
            headers.insert("authorization", format!("Bearer {key}").parse().unwrap());
            headers
        };
        for (cookie, expected) in [(cookie.clone(), "Password"), ("A".repeat(43), "ApiKey")] {
            let headers = both(cookie);
            let facts = gatehouse_auth::RequestFacts {
                method: &http::Method::GET,
                uri: &http::Uri::from_static("/"),
                headers: &headers,
                peer: HERE.parse().unwrap(),
                over_tls: false,
            };
            let context = gate.auth.recognise(&facts).await.unwrap();
            assert_eq!(row_of(&context.decision), expected);
        }
    }
}

#[tokio::test]
async fn the_status_tells_the_locality_only_to_those_let_in() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let status = |context: &gatehouse_auth::RequestContext| {
            serde_json::to_value(gate.auth.status(context, None)).unwrap()
        };
        let anonymous = status(&gate.context(AWAY, "").await);
        assert_eq!(anonymous["authenticated"], false);
        for field in ["locality", "scopes", "auth_method"] {
            assert!(anonymous.get(field).is_none(), "{field}");
        }
        let owner = status(&gate.context(AWAY, &cookie).await);
        assert_eq!(owner["locality"]["failed_check"], "host");
        assert_eq!(owner["auth_method"], "Password");
        assert_eq!(owner["scopes"].as_array().unwrap().len(), 5);
        assert_eq!(owner["setup_required"], false);
        assert_eq!(owner["setup_code_required"], false);
    }
}
