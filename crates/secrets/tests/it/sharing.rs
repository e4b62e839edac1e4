//! Nodes that share a database give each other the data key. Skipped without PostgreSQL; `testing` reports it.

use crate::harness::{Installation, Node, PASSWORD, actor, code, secret};
use gatehouse_domain::ErrorCode::InvalidParams;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_secrets::Status;
use gatehouse_store::{StoreError, VaultShareRow, testing};

const SECRET: &str = "the secret of this cluster: 32 characters or more";
const OTHER: &str = "the secret of another one: 32 characters or more";

/// Returns three directories for one database.
async fn shared() -> Option<[Installation; 3]> {
    let database = testing::postgres().await?;
    let others = [database.for_another_node(), database.for_another_node()];
    let [b, c] = others.map(|database| Installation { database });
    Some([Installation { database }, b, c])
}

async fn start(installation: &Installation) -> Node {
    let node = installation.start().await;
    node.secrets.join_cluster(&secret(SECRET)).await.unwrap();
    node
}

/// Runs the rounds that the server runs after changes by other nodes, until nothing changes.
async fn exchange(nodes: &[&Node]) {
    for _ in 0..3 {
        for node in nodes {
            node.secrets.refresh().await.unwrap();
            node.secrets.share_unseal().await.unwrap();
        }
    }
}

fn statuses(nodes: &[&Node]) -> Vec<Status> {
    nodes.iter().map(|node| node.secrets.status()).collect()
}

async fn shares(node: &Node) -> Vec<VaultShareRow> {
    let read = node
        .store
        .read(|conn| Box::pin(async move { conn.list_vault_shares().await }));
    let rows: Result<_, StoreError> = read.await;
    rows.unwrap()
}

#[tokio::test]
async fn unlocking_one_node_unlocks_all() {
    let Some([a, b, c]) = shared().await else {
        return;
    };
    let (one, two) = (start(&a).await, start(&b).await);
    one.initialize().await;
    one.set("A", "value").await;
    exchange(&[&one, &two]).await;
    assert_eq!(statuses(&[&one, &two]), [Status::Unsealed; 2]);
    assert_eq!(two.value("A").await, "value");
    assert_eq!(one.encrypted().await, 1);
    assert!(shares(&one).await.is_empty());
    assert_eq!(one.audit().await.last().unwrap(), "vault.unsealed");

    // After a restart of all nodes, a person unlocks one of them.
    one.stop().await;
    two.stop().await;
    let nodes = [start(&a).await, start(&b).await, start(&c).await];
    let nodes = nodes.each_ref();
    exchange(&nodes).await;
    assert_eq!(statuses(&nodes), [Status::Sealed; 3]);
    nodes[2].unlock(PASSWORD).await.unwrap();
    exchange(&nodes).await;
    assert_eq!(statuses(&nodes), [Status::Unsealed; 3]);
}

#[tokio::test]
async fn a_node_without_the_cluster_secret_gets_nothing() {
    let Some([a, b, c]) = shared().await else {
        return;
    };
    let one = start(&a).await;
    one.initialize().await;
    let (two, other) = (b.start().await, c.start().await);
    other.secrets.join_cluster(&secret(OTHER)).await.unwrap();
    exchange(&[&one, &two, &other]).await;
    assert_eq!(statuses(&[&two, &other]), [Status::Sealed; 2]);
    let rows = shares(&one).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].answer, None);

    // The setting turns sharing off on either side.
    let two = start(&b).await;
    one.secrets.set_share_unseal(false);
    exchange(&[&one, &two]).await;
    assert_eq!(two.secrets.status(), Status::Sealed);
    one.secrets.set_share_unseal(true);
    two.secrets.set_share_unseal(false);
    exchange(&[&one, &two]).await;
    assert_eq!(two.secrets.status(), Status::Sealed);
    two.secrets.set_share_unseal(true);
    exchange(&[&one, &two]).await;
    assert_eq!(two.secrets.status(), Status::Unsealed);
}

#[tokio::test]
async fn old_rows_are_deleted_by_a_node_that_does_not_share() {
    let Some([a, ..]) = shared().await else {
        return;
    };
    let node = a.start().await;
    let now = node.clock.now().as_millis();
    // The maximum age is two minutes.
    for age in [120_000, 120_001, -120_000, -120_001] {
        let row = VaultShareRow {
            id: format!("rotation:{age}"),
            dek_id: "new".to_owned(),
            generation: 1,
            request: None,
            answer: Some("the key of a rotation".to_owned()),
            created_at: Timestamp::from_millis(now - age),
        };
        let write = node.store.write(move |conn| {
            let row = row.clone();
            Box::pin(async move { conn.update_vault_share(&row).await })
        });
        let written: Result<(), StoreError> = write.await;
        written.unwrap();
    }
    node.secrets.sweep_shares().await.unwrap();
    let left: Vec<String> = shares(&node).await.into_iter().map(|row| row.id).collect();
    assert_eq!(left, ["rotation:-120000", "rotation:120000"]);
}

/// An attacker who writes to the database does not have the cluster secret.
#[tokio::test]
async fn what_the_database_says_is_not_believed() {
    let Some([a, b, _]) = shared().await else {
        return;
    };
    let (one, two) = (start(&a).await, start(&b).await);
    one.initialize().await;
    two.secrets.refresh().await.unwrap();
    two.secrets.share_unseal().await.unwrap();
    // A request that was moved to another scope is not answered.
    let real = shares(&one).await;
    assert_eq!(real.len(), 1);
    a.sql("UPDATE vault_shares SET id = 'req_mine'").await;
    one.secrets.share_unseal().await.unwrap();
    assert_eq!(shares(&one).await[0].answer, None);
    a.sql(&format!("UPDATE vault_shares SET id = '{}'", real[0].id))
        .await;
    one.secrets.share_unseal().await.unwrap();
    let answered = shares(&one).await;
    assert!(answered[0].answer.is_some());

    // A modified answer is refused, and the key is requested again.
    a.sql("UPDATE vault_shares SET answer = 'AAAA.AAAA'").await;
    two.secrets.share_unseal().await.unwrap();
    assert_eq!(two.secrets.status(), Status::Sealed);
    let asked = shares(&one).await;
    assert!(asked.len() == 1 && asked[0].id != real[0].id && asked[0].answer.is_none());

    // An earlier answer is valid only for the earlier request.
    let old = answered[0].answer.clone().unwrap();
    a.sql(&format!("UPDATE vault_shares SET answer = '{old}'"))
        .await;
    two.secrets.share_unseal().await.unwrap();
    assert_eq!(two.secrets.status(), Status::Sealed);
    exchange(&[&one, &two]).await;
    assert_eq!(two.secrets.status(), Status::Unsealed);
}

#[tokio::test]
async fn sharing_does_not_undo_a_seal_by_the_owner() {
    let Some([a, b, c]) = shared().await else {
        return;
    };
    let (one, two) = (start(&a).await, start(&b).await);
    let recovery_key = one.initialize().await;
    exchange(&[&one, &two]).await;
    // The vault is sealed while the answer to an earlier request waits.
    let late = start(&c).await;
    late.secrets.share_unseal().await.unwrap();
    one.secrets.share_unseal().await.unwrap();
    late.secrets.seal(actor()).await.unwrap();
    exchange(&[&one, &two, &late]).await;
    assert_eq!(late.secrets.status(), Status::Sealed);
    assert_eq!(statuses(&[&one, &two]), [Status::Unsealed; 2]);

    // Neither a restart, nor a rotation, nor an automatic unseal of another node ends the seal.
    late.stop().await;
    let late = start(&c).await;
    let nodes = [&one, &two, &late];
    exchange(&nodes).await;
    assert_eq!(late.secrets.status(), Status::Sealed);
    two.stop().await;
    let two = start(&b).await;
    let key = secret(&recovery_key);
    assert!(two.secrets.auto_unseal(None, Some(&key)).await);
    let nodes = [&one, &two, &late];
    exchange(&nodes).await;
    assert_eq!(late.secrets.status(), Status::Sealed);
    one.secrets.rotate(actor(), secret(PASSWORD)).await.unwrap();
    exchange(&nodes).await;
    assert_eq!(
        statuses(&nodes),
        [Status::Unsealed, Status::Unsealed, Status::Sealed]
    );

    // An unlock by a person ends the seal on all nodes.
    two.secrets.seal(actor()).await.unwrap();
    exchange(&nodes).await;
    assert_eq!(
        statuses(&nodes),
        [Status::Unsealed, Status::Sealed, Status::Sealed]
    );
    two.unlock(PASSWORD).await.unwrap();
    exchange(&nodes).await;
    assert_eq!(statuses(&nodes), [Status::Unsealed; 3]);
}

#[tokio::test]
async fn a_rotation_does_not_seal_the_other_nodes() {
    let Some([a, b, c]) = shared().await else {
        return;
    };
    let (one, two, three) = (start(&a).await, start(&b).await, start(&c).await);
    let nodes = [&one, &two, &three];
    one.initialize().await;
    one.set("A", "value").await;
    exchange(&nodes).await;
    let mut status = two.secrets.subscribe_status();
    status.mark_unchanged();

    one.secrets.rotate(actor(), secret(PASSWORD)).await.unwrap();
    two.secrets.refresh().await.unwrap();
    assert!(!status.has_changed().unwrap());
    assert_eq!(two.secrets.status(), Status::Unsealed);
    two.set("B", "written after").await;
    assert_eq!(two.encrypted().await, 2);
    assert_eq!(one.value("B").await, "written after");

    // A node that missed a rotation requests the key.
    two.secrets.rotate(actor(), secret(PASSWORD)).await.unwrap();
    three.secrets.refresh().await.unwrap();
    assert_eq!(three.secrets.status(), Status::Sealed);
    exchange(&nodes).await;
    assert_eq!(statuses(&nodes), [Status::Unsealed; 3]);
    for node in nodes {
        assert_eq!(node.value("A").await, "value");
    }

    // The row of the rotation is deleted after its time has passed.
    for node in nodes {
        node.clock
            .set_wall(Timestamp::from_millis(1_000_000 + 120_001));
    }
    exchange(&nodes).await;
    assert!(shares(&one).await.is_empty());
}

#[tokio::test]
async fn a_short_secret_is_refused() {
    let Some([a, ..]) = shared().await else {
        return;
    };
    let node = a.start().await;
    let joined = node.secrets.join_cluster(&secret("too short")).await;
    assert_eq!(code(joined), InvalidParams);
    assert!(!node.secrets.is_in_cluster());
}
