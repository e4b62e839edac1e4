//! Tests the rejected input and the field that the error names.

use super::*;
use crate::ProviderId;

#[tokio::test]
async fn ids_have_bounds_and_one_value() {
    let fixture = Fixture::new(sqlite()).await;
    let with = |id: &str| json!({ "label": "x", "id": id });
    for id in ["a", "A.b_c-9", &"x".repeat(64)] {
        assert_eq!(fixture.create(with(id)).await.unwrap().id, id);
    }
    for id in ["", "none", "a b", "ä", "a/b", "a\u{0}", &"x".repeat(65)] {
        assert_eq!(refusal(fixture.create(with(id)).await), bad("id"), "{id:?}");
    }
    for two in [
        json!({ "label": "x", "id": "p", "persona_id": "q" }),
        json!({ "label": "x", "id": "p", "persona": "q" }),
        json!({ "id": "p", "persona": { "label": "x", "id": "q" } }),
        json!({ "label": "x", "id": 7 }),
        json!({ "label": "x", "persona": [] }),
    ] {
        assert_eq!(
            refusal(fixture.create(two.clone()).await),
            bad("id"),
            "{two}"
        );
    }
    let same = json!({ "label": "x", "id": "p", "persona_id": "p", "persona": "p" });
    assert_eq!(fixture.create(same).await.unwrap().id, "p");
}

#[tokio::test]
async fn what_nobody_knows_is_named() {
    let fixture = Fixture::new(sqlite()).await;
    for (params, field) in [
        (json!({ "label": "x", "colour": 1 }), "colour"),
        (json!({ "colour": 1 }), "colour"),
        (
            json!({ "persona": { "label": "x", "colour": 1 } }),
            "colour",
        ),
        (
            json!({ "persona": { "label": "x" }, "colour": 1 }),
            "colour",
        ),
        (json!({ "label": "x", "prompt": { "mood": "x" } }), "mood"),
        (
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "rate": 1 }] }),
            "rate",
        ),
        (
            json!({ "label": "x", "providerBindings": [{ "voice_id": "v" }] }),
            "provider",
        ),
        (
            json!({ "label": "x", "persona": { "label": "y" } }),
            "label",
        ),
        (
            json!({ "label": "x", "fallbackPolicy": "fail", "fallback_policy": "fail" }),
            "fallbackPolicy",
        ),
        (json!({}), "label"),
        (json!({ "label": null }), "label"),
        (json!({ "label": 7 }), "label"),
        (
            json!({ "label": "x", "fallbackPolicy": "never" }),
            "fallbackPolicy",
        ),
        (
            json!({ "label": "x", "provider": "stt_cloud_1" }),
            "provider",
        ),
        (
            json!({ "label": "x", "providerBindings": [{ "provider": "acme" }] }),
            "provider",
        ),
        (json!({ "label": "x", "active": true }), "active"),
    ] {
        assert_eq!(
            refusal(fixture.create(params.clone()).await),
            bad(field),
            "{params}"
        );
    }
    let twice = input::from_slice::<NewPersona>(br#"{"label":"x","label":"y"}"#);
    assert_eq!(refusal(twice), bad("label"));
    assert!(fixture.personas.list().await.unwrap().personas.is_empty());
}

#[tokio::test]
async fn texts_and_lists_have_bounds() {
    let fixture = Fixture::new(sqlite()).await;
    let binding = |id: &TtsId| json!({ "provider": id });
    let many: Vec<Value> = (0..21).map(|_| json!({ "provider": "piper" })).collect();
    for (good, over, field) in [
        (
            json!({ "label": "x".repeat(200) }),
            json!({ "label": "x".repeat(201) }),
            "label",
        ),
        (json!({ "label": "ä" }), json!({ "label": " " }), "label"),
        (json!({ "label": "x" }), json!({ "label": "a\nb" }), "label"),
        (
            json!({ "label": "x", "description": "d".repeat(4000) }),
            json!({ "label": "x", "description": "d".repeat(4001) }),
            "description",
        ),
        (
            json!({ "label": "x", "prompt": { "scene": "ä".repeat(4000) } }),
            json!({ "label": "x", "prompt": { "scene": "ä".repeat(4001) } }),
            "scene",
        ),
        (
            json!({ "label": "x", "prompt": { "style": "a\nb" } }),
            json!({ "label": "x", "prompt": { "style": "a\u{0}b" } }),
            "style",
        ),
        (
            json!({ "label": "x", "providerBindings": TtsId::ALL.iter().map(binding).collect::<Vec<_>>() }),
            json!({ "label": "x", "providerBindings": [{ "provider": "piper" }, { "provider": "tts_local_1" }] }),
            "providerBindings",
        ),
        (
            json!({ "label": "x" }),
            json!({ "label": "x", "providerBindings": many }),
            "providerBindings",
        ),
        (
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "voice_id": "v".repeat(200) }] }),
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "voice_id": "v".repeat(201) }] }),
            "voice_id",
        ),
        (
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "voice_id": "v", "voice": "v" }] }),
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "voice_id": "v", "voice": "w" }] }),
            "voice",
        ),
        (
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "speed": 2, "speaking_rate": 2 }] }),
            json!({ "label": "x", "providerBindings": [{ "provider": "piper", "speed": 2, "speaking_rate": 1 }] }),
            "speaking_rate",
        ),
    ] {
        assert!(fixture.create(good.clone()).await.is_ok(), "{good}");
        assert_eq!(
            refusal(fixture.create(over.clone()).await),
            bad(field),
            "{over}"
        );
    }
}

#[tokio::test]
async fn numbers_have_bounds() {
    let fixture = Fixture::new(sqlite()).await;
    for (field, good, over) in [
        ("speed", [0.25, 4.0], [0.249, 4.001]),
        ("speaking_rate", [0.25, 4.0], [0.249, 4.001]),
        ("stability", [0.0, 1.0], [-0.001, 1.001]),
        ("similarity_boost", [0.0, 1.0], [-0.001, 1.001]),
        ("pitch", [-20.0, 20.0], [-20.001, 20.001]),
    ] {
        let with = |number: f64| {
            let binding = json!({ "provider": "elevenlabs", field: number });
            json!({ "label": "x", "providerBindings": [binding] })
        };
        for number in good {
            let made = fixture.create(with(number)).await.unwrap();
            assert_eq!(shown(&made)["providerBindings"][0][field], json!(number));
        }
        for number in over {
            assert_eq!(
                refusal(fixture.create(with(number)).await),
                bad(field),
                "{number}"
            );
        }
    }
}
