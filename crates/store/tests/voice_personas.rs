//! Personas on every available engine: order, keys, and at most one active persona.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{TestDatabase, databases};
use gatehouse_store::{Store, StoreError, VoicePersonaRow};

fn row(id: &str, label: &str) -> VoicePersonaRow {
    VoicePersonaRow {
        id: id.to_owned(),
        label: label.to_owned(),
        config: "{}".to_owned(),
        active: false,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(1),
    }
}

async fn insert(store: &Store, row: VoicePersonaRow) -> Result<(), StoreError> {
    store
        .write(move |conn| Box::pin(async move { conn.insert_voice_persona(&row).await }))
        .await
}

async fn activate(store: &Store, id: Option<&'static str>) -> bool {
    store
        .write(move |conn| Box::pin(async move { conn.update_active_voice_persona(id).await }))
        .await
        .unwrap()
}

async fn list(store: &Store) -> Vec<(String, bool)> {
    let rows: Result<Vec<VoicePersonaRow>, StoreError> = store
        .read(|conn| Box::pin(async move { conn.list_voice_personas().await }))
        .await;
    let shown = |row: VoicePersonaRow| (row.id, row.active);
    rows.unwrap().into_iter().map(shown).collect()
}

async fn active(store: &Store) -> Option<String> {
    let found: Result<_, StoreError> = store
        .read(|conn| Box::pin(async move { conn.find_active_voice_persona().await }))
        .await;
    found.unwrap().map(|row: VoicePersonaRow| row.id)
}

async fn with_three(database: &TestDatabase) -> Store {
    let store = database.open().await;
    for (id, label) in [("c", "Ada"), ("a", "zoe"), ("b", "Ada")] {
        insert(&store, row(id, label)).await.unwrap();
    }
    store
}

#[tokio::test]
async fn they_come_by_label_then_id_and_an_id_is_taken_once() {
    for database in databases().await {
        let store = with_three(&database).await;
        let ids: Vec<_> = list(&store).await.into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["b", "c", "a"], "{:?}", database.engine());
        let again = insert(&store, row("a", "Other")).await;
        assert!(matches!(again, Err(StoreError::Duplicate(_))));
        store.close().await;
    }
}

#[tokio::test]
async fn one_at_most_is_active() {
    for database in databases().await {
        let store = with_three(&database).await;
        assert_eq!(active(&store).await, None);
        assert!(activate(&store, Some("c")).await);
        assert!(activate(&store, Some("a")).await);
        assert!(activate(&store, Some("a")).await);
        assert_eq!(active(&store).await.as_deref(), Some("a"));
        let actives = list(&store).await.into_iter().filter(|(_, on)| *on).count();
        assert_eq!(actives, 1);
        assert!(!activate(&store, Some("nobody")).await);
        assert!(activate(&store, Some("b")).await);
        assert!(activate(&store, None).await);
        assert_eq!(active(&store).await, None);
        store.close().await;
    }
}

#[tokio::test]
async fn a_change_keeps_whether_it_is_active_and_a_deleted_one_is_gone() {
    for database in databases().await {
        let store = with_three(&database).await;
        activate(&store, Some("c")).await;
        let mut changed = row("c", "Bea");
        changed.config = r#"{"description":"x"}"#.to_owned();
        changed.updated_at = Timestamp::from_millis(9);
        let missing = row("nobody", "Bea");
        let written: Result<_, StoreError> = store
            .write(move |conn| {
                Box::pin(async move {
                    let there = conn.update_voice_persona(&changed).await?;
                    let not = conn.update_voice_persona(&missing).await?;
                    Ok((there, not, conn.find_voice_persona("c").await?))
                })
            })
            .await;
        let (there, not, found) = written.unwrap();
        let found: VoicePersonaRow = found.unwrap();
        assert!(there && !not && found.active);
        assert_eq!(
            (found.label.as_str(), found.updated_at.as_millis()),
            ("Bea", 9)
        );
        assert_eq!(found.created_at.as_millis(), 1);
        let deleted: Result<_, StoreError> = store
            .write(|conn| {
                Box::pin(async move {
                    let first = conn.delete_voice_persona("c").await?;
                    Ok((first, conn.delete_voice_persona("c").await?))
                })
            })
            .await;
        assert_eq!(deleted.unwrap(), (true, false));
        assert_eq!(active(&store).await, None);
        store.close().await;
    }
}
