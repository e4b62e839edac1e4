//! The creators of credentials on every available engine.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::{ApiKeyId, AuthSessionId, DeviceId, PasskeyId, Scope, ScopeSet, Timestamp};
use gatehouse_store::testing::databases;
use gatehouse_store::{
    ApiKeyRow, AuthSessionRow, Conn, CreatedCredentialRow, DeviceRow, MakerRow, PasskeyRow, Store,
    StoreError,
};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn key(id: &str, made_by: Option<&str>) -> ApiKeyRow {
    ApiKeyRow {
        id: ApiKeyId::from_text(id),
        key_hash: format!("hash of {id}"),
        prefix: "mk_".to_owned(),
        label: id.to_owned(),
        scopes: [Scope::Read].into_iter().collect::<ScopeSet>(),
        allowed_cidrs: None,
        created_at: at(1),
        expires_at: None,
        last_used_at: None,
        made_by: owned(made_by),
        only: None,
        dies_at_setup: false,
    }
}

fn device(id: &str, made_by: Option<&str>) -> DeviceRow {
    DeviceRow {
        id: DeviceId::from_text(id),
        token_hash: format!("hash of {id}"),
        label: id.to_owned(),
        scopes: [Scope::Read].into_iter().collect::<ScopeSet>(),
        created_at: at(1),
        last_seen_at: None,
        expires_at: None,
        allowed_cidrs: None,
        made_by: owned(made_by),
        only: None,
        dies_at_setup: false,
    }
}

fn passkey(id: &str, made_by: Option<&str>) -> PasskeyRow {
    PasskeyRow {
        id: PasskeyId::from_text(id),
        credential_id: id.to_owned(),
        credential: "{}".to_owned(),
        name: id.to_owned(),
        rp_id: "localhost".to_owned(),
        created_at: at(1),
        last_used_at: None,
        made_by: owned(made_by),
    }
}

/// Returns a session that expires at `expires_at` and was opened with this passkey.
fn session(
    id: &str,
    expires_at: i64,
    passkey: Option<&str>,
    made_by: Option<&str>,
) -> AuthSessionRow {
    AuthSessionRow {
        id: AuthSessionId::from_text(id),
        token_hash: format!("hash of {id}"),
        login_method: "passkey".to_owned(),
        user_agent: None,
        client_ip: None,
        created_at: at(1),
        last_seen_at: at(1),
        expires_at: at(expires_at),
        confirmed_at: at(1),
        made_by: owned(made_by),
        passkey_id: passkey.map(PasskeyId::from_text),
    }
}

async fn write<T, F>(store: &Store, job: F) -> T
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T, StoreError>>
        + Send
        + 'static,
{
    store.write(job).await.unwrap()
}

/// Returns the creators of all credentials, by ID.
async fn makers(store: &Store) -> Vec<(String, Option<String>)> {
    let rows = store.read(|conn| {
        Box::pin(async move {
            let mut all = Vec::new();
            for row in conn.list_api_keys().await? {
                all.push((row.id.to_string(), row.made_by));
            }
            for row in conn.list_devices().await? {
                all.push((row.id.to_string(), row.made_by));
            }
            for row in conn.list_passkeys().await? {
                all.push((row.id.to_string(), row.made_by));
            }
            for row in conn.list_auth_sessions(at(0), i64::MAX).await? {
                all.push((row.id.to_string(), row.made_by));
            }
            all.sort();
            Ok::<_, StoreError>(all)
        })
    });
    rows.await.unwrap()
}

fn expected(list: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    let pair = |(id, made_by): &(&str, Option<&str>)| ((*id).to_owned(), owned(*made_by));
    list.iter().map(pair).collect()
}

/// Stores three sessions. Two were opened with the passkey of a key, and the second of them expires first. The
/// third has no creator. Each session has created a key and a device.
async fn fill(store: &Store) {
    write(store, |conn| {
        Box::pin(async move {
            conn.insert_api_key(&key("key", Some("session gone")))
                .await?;
            conn.insert_passkey(&passkey("pk", Some("api_key key")))
                .await?;
            for (id, expires_at, opener) in [
                ("as_1", 100, Some("pk")),
                ("as_2", 50, Some("pk")),
                ("as_3", 50, None),
            ] {
                let row = session(id, expires_at, opener, None);
                conn.insert_auth_session(&row).await?;
                let made_by = format!("session {id}");
                let row = key(&format!("key of {id}"), Some(&made_by));
                conn.insert_api_key(&row).await?;
                let row = device(&format!("dev of {id}"), Some(&made_by));
                conn.insert_device(&row).await?;
            }
            Ok(())
        })
    })
    .await;
}

#[tokio::test]
async fn what_a_session_created_gets_its_creator_when_it_is_deleted() {
    const OF_KEY: Option<&str> = Some("api_key key");
    for database in databases().await {
        let store = database.open().await;
        fill(&store).await;
        let engine = database.engine();
        let first = ("as_1", OF_KEY);
        let (passkey, root) = (("pk", OF_KEY), ("key", Some("session gone")));
        let of_third = Some("session as_3");
        let deleted = write(&store, |conn| {
            Box::pin(async move { conn.delete_expired_auth_sessions(at(50)).await })
        });
        assert_eq!(deleted.await, 2);
        let found = expected(&[
            first,
            ("dev of as_1", Some("session as_1")),
            ("dev of as_2", OF_KEY),
            ("dev of as_3", of_third),
            root,
            ("key of as_1", Some("session as_1")),
            ("key of as_2", OF_KEY),
            ("key of as_3", of_third),
            passkey,
        ]);
        assert_eq!(makers(&store).await, found, "{engine:?}");
        let kept = write(&store, |conn| {
            Box::pin(async move {
                let kept = AuthSessionId::from_text("as_1");
                conn.delete_other_auth_sessions(Some(&kept)).await
            })
        });
        assert_eq!((kept.await, makers(&store).await), (0, found), "{engine:?}");
        let deleted = write(&store, |conn| {
            Box::pin(async move {
                conn.delete_auth_session(&AuthSessionId::from_text("as_1"))
                    .await
            })
        });
        assert!(deleted.await);
        let found = expected(&[
            ("dev of as_1", OF_KEY),
            ("dev of as_2", OF_KEY),
            ("dev of as_3", of_third),
            root,
            ("key of as_1", OF_KEY),
            ("key of as_2", OF_KEY),
            ("key of as_3", of_third),
            passkey,
        ]);
        assert_eq!(makers(&store).await, found, "{engine:?}");
        store.close().await;
    }
}

#[tokio::test]
async fn all_creators_of_a_session_are_found() {
    for database in databases().await {
        let store = database.open().await;
        fill(&store).await;
        let found = store.read(|conn| {
            Box::pin(async move {
                let makers = conn.list_makers_of("api_key key of as_1").await?;
                let none = conn.list_makers_of("session gone").await?;
                let below = conn.list_created_by("api_key key").await?;
                Ok::<_, StoreError>((makers, none, below))
            })
        });
        let (mut makers, none, below) = found.await.unwrap();
        makers.sort_by(|a, b| a.name.cmp(&b.name));
        let row = |name: &str, made_by: &str| MakerRow {
            name: name.to_owned(),
            made_by: Some(made_by.to_owned()),
        };
        let chain = [
            row("api_key key", "session gone"),
            row("api_key key of as_1", "session as_1"),
            row("session as_1", "api_key key"),
        ];
        assert_eq!(makers, chain, "{:?}", database.engine());
        assert_eq!(none, []);
        let key = CreatedCredentialRow::ApiKey(ApiKeyId::from_text("key of as_1"));
        // The passkey, and two sessions that each have a key and a device.
        assert_eq!((below.len(), below.contains(&key)), (7, true));
        store.close().await;
    }
}

#[tokio::test]
async fn a_session_gets_the_creator_that_its_passkey_has() {
    for database in databases().await {
        let store = database.open().await;
        fill(&store).await;
        write(&store, |conn| {
            Box::pin(async move {
                conn.update_made_by("api_key key", Some("session s"), None)
                    .await?;
                // The login read the passkey before the change.
                let row = session("as_4", 100, Some("pk"), Some("api_key key"));
                conn.insert_auth_session(&row).await?;
                let row = session("as_5", 100, Some("other"), Some("api_key x"));
                conn.insert_auth_session(&row).await?;
                conn.update_made_by_of("api_key key of as_1", Some("api_key y"))
                    .await?;
                conn.update_made_by_of("device dev of as_1", None).await
            })
        })
        .await;
        let found = makers(&store).await;
        for (id, made_by) in [
            ("as_1", None),
            ("as_2", None),
            ("as_4", None),
            ("as_5", Some("api_key x")),
            ("pk", None),
            ("key of as_1", Some("api_key y")),
            ("dev of as_1", None),
            ("key of as_2", Some("session as_2")),
        ] {
            let pair = (id.to_owned(), owned(made_by));
            assert!(found.contains(&pair), "{id} {:?}", database.engine());
        }
        store.close().await;
    }
}
