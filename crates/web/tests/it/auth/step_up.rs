//! What needs a confirmation within fifteen minutes, and `POST /api/auth/confirm`.

use crate::steps::{WRONG_PASSWORD, by_clock, light_owner, stopped_clock};
use gatehouse_testkit::{Options, PASSWORD};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const DANGEROUS: [(&str, &str); 4] = [
    ("POST", "/api/auth/reset"),
    ("DELETE", "/api/auth/passkeys/pk_none"),
    ("POST", "/api/auth/passkey/register/begin"),
    ("POST", "/api/auth/vault/disable"),
];

#[tokio::test]
async fn a_confirmation_counts_for_fifteen_minutes() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let admin_key = json!({ "label": "x", "scopes": ["operator.admin"] });
    clock.advance(Duration::from_mins(15));
    let made = owner
        .post("/api/auth/api-keys", admin_key.clone())
        .await
        .expect(200);
    clock.advance(Duration::from_millis(1));
    let refused = owner
        .post("/api/auth/api-keys", admin_key)
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    assert_eq!(refused["max_age_seconds"], 900);
    for (method, path) in DANGEROUS {
        let body = (method == "POST").then(|| json!({}));
        owner
            .send(method, path, body)
            .await
            .refused(403, "CONFIRMATION_REQUIRED");
    }
    let set = owner
        .rpc(
            "config.set",
            json!({ "key": "auth.disabled_scope", "value": "local" }),
        )
        .await;
    assert_eq!(set, Err("CONFIRMATION_REQUIRED".to_owned()));
    // A narrower key, and whatever else is no danger, goes on.
    owner
        .post(
            "/api/auth/api-keys",
            json!({ "label": "x", "scopes": ["operator.write"] }),
        )
        .await
        .expect(200);
    owner
        .rpc("config.set", json!({ "key": "log.level", "value": "info" }))
        .await
        .unwrap();
    // A key with operator.admin is exempt.
    let key = server.local().bearer(made["key"].as_str().unwrap());
    key.delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_right_password_confirms() {
    let clock = stopped_clock();
    let server = by_clock(&clock).await;
    let owner = server.set_up().await;
    clock.advance(Duration::from_hours(1));
    owner
        .post("/api/auth/reset", json!({}))
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    owner
        .post("/api/auth/confirm", json!({ "password": WRONG_PASSWORD }))
        .await
        .refused(401, "INVALID_CREDENTIALS");
    owner
        .post("/api/auth/confirm", json!({}))
        .await
        .refused(400, "INVALID_PARAMS");
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    let confirmed = owner
        .post("/api/auth/confirm", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(
        confirmed["valid_until"],
        crate::steps::start_of_tests()
            .after(Duration::from_mins(75))
            .to_string()
    );
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    server
        .local()
        .post("/api/auth/confirm", json!({ "password": PASSWORD }))
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    // In the very request it confirms as well.
    clock.advance(Duration::from_hours(1));
    owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    clock.advance(Duration::from_hours(1));
    let new = crate::steps::NEW_PASSWORD;
    let body = json!({ "current_password": PASSWORD, "new_password": new });
    owner
        .post("/api/auth/password/change", body)
        .await
        .expect(200);
    owner.post("/api/auth/reset", json!({})).await.expect(200);
}

#[tokio::test]
async fn it_can_be_switched_off_by_who_is_confirmed() {
    let clock = stopped_clock();
    let (_server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let off = json!({ "key": "auth.step_up", "value": false });
    owner.rpc("config.set", off).await.unwrap();
    clock.advance(Duration::from_hours(1));
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    let on = json!({ "key": "auth.step_up", "value": true });
    owner.rpc("config.set", on.clone()).await.unwrap();
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    assert_eq!(
        owner.rpc("config.set", on).await,
        Err("CONFIRMATION_REQUIRED".to_owned())
    );
}
