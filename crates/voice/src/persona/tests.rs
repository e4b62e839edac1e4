//! Tests the creation and update of personas in real databases.

mod bounds;

use super::*;
use crate::VoiceError;
use gatehouse_domain::{ErrorCode, ManualClock, Problem, input};
use gatehouse_store::testing::{TestDatabase, databases, sqlite};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::broadcast;

struct Fixture {
    personas: Personas,
    clock: Arc<ManualClock>,
    events: broadcast::Receiver<PersonaEvent>,
    _database: TestDatabase,
}

impl Fixture {
    async fn new(database: TestDatabase) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
        let (sender, events) = broadcast::channel(64);
        let shared: Arc<dyn gatehouse_domain::Clock> = clock.clone();
        Self {
            personas: Personas::new(database.open().await, shared, sender),
            clock,
            events,
            _database: database,
        }
    }

    async fn create(&self, params: Value) -> Result<Persona, Problem> {
        let new: NewPersona = input::from_slice(params.to_string().as_bytes())?;
        self.personas.create(new).await.map_err(Problem::from)
    }

    async fn update(&self, params: Value) -> Result<Persona, Problem> {
        let changes: PersonaChanges = input::from_slice(params.to_string().as_bytes())?;
        self.personas.update(changes).await.map_err(Problem::from)
    }

    /// Returns the events since the last call, as ID, whether active and whether deleted.
    fn events(&mut self) -> Vec<(String, bool, bool)> {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .map(|event| (event.persona.id, event.persona.active, event.deleted))
            .collect()
    }
}

fn shown(persona: &Persona) -> Value {
    serde_json::to_value(persona).unwrap()
}

/// Returns the code and the field of an error.
fn refusal<T: std::fmt::Debug>(outcome: Result<T, Problem>) -> (ErrorCode, String) {
    let problem = outcome.unwrap_err();
    let field = problem.details.get("field").and_then(Value::as_str);
    (problem.code, field.unwrap_or_default().to_owned())
}

fn bad(field: &str) -> (ErrorCode, String) {
    (ErrorCode::InvalidParams, field.to_owned())
}

#[tokio::test]
async fn a_persona_is_shown_as_the_contract_says() {
    for database in databases().await {
        let fixture = Fixture::new(database).await;
        let least = fixture
            .create(json!({ "label": " Der Erzähler! " }))
            .await
            .unwrap();
        assert_eq!(
            shown(&least),
            json!({
                "id": "der-erz-hler", "label": "Der Erzähler!", "description": "", "provider": "",
                "prompt": {
                    "profile": "", "style": "", "accent": "", "pacing": "", "scene": "", "constraints": "",
                },
                "providerBindings": [], "fallbackPolicy": "preserve-persona", "allow_markup": false, "active": false,
                "created_at": "1970-01-01T00:00:01.000Z", "updated_at": "1970-01-01T00:00:01.000Z",
            })
        );
        let most = fixture
            .create(json!({ "persona": {
                "persona_id": "N.1", "label": "N", "description": "d", "provider": "openai",
                "prompt": {
                    "profile": "a", "style": "b", "accent": "c", "pacing": "d", "scene": "e", "constraints": "f",
                },
                "provider_bindings": [
                    { "provider": "google", "voice": "de-DE-A", "speakingRate": 1.5, "pitch": -2 },
                    { "provider": "tts_cloud_1", "voiceId": "v", "model": "m", "speed": 1, "stability": 0.5,
                      "similarityBoost": 0.25 },
                ],
                "fallback_policy": "fail", "allowMarkup": true,
            }}))
            .await
            .unwrap();
        assert_eq!(
            shown(&most),
            json!({
                "id": "N.1", "label": "N", "description": "d", "provider": "tts_cloud_2",
                "prompt": {
                    "profile": "a", "style": "b", "accent": "c", "pacing": "d", "scene": "e", "constraints": "f",
                },
                "providerBindings": [
                    { "provider": "tts_cloud_3", "voice_id": "de-DE-A", "voice": "de-DE-A", "model": null,
                      "speed": null, "stability": null, "similarity_boost": null, "speaking_rate": 1.5,
                      "pitch": -2.0 },
                    { "provider": "tts_cloud_1", "voice_id": "v", "voice": "v", "model": "m", "speed": 1.0,
                      "stability": 0.5, "similarity_boost": 0.25 },
                ],
                "fallbackPolicy": "fail", "allow_markup": true, "active": false,
                "created_at": "1970-01-01T00:00:01.000Z", "updated_at": "1970-01-01T00:00:01.000Z",
            })
        );
        assert_eq!(fixture.personas.get("N.1").await.unwrap(), most);
        // An update with the unchanged record changes nothing.
        assert_eq!(fixture.update(shown(&most)).await.unwrap(), most);
        assert_eq!(
            fixture
                .update(json!({ "persona": shown(&most), "id": "N.1" }))
                .await
                .unwrap(),
            most
        );
    }
}

#[tokio::test]
async fn ids_come_from_labels_and_are_taken_once() {
    for database in databases().await {
        let fixture = Fixture::new(database).await;
        let mut ids = Vec::new();
        for label in [
            "Old Sailor",
            "old  sailor?",
            "OLD-SAILOR",
            "你好",
            "🎉",
            "None",
            &"x".repeat(200),
        ] {
            ids.push(fixture.create(json!({ "label": label })).await.unwrap().id);
        }
        let long = "x".repeat(56);
        let expected = [
            "old-sailor",
            "old-sailor-2",
            "old-sailor-3",
            "persona",
            "persona-2",
            "none-2",
        ];
        assert_eq!(ids[..6], expected);
        assert_eq!(ids[6], long);
        let taken = fixture
            .create(json!({ "label": "Other", "id": "old-sailor" }))
            .await;
        assert_eq!(taken.unwrap_err().code, ErrorCode::Conflict);
        // An ID derived from a label avoids IDs chosen by callers.
        fixture
            .create(json!({ "label": "Me", "id": "you" }))
            .await
            .unwrap();
        assert_eq!(
            fixture.create(json!({ "label": "You" })).await.unwrap().id,
            "you-2"
        );
        let list = fixture.personas.list().await.unwrap();
        assert_eq!((list.personas.len(), list.active), (9, None));
        let order: Vec<_> = list.personas.iter().map(|p| (&p.label, &p.id)).collect();
        assert!(order.is_sorted(), "{order:?}");
    }
}

#[tokio::test]
async fn a_change_touches_only_what_it_names() {
    for database in databases().await {
        let fixture = Fixture::new(database).await;
        let made = fixture
            .create(json!({
                "label": "Sailor", "description": "d", "provider": "piper",
                "prompt": { "style": "dry", "accent": "Scots" },
                "providerBindings": [{ "provider": "piper", "speed": 2 }, { "provider": "openai" }],
                "fallbackPolicy": "fail",
            }))
            .await
            .unwrap();
        fixture.clock.set_wall(Timestamp::from_millis(5_000));
        let renamed = fixture
            .update(json!({ "persona": "sailor", "label": "Captain" }))
            .await
            .unwrap();
        let expected = Persona {
            label: "Captain".to_owned(),
            updated_at: Timestamp::from_millis(5_000),
            ..made.clone()
        };
        assert_eq!(renamed, expected);
        let params =
            json!({ "persona_id": "sailor", "prompt": { "style": null, "pacing": "slow" } });
        let prompt = fixture.update(params).await.unwrap().prompt;
        assert_eq!(
            (
                prompt.style.as_str(),
                prompt.accent.as_str(),
                prompt.pacing.as_str()
            ),
            ("", "Scots", "slow")
        );
        let bindings = json!([{ "provider": "google", "pitch": 3 }]);
        let params = json!({ "id": "sailor", "providerBindings": bindings });
        let changed = fixture.update(params).await.unwrap();
        assert_eq!(changed.bindings.len(), 1);
        assert!(
            changed
                .binding(TtsId::Google)
                .is_some_and(|binding| binding.pitch == Some(3.0))
        );
        let cleared = fixture
            .update(json!({
                "id": "sailor", "description": null, "provider": null, "prompt": null,
                "providerBindings": null, "fallbackPolicy": null,
            }))
            .await
            .unwrap();
        assert_eq!((cleared.description.as_str(), cleared.provider), ("", None));
        assert_eq!(cleared.prompt, PersonaPrompt::default());
        assert!(cleared.bindings.is_empty());
        assert_eq!(cleared.fallback, FallbackPolicy::PreservePersona);
        assert_eq!(fixture.personas.get("sailor").await.unwrap(), cleared);
        for (params, expected) in [
            (json!({ "label": "x" }), bad("id")),
            (json!({ "id": "sailor", "label": null }), bad("label")),
            (json!({ "id": "sailor", "active": true }), bad("active")),
            (json!({ "id": "sailor", "colour": 1 }), bad("colour")),
            (
                json!({ "id": "nobody", "label": "x" }),
                (ErrorCode::NotFound, String::new()),
            ),
            (
                json!({ "id": "a\u{0}", "label": "x" }),
                (ErrorCode::NotFound, String::new()),
            ),
        ] {
            assert_eq!(
                refusal(fixture.update(params.clone()).await),
                expected,
                "{params}"
            );
        }
        // A rejected update changes nothing.
        assert_eq!(fixture.personas.get("sailor").await.unwrap(), cleared);
    }
}

#[tokio::test]
async fn one_is_active_and_a_deleted_one_is_not() {
    for database in databases().await {
        let mut fixture = Fixture::new(database).await;
        for label in ["One", "Two"] {
            fixture.create(json!({ "label": label })).await.unwrap();
        }
        let none = |deleted: bool, id: &str| (id.to_owned(), false, deleted);
        assert_eq!(fixture.events(), [none(false, "one"), none(false, "two")]);
        let personas = fixture.personas.clone();
        assert_eq!(personas.active().await.unwrap(), None);
        let active = personas.set_active(Some("one")).await.unwrap();
        assert_eq!(active.active.as_deref(), Some("one"));
        assert_eq!(fixture.events(), [("one".to_owned(), true, false)]);
        personas.set_active(Some("one")).await.unwrap();
        assert_eq!(fixture.events(), []);
        personas.set_active(Some("two")).await.unwrap();
        assert_eq!(
            fixture.events(),
            [none(false, "one"), ("two".to_owned(), true, false)]
        );
        let list = personas.list().await.unwrap();
        assert_eq!(list.active.as_deref(), Some("two"));
        assert_eq!(
            list.personas
                .iter()
                .filter(|persona| persona.active)
                .count(),
            1
        );
        for unknown in ["three", "none", "", "a\u{0}"] {
            let refused = personas.set_active(Some(unknown)).await;
            assert!(
                matches!(refused, Err(VoiceError::NotFound("persona"))),
                "{unknown:?}"
            );
        }
        assert_eq!(personas.active().await.unwrap().unwrap().id, "two");
        let renamed = fixture
            .update(json!({ "id": "two", "label": "Zwei" }))
            .await
            .unwrap();
        assert!(renamed.active);
        assert_eq!(fixture.events(), [("two".to_owned(), true, false)]);
        personas.delete("two").await.unwrap();
        assert_eq!(fixture.events(), [none(true, "two")]);
        assert_eq!(personas.active().await.unwrap(), None);
        assert_eq!(personas.list().await.unwrap().active, None);
        for gone in ["two", "a\u{0}", "none"] {
            let refused = personas.delete(gone).await;
            assert!(
                matches!(refused, Err(VoiceError::NotFound("persona"))),
                "{gone:?}"
            );
            assert_eq!(personas.find(gone).await.unwrap(), None);
        }
        personas.set_active(Some("one")).await.unwrap();
        assert_eq!(personas.set_active(None).await.unwrap().active, None);
        assert_eq!(
            fixture.events(),
            [("one".to_owned(), true, false), none(false, "one")]
        );
        assert_eq!(personas.set_active(None).await.unwrap().active, None);
        assert_eq!(fixture.events(), []);
    }
}

#[test]
fn params_name_a_persona_in_any_of_three_ways() {
    for name in ["id", "persona_id", "persona"] {
        let body = json!({ name: "x" }).to_string();
        let params: PersonaParams = input::from_slice(body.as_bytes()).unwrap();
        assert_eq!(params.id, "x");
        let params: ActivePersonaParams = input::from_slice(body.as_bytes()).unwrap();
        assert_eq!(params.id(), Some("x"));
        for none in [json!({ name: "none" }), json!({ name: null })] {
            let params: ActivePersonaParams =
                input::from_slice(none.to_string().as_bytes()).unwrap();
            assert_eq!(params.id(), None);
        }
    }
    assert_eq!(
        refusal(input::from_slice::<PersonaParams>(b"{}")),
        bad("id")
    );
    assert_eq!(
        refusal(input::from_slice::<ActivePersonaParams>(b"{}")),
        bad("id")
    );
    assert_eq!(
        refusal(input::from_slice::<ActivePersonaParams>(br#"{"id":1}"#)),
        bad("id")
    );
    assert_eq!(
        refusal(input::from_slice::<PersonaParams>(br#"{"id":"x","y":1}"#)),
        bad("y")
    );
}

#[tokio::test]
async fn an_event_is_the_record() {
    let mut fixture = Fixture::new(sqlite()).await;
    let made = fixture.create(json!({ "label": "One" })).await.unwrap();
    let event = fixture.events.try_recv().unwrap();
    assert_eq!(serde_json::to_value(&event).unwrap(), shown(&made));
    fixture.personas.delete("one").await.unwrap();
    let event = serde_json::to_value(fixture.events.try_recv().unwrap()).unwrap();
    assert_eq!(
        (&event["id"], &event["deleted"]),
        (&json!("one"), &json!(true))
    );
}

#[test]
fn schemas_say_what_must_be_there() {
    let new = serde_json::to_value(schemars::schema_for!(NewPersona)).unwrap();
    assert_eq!(new["required"], json!(["label"]));
    let changes = serde_json::to_value(schemars::schema_for!(PersonaChanges)).unwrap();
    assert_eq!(changes["required"], json!(["id"]));
    for schema in [&new, &changes] {
        for field in [
            "id",
            "label",
            "prompt",
            "providerBindings",
            "fallbackPolicy",
        ] {
            assert!(schema["properties"][field].is_object(), "{field}");
        }
        assert!(schema["properties"].get("active").is_none());
        assert_eq!(schema["additionalProperties"], json!(false));
    }
    let active = serde_json::to_value(schemars::schema_for!(ActivePersonaParams)).unwrap();
    assert_eq!(active["required"], json!(["id"]));
    let shown = serde_json::to_value(schemars::schema_for!(Persona)).unwrap();
    assert_eq!(shown["properties"]["provider"]["type"], json!("string"));
}
