//! The behavior of the methods with real services.

use crate::harness::Harness;
use gatehouse_auth::Decision;
use gatehouse_domain::Scope;
use gatehouse_services::{bootstrap, doctor};
use serde_json::{Value, json};

#[tokio::test]
async fn status_tells_how_it_is() {
    let harness = Harness::new().await;
    harness
        .clock
        .advance(std::time::Duration::from_millis(61_999));
    assert_eq!(
        harness.call("system.status", json!(null)).await,
        json!({
            "version": "9.9.9",
            "uptime_seconds": 61,
            "database": { "engine": "sqlite", "ok": true },
            "vault_status": "uninitialized",
            "queue_depth": 0,
            "sessions": 0,
            "taint_off": false,
        })
    );
}

#[tokio::test]
async fn the_doctor_reports_why_a_caller_is_remote() {
    let harness = Harness::new().await;
    let ids = |report: &Value| {
        let checks = report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|check| check["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let report = harness.call("system.doctor", json!({})).await;
    assert!(ids(&report).contains(&"locality".to_owned()), "{report}");
    let find = |report: &Value, id: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks
            .iter()
            .find(|check| check["id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(find(&report, "database")["ok"], true);
    assert_eq!(find(&report, "setup")["ok"], false);
    assert!(find(&report, "setup")["hint"].is_string());
    let mut remote = harness.context(&[("x-forwarded-for", "1.2.3.4")]).await;
    let owner = harness.context(&[]).await;
    remote.decision = owner.decision;
    let answer = harness.ask(&remote, "system.doctor", json!({})).await;
    let message = find(&answer["result"], "locality")["message"].clone();
    assert!(message.as_str().unwrap().contains("check 2"), "{message}");
    assert_eq!(find(&answer["result"], "proxy")["ok"], false);
    let offline = doctor::checks(harness.services(), None).await;
    assert!(offline.iter().all(|check| check.id != "locality"));
}

#[tokio::test]
async fn settings_are_changed_at_run_time_and_taken_back() {
    let harness = Harness::new().await;
    let get = async |key: &str| {
        let result = harness.call("config.get", json!({ "keys": [key] })).await;
        result["values"][0].clone()
    };
    let before = get("models.autodetect").await;
    assert_eq!(
        before,
        json!({ "key": "models.autodetect", "value": true, "origin": "default", "secret": false })
    );
    let set = json!({ "key": "models.autodetect", "value": false });
    let expected = json!({ "key": "models.autodetect", "value": false, "origin": "settings" });
    assert_eq!(harness.call("config.set", set).await, expected);
    assert_eq!(get("models.autodetect").await["value"], false);
    let events = harness
        .call("audit.list", json!({ "kind": "config.set" }))
        .await;
    assert_eq!(
        events["events"][0]["detail"],
        json!({ "key": "models.autodetect", "value": false })
    );
    harness
        .call(
            "config.set",
            json!({ "key": "models.autodetect", "value": null }),
        )
        .await;
    assert_eq!(get("models.autodetect").await, before);
    let all = harness.call("config.get", json!({})).await;
    assert!(all["values"].as_array().unwrap().len() > 15);
}

#[tokio::test]
async fn a_change_is_in_force_at_once() {
    let harness = Harness::new().await;
    assert!(matches!(
        harness.context(&[]).await.decision,
        Decision::Allowed(_)
    ));
    let set = json!({ "key": "proxy.trusted_cidrs", "value": ["127.0.0.1"] });
    harness.call("config.set", set).await;
    let context = harness.context(&[("x-forwarded-for", "192.0.2.9")]).await;
    assert_eq!(context.client.ip.to_string(), "192.0.2.9");
}

#[tokio::test]
async fn a_change_that_may_not_be_is_refused() {
    let harness = Harness::with_environment(&[("SERVICE_AUTH__STEP_UP", "true")]).await;
    for (key, value, code, field) in [
        ("auth.step_up", json!(false), "CONFLICT", Value::Null),
        (
            "auth.vault_enabled",
            json!(false),
            "INVALID_PARAMS",
            json!("key"),
        ),
        ("no.such", json!(1), "INVALID_PARAMS", json!("key")),
        ("auth_disabled", json!(true), "INVALID_PARAMS", json!("key")),
        (
            "models.autodetect",
            json!("x"),
            "INVALID_PARAMS",
            json!("value"),
        ),
    ] {
        let data = harness
            .refusal("config.set", json!({ "key": key, "value": value }))
            .await;
        assert_eq!(
            (&data["code"], &data["field"]),
            (&json!(code), &field),
            "{key}"
        );
    }
    let data = harness
        .refusal("config.get", json!({ "keys": ["no.such"] }))
        .await;
    assert_eq!(data["field"], "keys");
    let data = harness
        .refusal("config.set", json!({ "key": "models.autodetect" }))
        .await;
    assert_eq!(data["field"], "value");
}

#[tokio::test]
async fn some_settings_need_admin() {
    let harness = Harness::new().await;
    let writer = harness.holder_of(&[Scope::Write]).await;
    for (key, value, allowed) in [
        ("models.autodetect", json!(false), true),
        ("log.format", json!("json"), true),
        ("auth.step_up", json!(false), false),
        ("vault.plaintext_while_sealed", json!(false), false),
        ("server.external_url", json!("https://x.example"), false),
        ("proxy.header", json!("x-real-ip"), false),
        ("network.allow_private", json!(true), false),
        ("database.url", json!("sqlite:///x"), false),
        ("mcp.servers.x.command", json!("sh"), false),
        (
            "models.providers.x.base_url",
            json!("http://x.example"),
            false,
        ),
    ] {
        let params = json!({ "key": key, "value": value });
        let answer = harness.ask(&writer, "config.set", params).await;
        let data = &answer["error"]["data"];
        if allowed {
            assert!(answer["result"].is_object(), "{key}: {answer}");
        } else {
            assert_eq!(data["code"], "FORBIDDEN", "{key}: {answer}");
            assert_eq!(data["required_scope"], "operator.admin");
        }
    }
}

#[tokio::test]
async fn environment_variables_come_and_go_without_their_values() {
    let harness = Harness::new().await;
    for key in ["B", "A", "C"] {
        let set = harness
            .call("env.set", json!({ "key": key, "value": "hunter2" }))
            .await;
        assert_eq!(
            (&set["key"], &set["encrypted"]),
            (&json!(key), &json!(0)),
            "{set}"
        );
        assert!(!set.to_string().contains("hunter2"));
    }
    let page = harness.call("env.list", json!({ "limit": 2 })).await;
    let keys = |page: &Value| {
        let rows = page["env_variables"].as_array().unwrap();
        rows.iter()
            .map(|row| row["key"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&page), ["A", "B"]);
    let rest = harness
        .call("env.list", json!({ "cursor": page["next_cursor"] }))
        .await;
    assert_eq!(keys(&rest), ["C"]);
    assert!(rest.get("next_cursor").is_none());
    assert_eq!(
        harness.call("env.delete", json!({ "key": "A" })).await,
        json!({ "ok": true })
    );
    assert_eq!(
        harness.refusal("env.delete", json!({ "key": "A" })).await["code"],
        "NOT_FOUND"
    );
    for bad in ["", "1A", "A-B", "PATH", "LD_PRELOAD", "SERVICE_X"] {
        let data = harness
            .refusal("env.set", json!({ "key": bad, "value": "" }))
            .await;
        assert_eq!(
            (&data["code"], &data["field"]),
            (&json!("INVALID_PARAMS"), &json!("key"))
        );
    }
}

#[tokio::test]
async fn ssh_keys_never_show_their_private_half() {
    let harness = Harness::new().await;
    let made = harness
        .call("ssh_keys.generate", json!({ "name": "deploy" }))
        .await;
    assert!(
        made["public_key"]
            .as_str()
            .unwrap()
            .starts_with("ssh-ed25519 ")
    );
    assert!(made["fingerprint"].as_str().unwrap().starts_with("SHA256:"));
    assert!(!made.to_string().contains("PRIVATE"));
    let listed = harness.call("ssh_keys.list", json!({})).await;
    assert_eq!(listed["ssh_keys"][0]["name"], "deploy");
    assert_eq!(
        harness
            .refusal("ssh_keys.generate", json!({ "name": "a/b" }))
            .await["field"],
        "name"
    );
    let bad = json!({ "name": "x", "private_key": "no key" });
    assert_eq!(
        harness.refusal("ssh_keys.import", bad).await["code"],
        "INVALID_PARAMS"
    );
    assert_eq!(
        harness
            .call("ssh_keys.delete", json!({ "name": "deploy" }))
            .await,
        json!({ "ok": true })
    );
    let data = harness
        .refusal("ssh_keys.delete", json!({ "name": "deploy" }))
        .await;
    assert_eq!(data["code"], "NOT_FOUND");
}

#[tokio::test]
async fn wrong_passphrases_of_a_key_count_as_wrong_passwords() {
    let harness = Harness::new().await;
    let key = include_str!("../../../secrets/tests/it/keys/ed25519_openssh_1_rounds.pem");
    let import = async |passphrase: &str| {
        let params = json!({ "name": "k", "private_key": key, "passphrase": passphrase });
        let context = harness.context(&[]).await;
        harness.ask(&context, "ssh_keys.import", params).await
    };
    for number in 0..30 {
        let refused = import(&format!("wrong {number}")).await;
        let data = &refused["error"]["data"];
        assert_eq!(data["code"], "INVALID_PARAMS", "{number}: {refused}");
    }
    // The 31st attempt is refused even with the right passphrase.
    let refused = import("open sesame").await;
    assert_eq!(
        refused["error"]["data"]["code"], "RATE_LIMITED",
        "{refused}"
    );
    harness.clock.advance(std::time::Duration::from_mins(10));
    let imported = import("open sesame").await;
    assert_eq!(imported["result"]["name"], "k", "{imported}");
}

#[tokio::test]
async fn provider_keys_are_hinted_at() {
    let harness = Harness::with_environment(&[("ANTHROPIC_API_KEY", "sk-ant-1")]).await;
    let find = async |id: &str| {
        let listed = harness.call("providers.list", json!({})).await;
        let all = listed["providers"].as_array().unwrap().clone();
        all.into_iter()
            .find(|provider| provider["id"] == id)
            .unwrap()
    };
    let anthropic = find("anthropic").await;
    assert_eq!(
        (&anthropic["configured"], &anthropic["detected"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(find("openai").await["configured"], false);
    let key = "sk-very-secret-key-1234";
    let set = harness
        .call("providers.set_key", json!({ "id": "openai", "key": key }))
        .await;
    assert_eq!(set, find("openai").await);
    assert_eq!(set["configured"], true);
    assert!(set["key_hint"].is_string() && !set.to_string().contains(key));
    let elsewhere =
        |value: Value| json!({ "key": "models.providers.openai.base_url", "value": value });
    harness
        .call("config.set", elsewhere(json!("https://other.example")))
        .await;
    assert_eq!(
        find("openai").await["configured"],
        false,
        "the key was for another address"
    );
    harness.call("config.set", elsewhere(Value::Null)).await;
    assert_eq!(find("openai").await["configured"], true);
    let unknown = json!({ "id": "nobody", "key": key });
    assert_eq!(
        harness.refusal("providers.set_key", unknown).await["field"],
        "id"
    );
    let id = json!({ "id": "openai" });
    assert_eq!(
        harness.call("providers.remove_key", id.clone()).await,
        json!({ "ok": true })
    );
    assert_eq!(
        harness.refusal("providers.remove_key", id).await["code"],
        "NOT_FOUND"
    );
}

#[tokio::test]
async fn the_audit_log_is_read_in_pages() {
    let harness = Harness::new().await;
    for value in [1, 2, 3] {
        let set = json!({ "key": "models.default", "value": format!("p/{value}") });
        harness.call("config.set", set).await;
    }
    let kind = "config.set";
    let page = harness
        .call("audit.list", json!({ "kind": kind, "limit": 2 }))
        .await;
    let value = |page: &Value, row: usize| page["events"][row]["detail"]["value"].clone();
    assert_eq!(
        (value(&page, 0), value(&page, 1)),
        (json!("p/3"), json!("p/2"))
    );
    assert_eq!(page["events"][0]["actor"], "loopback");
    assert_eq!(page["events"][0]["client_ip"], "127.0.0.1");
    let next = json!({ "kind": kind, "cursor": page["next_cursor"] });
    let rest = harness.call("audit.list", next).await;
    assert_eq!(value(&rest, 0), json!("p/1"));
    assert!(rest.get("next_cursor").is_none());
    let bad = json!({ "cursor": "x" });
    assert_eq!(harness.refusal("audit.list", bad).await["field"], "cursor");
}

#[tokio::test]
async fn every_list_takes_from_1_to_500_rows() {
    let harness = Harness::new().await;
    for method in [
        "audit.list",
        "backup.list",
        "budgets.list",
        "env.list",
        "ssh_keys.list",
        "providers.list",
    ] {
        for limit in [1, 500] {
            harness.call(method, json!({ "limit": limit })).await;
        }
        for limit in [json!(0), json!(501), json!(-1), json!(1.5), json!("1")] {
            let data = harness.refusal(method, json!({ "limit": limit })).await;
            assert_eq!(
                (&data["code"], &data["field"]),
                (&json!("INVALID_PARAMS"), &json!("limit"))
            );
        }
    }
}

#[tokio::test]
async fn null_counts_as_an_absent_param() {
    let harness = Harness::new().await;
    for (method, params) in [
        ("env.list", json!({ "limit": null, "cursor": null })),
        ("inbox.list", json!({ "unread": null, "q": null })),
        (
            "webhooks.deliveries.replay",
            json!({ "limit": 1, "dry_run": null, "id": null }),
        ),
    ] {
        harness.call(method, params).await;
    }
}

#[tokio::test]
async fn the_page_learns_what_it_needs() {
    let harness = Harness::new().await;
    let context = harness.context(&[]).await;
    let Decision::Allowed(identity) = &context.decision else {
        panic!("not let in")
    };
    let gon = serde_json::to_value(bootstrap::gon(harness.services(), identity)).unwrap();
    assert_eq!(
        gon,
        json!({
            "product": "Gatehouse",
            "version": "9.9.9",
            "vault_status": "uninitialized",
            "voice_enabled": cfg!(feature = "voice"),
            "has_passkeys": false,
            "setup_required": true,
            "auth_disabled": false,
            "identity": {
                "method": "Loopback",
                "scopes": ["operator.read", "operator.write", "operator.admin",
                           "operator.approvals", "operator.pairing"],
            },
        })
    );
    let bootstrap = bootstrap::bootstrap(harness.services(), identity)
        .await
        .unwrap();
    let bootstrap = serde_json::to_value(bootstrap).unwrap();
    assert_eq!(bootstrap["gon"], gon);
    assert_eq!(bootstrap["agents"][0]["id"], "default");
    assert_eq!(bootstrap["sessions"], json!([]));
    assert_eq!(bootstrap["active_persona"], json!(null));
}

/// Methods that require more than the read scope but change nothing.
const READS: [&str; 8] = [
    "approval.find",
    "approval.list",
    "approval.remembered",
    "audit.list",
    "backup.list",
    "pairing.list",
    "pairing.people",
    "webhooks.delivery.request",
];

#[test]
fn every_method_that_changes_something_says_what_the_audit_log_keeps() {
    use gatehouse_domain::Scope;
    use gatehouse_rpc::{Audit, METHODS};
    for method in METHODS {
        let may_change =
            !matches!(method.scope, None | Some(Scope::Read)) && !READS.contains(&method.name);
        let says = method.audit != Audit::Reads;
        assert_eq!(says, may_change, "{}", method.name);
        if let Audit::Row { params, result, .. } = method.audit {
            for secret in [
                "key",
                "value",
                "secret",
                "private_key",
                "passphrase",
                "text",
            ] {
                let named = params.contains(&secret) || result.contains(&secret);
                let is_a_name = method.name.starts_with("sessions.");
                assert!(!named || is_a_name, "{} keeps `{secret}`", method.name);
            }
        }
    }
}
