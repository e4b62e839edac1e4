//! Lists whose pages begin after a name, on every available engine. The names are sorted by bytes for any
//! collation.

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{databases, run_sql};
use gatehouse_store::{EnvVariableRow, SshKeyRow, StoreError};

/// The server of the tests always sorts by bytes. Other servers at first ignore case and underscores.
const OTHER_COLLATION: &str = r#"DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_collation WHERE collname = 'en-x-icu') THEN
        ALTER TABLE env_variables ALTER COLUMN key TYPE TEXT COLLATE "en-x-icu";
        ALTER TABLE ssh_keys ALTER COLUMN name TYPE TEXT COLLATE "en-x-icu";
    END IF;
END $$"#;

fn variable(key: &str) -> EnvVariableRow {
    EnvVariableRow {
        key: key.to_owned(),
        value: "v".to_owned(),
        encrypted: false,
        belongs_to: None,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(1),
    }
}

fn ssh_key(name: &str) -> SshKeyRow {
    SshKeyRow {
        name: name.to_owned(),
        public_key: String::new(),
        fingerprint: String::new(),
        private_key: String::new(),
        encrypted: false,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(1),
    }
}

#[tokio::test]
async fn variables_and_ssh_keys_come_in_the_order_of_their_bytes() {
    let sorted = ["B", "Z_a", "Za", "_x", "a", "c"];
    for database in databases().await {
        if database.engine().is_shared() {
            run_sql(&database.location, OTHER_COLLATION).await;
        }
        let store = database.open().await;
        for name in sorted.iter().rev().copied() {
            let written: Result<(), StoreError> = store
                .write(move |conn| {
                    Box::pin(async move {
                        conn.update_env_variable(&variable(name)).await?;
                        conn.insert_ssh_key(&ssh_key(name)).await
                    })
                })
                .await;
            written.unwrap();
        }
        let read: Result<(Vec<EnvVariableRow>, Vec<SshKeyRow>), StoreError> = store
            .read(|conn| {
                Box::pin(async move {
                    let variables = conn.list_env_variables().await?;
                    Ok((variables, conn.list_ssh_keys().await?))
                })
            })
            .await;
        let (variables, keys) = read.unwrap();
        let variables: Vec<_> = variables.into_iter().map(|row| row.key).collect();
        let keys: Vec<_> = keys.into_iter().map(|row| row.name).collect();
        assert_eq!(variables, sorted, "{:?}", database.engine());
        assert_eq!(keys, sorted, "{:?}", database.engine());
        store.close().await;
    }
}
