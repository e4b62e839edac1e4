//! Passkey ceremonies that remote callers start and never finish.

use crate::support::{AWAY, Gate, HERE, caller, code_of};
use gatehouse_domain::{ChallengeId, ErrorCode};
use gatehouse_store::testing::{databases, run_sql};

async fn count(gate: &Gate) -> i64 {
    let counted = gate.store.read(|conn| {
        Box::pin(async move {
            let (_, all) = conn.count_challenges("").await?;
            Ok::<_, gatehouse_store::StoreError>(all)
        })
    });
    counted.await.unwrap()
}

/// Fills the table directly, as if ten ceremonies came from each of a thousand IPv6 networks.
async fn fill(gate: &Gate) {
    let expires = gatehouse_domain::Clock::now(&*gate.clock).as_millis() + 299_000;
    let sql = format!(
        "INSERT INTO auth_challenges (id, purpose, client_key, network, rp_id, state, expires_at)
         WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
         SELECT 'ch_' || i, 'login', '2001:db8:1:' || (i / 10) || '::/64', '2001:db8:1::/48', 'x', '{{}}', {expires} + i % 900
         FROM n"
    );
    run_sql(&gate.database.location, &sql).await;
    assert_eq!(count(gate).await, 10_000);
}

#[tokio::test]
async fn ceremonies_that_strangers_fill_do_not_keep_the_owner_out() {
    for database in databases().await {
        let (gate, _) = Gate::with_owner(database).await;
        fill(&gate).await;
        let context = gate.context(AWAY, "").await;
        let begun = gate
            .auth
            .passkey_login_begin(&caller(&context), None)
            .await
            .unwrap();
        assert!(count(&gate).await <= 10_000, "bounded all the same");
        // The attacker continues; the owner's ceremony is not deleted.
        for number in 0..30 {
            let stranger = gate
                .context(&format!("2001:db8:1:f{number:03x}::1"), "")
                .await;
            gate.auth
                .passkey_login_begin(&caller(&stranger), None)
                .await
                .unwrap();
        }
        let kept: ChallengeId = begun.challenge_id;
        let found = gate.store.write(move |conn| {
            Box::pin(async move {
                Ok::<_, gatehouse_store::StoreError>(
                    conn.claim_challenge(&kept, "login").await?.is_some(),
                )
            })
        });
        assert!(found.await.unwrap());
    }
}

#[tokio::test]
async fn one_client_begins_ten_and_no_eleventh() {
    for database in databases().await {
        let (gate, _) = Gate::with_owner(database).await;
        let context = gate.context(HERE, "").await;
        for number in 0..=10 {
            let begun = gate.auth.passkey_login_begin(&caller(&context), None).await;
            let expected = (number == 10).then_some(ErrorCode::RateLimited);
            assert_eq!(code_of(begun), expected, "{number}");
        }
    }
}
