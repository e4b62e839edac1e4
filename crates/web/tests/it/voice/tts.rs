//! The methods `tts.*`.

use super::{KEY, SILENCE, bad, blamed, refusal, with_vendor};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use gatehouse_voice::{ProviderId, TtsId};
use serde_json::{Value, json};

#[tokio::test]
async fn nobody_speaks_at_first() {
    let (_server, owner) = light_owner(Options::default()).await;
    assert_eq!(
        owner.rpc("tts.status", json!({})).await.unwrap(),
        json!({
            "enabled": true, "provider": "", "auto": "off", "maxTextLength": 4096,
            "configured": false,
        })
    );
    let providers = owner.rpc("tts.providers", json!({})).await.unwrap();
    let ids: Vec<&str> = providers
        .as_array()
        .unwrap()
        .iter()
        .map(|provider| provider["id"].as_str().unwrap())
        .collect();
    let all: Vec<&str> = TtsId::ALL.iter().map(|id| id.as_str()).collect();
    assert_eq!(ids, all);
    assert_eq!(
        providers[0],
        json!({ "id": "tts_cloud_1", "name": "ElevenLabs", "configured": false })
    );
    let refused = blamed(&owner, "tts.convert", json!({ "text": "Hello" })).await;
    assert_eq!(refused, bad("NOT_CONFIGURED", "voice.tts.provider"));
    let gon = owner.get("/api/gon").await.expect(200);
    assert_eq!(gon["voice_enabled"], true);
    let doctor = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let voice = checks.iter().find(|check| check["id"] == "voice").unwrap();
    assert_eq!(voice["ok"], true, "{voice}");
}

#[tokio::test]
async fn the_first_configured_is_chosen_and_lists_can_be_short() {
    let options = Options::default().env("SERVICE_VOICE__TTS__PROVIDERS", "piper,openai");
    let (_server, owner, _) = with_vendor(options).await;
    let status = owner.rpc("tts.status", json!({})).await.unwrap();
    assert_eq!(
        (&status["provider"], &status["configured"]),
        (&json!("tts_cloud_2"), &json!(true))
    );
    assert_eq!(
        owner.rpc("tts.providers", json!({})).await.unwrap(),
        json!([
            { "id": "tts_cloud_2", "name": "OpenAI", "configured": true },
            { "id": "tts_local_1", "name": "Piper", "configured": false },
        ])
    );
    let details = json!({ "details": true });
    let all = owner.rpc("tts.providers", details.clone()).await.unwrap();
    let hidden = all.as_array().unwrap().iter();
    let hidden: Vec<_> = hidden
        .map(|one| one["details"]["hidden"].as_bool())
        .collect();
    assert_eq!(hidden, [true, false, true, false, true].map(Some));
    let eleven = &all[0]["details"];
    let binding = [
        "voice_id",
        "model",
        "speed",
        "stability",
        "similarity_boost",
    ];
    assert_eq!(
        (&eleven["needs"], &eleven["speeds"], &eleven["binding"]),
        (&json!("api_key"), &json!([0.7, 1.2]), &json!(binding))
    );
    let label = json!({ "name": "voice_id", "label": "Voice ID" });
    assert_eq!(eleven["settings"][0], label);
    let listeners = owner.rpc("stt.providers", details).await.unwrap();
    let program = &listeners[6]["details"];
    assert_eq!(
        (&program["needs"], &program["speeds"], &program["binding"]),
        (&json!("model_path"), &json!(null), &json!([]))
    );
    // Hidden providers can still be used.
    let set = owner
        .rpc("tts.setProvider", json!({ "provider": "coqui" }))
        .await;
    assert_eq!(set.unwrap(), json!({ "provider": "tts_local_2" }));
}

#[tokio::test]
async fn switching_and_choosing_hold_over_a_restart() {
    let (server, owner) = light_owner(Options::default()).await;
    let off = owner.rpc("tts.disable", json!({})).await.unwrap();
    assert_eq!(off, json!({ "enabled": false }));
    assert_eq!(
        blamed(&owner, "tts.convert", json!({ "text": "Hello" })).await,
        bad("NOT_CONFIGURED", "voice.tts.enabled")
    );
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let status = owner.rpc("tts.status", json!({})).await.unwrap();
    assert_eq!(status["enabled"], false);
    let on = owner
        .rpc("tts.enable", json!({ "provider": "elevenlabs" }))
        .await
        .unwrap();
    assert_eq!(on, json!({ "enabled": true, "provider": "tts_cloud_1" }));
    let status = owner.rpc("tts.status", json!({})).await.unwrap();
    assert_eq!(
        (&status["provider"], &status["configured"]),
        (&json!("tts_cloud_1"), &json!(false))
    );
    let kept = owner
        .rpc("config.get", json!({ "keys": ["voice.tts.provider"] }))
        .await
        .unwrap();
    assert_eq!(kept["values"][0]["value"], "tts_cloud_1");
    assert_eq!(kept["values"][0]["origin"], "settings");
    let set = owner
        .rpc("tts.setProvider", json!({ "provider": "tts_local_1" }))
        .await
        .unwrap();
    assert_eq!(set, json!({ "provider": "tts_local_1" }));
    let on = owner.rpc("tts.enable", json!({})).await.unwrap();
    assert_eq!(on, json!({ "enabled": true, "provider": "tts_local_1" }));
    let audit = owner
        .rpc("audit.list", json!({}))
        .await
        .unwrap()
        .to_string();
    assert!(audit.contains("voice.tts.provider"), "{audit}");
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let convert = "tts.convert";
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    for (method, params, field) in [
        ("tts.setProvider", json!({}), "provider"),
        (
            "tts.setProvider",
            json!({ "provider": "stt_cloud_1" }),
            "provider",
        ),
        ("tts.setProvider", json!({ "provider": 1 }), "provider"),
        ("tts.enable", json!({ "provider": "" }), "provider"),
        ("tts.enable", json!({ "enabled": true }), "enabled"),
        ("tts.disable", json!({ "provider": "piper" }), "provider"),
        (convert, json!({}), "text"),
        (convert, json!({ "text": "" }), "text"),
        (convert, json!({ "text": " \n" }), "text"),
        (convert, json!({ "text": "ä".repeat(4097) }), "text"),
        (convert, json!({ "text": "a", "speed": 0.249 }), "speed"),
        (convert, json!({ "text": "a", "speed": 4.001 }), "speed"),
        (convert, json!({ "text": "a", "speed": "fast" }), "speed"),
        (
            convert,
            json!({ "text": "a", "stability": -0.001 }),
            "stability",
        ),
        (
            convert,
            json!({ "text": "a", "stability": 1.001 }),
            "stability",
        ),
        (
            convert,
            json!({ "text": "a", "similarityBoost": 1.001 }),
            "similarityBoost",
        ),
        (
            convert,
            json!({ "text": "a", "similarity_boost": -1 }),
            "similarity_boost",
        ),
        (convert, json!({ "text": "a", "format": "ape" }), "format"),
        (
            convert,
            json!({ "text": "a", "provider": "whisper" }),
            "provider",
        ),
        (convert, json!({ "text": "a", "voiceId": "" }), "voiceId"),
        (
            convert,
            json!({ "text": "a", "voiceId": "a", "voice_id": "a" }),
            "voiceId",
        ),
        (
            convert,
            json!({ "text": "a", "persona": "nobody" }),
            "persona",
        ),
        (convert, json!({ "text": "a", "pitch": 1 }), "pitch"),
    ] {
        let refused = blamed(&owner, method, params.clone()).await;
        assert_eq!(refused, bad("INVALID_PARAMS", field), "{method} {params}");
    }
    assert_eq!(vendor.heard(), Vec::<Value>::new());
}

#[tokio::test]
async fn the_limits_themselves_are_taken() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    for extra in [
        json!({ "speed": 0.25 }),
        json!({ "speed": 4 }),
        json!({ "speed": null, "provider": null, "format": null }),
        json!({ "stability": 0, "similarityBoost": 1 }),
        json!({ "stability": 1, "similarity_boost": 0.0 }),
        json!({ "text": "ä".repeat(4096) }),
    ] {
        let mut params = json!({ "text": "Hello", "format": "pcm" });
        for (name, value) in extra.as_object().unwrap() {
            params[name.as_str()] = value.clone();
        }
        if params["format"].is_null() {
            params["format"] = json!("wav");
        }
        let made = owner.rpc("tts.convert", params).await;
        assert!(made.is_ok(), "{made:?} {extra}");
    }
    let heard = vendor.heard();
    assert_eq!(
        (&heard[0]["speed"], &heard[1]["speed"]),
        (&json!(0.25), &json!(4.0))
    );
}

#[tokio::test]
async fn a_text_becomes_audio() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    let params = json!({
        "text": "Hello there.", "voiceId": "nova", "model": "tts-1", "format": "pcm", "speed": 1.5,
    });
    let made = owner.rpc("tts.convert", params.clone()).await.unwrap();
    let audio = data_encoding::BASE64
        .decode(made["audio"].as_str().unwrap().as_bytes())
        .unwrap();
    assert_eq!(audio, SILENCE);
    for (name, value) in [
        ("format", json!("pcm")),
        ("mimeType", json!("audio/pcm")),
        ("durationMs", json!(100)),
        ("size", json!(4800)),
        ("provider", json!("tts_cloud_2")),
        ("persona", json!(null)),
        ("cached", json!(false)),
        (
            "attempts",
            json!([{ "provider": "tts_cloud_2", "ok": true }]),
        ),
    ] {
        assert_eq!(made.get(name), Some(&value), "{name}");
    }
    assert_eq!(made.get("warning"), None);
    let heard = &vendor.heard()[0];
    assert_eq!(
        (&heard["voice"], &heard["model"], &heard["speed"]),
        (&json!("nova"), &json!("tts-1"), &json!(1.5))
    );
    // The other spelling of the field gives the same, cached result.
    let mut other = params;
    other["voice_id"] = other.as_object_mut().unwrap().remove("voiceId").unwrap();
    let again = owner.rpc("tts.convert", other).await.unwrap();
    assert_eq!(
        (&again["cached"], &again["audio"]),
        (&json!(true), &made["audio"])
    );
    assert_eq!(vendor.heard().len(), 1);
}

#[tokio::test]
async fn audio_that_cannot_be_read_is_passed_on_with_a_warning() {
    let (_server, owner, _) = with_vendor(Options::default()).await;
    let made = owner
        .rpc("tts.convert", json!({ "text": "Hello" }))
        .await
        .unwrap();
    let named = (&made["format"], &made["mimeType"], &made["durationMs"]);
    assert_eq!(named, (&json!("mp3"), &json!("audio/mpeg"), &json!(0)));
    assert!(made["warning"].is_string(), "{made}");
    assert_eq!(made["size"], "no audio at all".len());
}

#[tokio::test]
async fn a_vendor_s_failures_are_reported_without_its_text() {
    let (_server, owner, _) = with_vendor(Options::default()).await;
    for (text, status, retryable) in [
        ("fail-401", json!(401), false),
        ("fail-400", json!(400), false),
        ("fail-429", json!(429), true),
        ("fail-500", json!(500), true),
        ("fail-503", json!(503), true),
        ("nothing", json!(null), true),
    ] {
        let data = refusal(
            &owner,
            "tts.convert",
            json!({ "text": text, "format": "pcm" }),
        )
        .await;
        assert_eq!(data["code"], "PROVIDER_FAILED", "{data}");
        assert_eq!(data["provider"], "tts_cloud_2");
        assert_eq!(
            data.get("status").unwrap_or(&Value::Null),
            &status,
            "{data}"
        );
        if text != "nothing" {
            assert_eq!(data["retryable"], retryable, "{data}");
        }
        for secret in ["hunter2", KEY, text] {
            assert!(!data.to_string().contains(secret), "{data}");
        }
    }
    let data = refusal(&owner, "tts.convert", json!({ "text": "fail-429" })).await;
    assert_eq!(data["retry_after_seconds"], 7, "{data}");
}

#[tokio::test]
async fn what_the_environment_fixes_stays() {
    let fixed = Options::default().env("SERVICE_VOICE__TTS__PROVIDER", "piper");
    let (_server, owner) = light_owner(fixed).await;
    owner.rpc("tts.disable", json!({})).await.unwrap();
    for (method, params) in [
        ("tts.setProvider", json!({ "provider": "openai" })),
        ("tts.enable", json!({ "provider": "openai" })),
    ] {
        assert_eq!(
            owner.rpc(method, params).await,
            Err("CONFLICT".to_owned()),
            "{method}"
        );
    }
    // All or nothing: the part that could have been changed was not.
    let status = owner.rpc("tts.status", json!({})).await.unwrap();
    assert_eq!(
        (&status["enabled"], &status["provider"]),
        (&json!(false), &json!("tts_local_1"))
    );
    // Requesting the fixed value is not a conflict.
    let same = json!({ "provider": "tts_local_1" });
    let on = owner.rpc("tts.enable", same.clone()).await.unwrap();
    assert_eq!(on, json!({ "enabled": true, "provider": "tts_local_1" }));
    assert_eq!(
        owner.rpc("tts.setProvider", same.clone()).await.unwrap(),
        same
    );
    let fixed = Options::default().env("SERVICE_VOICE__TTS__ENABLED", "true");
    let (_server, owner) = light_owner(fixed).await;
    let on = owner.rpc("tts.enable", same).await.unwrap();
    assert_eq!(on, json!({ "enabled": true, "provider": "tts_local_1" }));
    assert_eq!(
        owner.rpc("tts.disable", json!({})).await,
        Err("CONFLICT".to_owned())
    );
    let fixed = Options::default().env("SERVICE_VOICE__TTS__ENABLED", "false");
    let (_server, owner) = light_owner(fixed).await;
    assert_eq!(
        owner.rpc("tts.enable", json!({})).await,
        Err("CONFLICT".to_owned())
    );
    let off = owner.rpc("tts.disable", json!({})).await.unwrap();
    assert_eq!(off, json!({ "enabled": false }));
}

#[tokio::test]
async fn changes_are_published() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    owner.rpc("tts.disable", json!({})).await.unwrap();
    let received = socket.event("voice.settings").await.unwrap();
    assert_eq!(received["tts"]["enabled"], false);
    assert_eq!(
        received["stt"],
        json!({ "enabled": true, "provider": "", "configured": false })
    );
    let auto = json!({ "key": "voice.tts.auto", "value": "always" });
    owner.rpc("config.set", auto).await.unwrap();
    let received = socket.event("voice.settings").await.unwrap();
    assert_eq!(received["tts"]["auto"], "always");
    // Changes of other settings are not reported.
    let other = json!({ "key": "models.autodetect", "value": false });
    owner.rpc("config.set", other).await.unwrap();
    owner
        .rpc("stt.setProvider", json!({ "provider": "groq" }))
        .await
        .unwrap();
    let received = socket.event("voice.settings").await.unwrap();
    assert_eq!(received["stt"]["provider"], "stt_cloud_2");
    // Changes without an effect on the status are not reported either.
    let voice = json!({ "key": "voice.tts.tts_cloud_1.stability", "value": 0.5 });
    owner.rpc("config.set", voice).await.unwrap();
    owner.rpc("tts.enable", json!({})).await.unwrap();
    let received = socket.event("voice.settings").await.unwrap();
    assert_eq!(received["tts"]["enabled"], true);
}

#[tokio::test]
async fn settings_go_by_either_name() {
    let (_server, owner) = light_owner(Options::default()).await;
    let set = json!({ "key": "voice.tts.elevenlabs.stability", "value": 0.5 });
    let set = owner.rpc("config.set", set).await.unwrap();
    let expected = json!({
        "key": "voice.tts.tts_cloud_1.stability", "value": 0.5, "origin": "settings",
    });
    assert_eq!(set, expected);
    let got = json!({ "keys": ["voice.tts.elevenlabs"] });
    let got = owner.rpc("config.get", got).await.unwrap();
    let values = got["values"].as_array().unwrap();
    assert_eq!(values.len(), 6, "{got}");
    let is_it = |value: &&Value| value["key"] == "voice.tts.tts_cloud_1.stability";
    assert_eq!(values.iter().find(is_it).unwrap()["value"], 0.5);
    let none = json!({ "key": "voice.tts.tts_cloud_1.stability", "value": null });
    assert_eq!(
        owner.rpc("config.set", none).await.unwrap()["value"],
        Value::Null
    );
    let key = json!({ "key": "voice.tts.elevenlabs.api_key", "value": "x" });
    let refused = owner.rpc("config.set", key).await;
    assert_eq!(refused, Err("INVALID_PARAMS".to_owned()));
}

#[tokio::test]
async fn addresses_and_programs_are_the_administrator_s() {
    let (server, owner) = light_owner(Options::default()).await;
    let writer = server.api_key(&owner, &["operator.write"]).await;
    for (key, value, expected) in [
        (
            "voice.tts.elevenlabs.base_url",
            json!("http://a.example"),
            Err("FORBIDDEN".to_owned()),
        ),
        (
            "voice.tts.tts_local_1.binary_path",
            json!("/bin/sh"),
            Err("FORBIDDEN".to_owned()),
        ),
        (
            "voice.stt.sherpa-onnx.model_dir",
            json!("/etc"),
            Err("FORBIDDEN".to_owned()),
        ),
        (
            "voice.tts.coqui.endpoint",
            json!("http://a.example"),
            Err("FORBIDDEN".to_owned()),
        ),
        ("voice.tts.auto", json!("tagged"), Ok(())),
    ] {
        let set = writer
            .rpc("config.set", json!({ "key": key, "value": value }))
            .await;
        assert_eq!(set.map(drop), expected, "{key}");
    }
}
