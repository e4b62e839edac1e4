use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{databases, run_sql};
use gatehouse_store::{ClaimRequest, Engine};
#[tokio::test]
async fn timing() {
    for database in databases().await {
        let store = database.open().await;
        let (n, id) = match database.engine() {
            Engine::Sqlite => ("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 999999)", "printf('del_%012x%020x', 1795000000000+i, i)"),
            Engine::Postgres => ("WITH n(i) AS (SELECT generate_series(0,999999)::bigint)", "'del_'||lpad(to_hex(1795000000000+i),12,'0')||lpad(to_hex(i),20,'0')"),
        };
        let cols = "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at, next_attempt_at, headers, body_size, body_preview, payload, config)";
        run_sql(&database.location, &format!("{cols} {n} SELECT {id}, 'hook_'||(i%100), CASE WHEN i%10<7 THEN 'completed' WHEN i%10<9 THEN 'filtered' ELSE 'failed' END, 'webhook:'||i, 1795000000000+i, NULL, '{{}}', 10, 'x', '{{}}', '{{}}' FROM n")).await;
        for (from, key) in [(2_000_000_i64, "'one'"), (3_000_000, "'s'||i")] {
            let n2 = n.replace("SELECT 0 UNION", &format!("SELECT {from} UNION")).replace("(0,999999)", &format!("({from},{})", from + 9999)).replace("999999", &(from + 9999).to_string());
            run_sql(&database.location, &format!("{cols} {n2} SELECT {id}, 'hook_'||(i%100), 'queued', {key}, 1795000000000+i, 1795000000000+i, '{{}}', 10, 'x', '{{}}', '{{}}' FROM n")).await;
            for k in 0..46 {
                let want = ClaimRequest { owner: "me".into(), now: Timestamp::from_millis(1_995_000_000_000), lease_until: Timestamp::from_millis(1_995_000_060_000), limit: 4 };
                let t = std::time::Instant::now();
                let claims = store.write(move |c| Box::pin(async move { c.claim_deliveries(&want).await })).await.unwrap();
                let took = t.elapsed();
                if k < 3 || k > 38 { eprintln!("{:?} {key} claim {k}: {took:?} claimed {} more {}", database.engine(), claims.claimed.len(), claims.more); }
            }
        }
        store.close().await;
    }
}
