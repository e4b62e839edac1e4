//! "Remove all authentication".

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, row_of};
use gatehouse_auth::STRANGER;
use gatehouse_domain::{ErrorCode, Scope, Timestamp};
use gatehouse_store::testing::databases;
use gatehouse_store::{
    AllowedCall, AllowedScope, ChannelAccountRow, ChannelPairingRow, StoreError,
};

const AT: Timestamp = Timestamp::from_millis(1);

#[tokio::test]
async fn a_reset_removes_every_credential_and_makes_a_code() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let context = gate.context(AWAY, &key).await;
        assert_eq!(
            code_of(gate.auth.reset(&caller(&context)).await),
            Some(ErrorCode::Forbidden)
        );
        let held = [
            gate.context(AWAY, &key).await,
            gate.context(HERE, &cookie).await,
        ];
        assert_eq!(gate.code(), None);
        let outcome = gate.auth.reset(&caller(&held[1])).await.unwrap();
        assert!(outcome.body.kept.contains(&"vault".to_owned()));
        assert!(outcome.body.kept.contains(&"secrets".to_owned()));
        assert_eq!(outcome.cookies.len(), 2, "cleared in both forms");
        for context in &held {
            assert!(!gate.auth.is_live(context.identity().unwrap()));
        }
        let facts = gate.auth.facts();
        assert!(facts.auth_disabled && !facts.setup_complete && !facts.has_password);
        let code = gate.code().unwrap();
        gate.restart().await;
        assert_eq!(gate.code(), Some(code.clone()), "also after a restart");
        assert_eq!(row_of(&gate.context(AWAY, "").await.decision), "Loopback");
        let refused = gate.setup(AWAY, PASSWORD, None).await;
        assert_eq!(code_of(refused), Some(ErrorCode::Forbidden));
        gate.setup(AWAY, PASSWORD, Some(&code)).await.unwrap();
        for credential in [&cookie, &key, ""] {
            assert!(!gate.is_let_in(AWAY, credential).await);
        }
        assert!(!gate.auth.facts().auth_disabled);
    }
}

/// Stores a channel with a person who is trusted and one who is not.
async fn pair_people(gate: &Gate) {
    let account = ChannelAccountRow {
        id: "telegram".to_owned(),
        kind: "telegram".to_owned(),
        label: "Bot".to_owned(),
        fields: "{}".to_owned(),
        enabled: true,
        created_at: AT,
        updated_at: AT,
        tested_at: None,
    };
    let people = [("1", true), ("2", false)].map(|(person, trusted)| ChannelPairingRow {
        id: format!("pair_{person}"),
        account_id: "telegram".to_owned(),
        person: person.to_owned(),
        name: "Person".to_owned(),
        code: None,
        trusted,
        asked_at: AT,
        approved_at: Some(AT),
    });
    let write = gate.store.write(move |conn| {
        Box::pin(async move {
            conn.insert_channel_account(&account).await?;
            for row in &people {
                conn.update_channel_pairing(row).await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    write.await.unwrap();
}

/// Allows calls with these arguments.
async fn allow(gate: &Gate, arguments: &str, by: Option<&'static str>) {
    let call = AllowedCall {
        agent: "default".to_owned(),
        tool: "calc".to_owned(),
        scope: AllowedScope::Arguments(arguments.to_owned()),
    };
    let write = gate
        .store
        .write(move |conn| Box::pin(async move { conn.insert_allowed_call(&call, by, AT).await }));
    let written: Result<bool, StoreError> = write.await;
    written.unwrap();
}

/// Returns the paired people with whether they are trusted, and the arguments that are allowed.
async fn people_and_allowed(gate: &Gate) -> (Vec<(String, bool)>, Vec<String>) {
    let read = gate.store.read(|conn| {
        Box::pin(async move {
            let people = conn.list_channel_pairings().await?;
            Ok::<_, StoreError>((people, conn.list_allowed_calls().await?))
        })
    });
    let (people, calls) = read.await.unwrap();
    let mut allowed: Vec<_> = calls
        .into_iter()
        .map(|row| match row.call.scope {
            AllowedScope::Arguments(arguments) => arguments,
            AllowedScope::Session(id) => id.as_str().to_owned(),
        })
        .collect();
    allowed.sort();
    let people = people.into_iter().map(|row| (row.person, row.trusted));
    (people.collect(), allowed)
}

#[tokio::test]
async fn a_reset_ends_the_trust_in_people_and_setup_ends_what_remote_callers_allowed() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        pair_people(&gate).await;
        allow(&gate, "by the owner", None).await;
        allow(&gate, "by a person", Some("channel:telegram:1")).await;
        let context = gate.context(HERE, &cookie).await;
        gate.auth.reset(&caller(&context)).await.unwrap();
        let untrusted = vec![("1".to_owned(), false), ("2".to_owned(), false)];
        let expected = (untrusted.clone(), vec!["by the owner".to_owned()]);
        assert_eq!(people_and_allowed(&gate).await, expected);

        allow(&gate, "by a local caller", None).await;
        allow(&gate, "by a remote caller", Some(STRANGER)).await;
        allow(&gate, "by both", Some(STRANGER)).await;
        allow(&gate, "by both", None).await;
        gate.setup(HERE, PASSWORD, None).await.unwrap();
        let left = ["by a local caller", "by both", "by the owner"].map(str::to_owned);
        assert_eq!(people_and_allowed(&gate).await, (untrusted, left.to_vec()));
    }
}
