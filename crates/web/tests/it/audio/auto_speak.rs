//! Answers that are spoken automatically: every mode, hidden markup, and failures.

use super::Harness;
use super::vendor::{ATTEMPTS, audio_of};
use super::wav;
use serde_json::{Value, json};

/// Checks that the stored audio is what the vendor returned for this text.
async fn check_audio(harness: &Harness, answer: &Value, text: &str) {
    let (session, audio) = (
        answer["session"].as_str().unwrap(),
        answer["audio"].as_str().unwrap(),
    );
    let got = harness.fetch(session, audio).await;
    assert_eq!(
        (got.status, got.header("content-type")),
        (200, "audio/mpeg")
    );
    assert_eq!(got.body, audio_of(text, "mp3"));
    assert_eq!(harness.vendor.texts().last().unwrap(), text);
    let messages = harness.messages(session).await;
    let last = messages.last().unwrap();
    assert_eq!(
        (&last["role"], &last["audio"]),
        (&json!("assistant"), &answer["audio"])
    );
}

/// Uploads a recording of "Hello there." to the session and sends its text, with or without the audio ID.
async fn say_aloud(harness: &Harness, session: &str, by_id: bool) -> Value {
    let path = format!("/api/sessions/{session}/audio");
    let posted = harness
        .owner
        .send_bytes("POST", &path, Some("audio/wav"), wav());
    let heard = posted.await.expect(200);
    let id = by_id.then(|| heard["audio_id"].clone());
    let params = json!({ "session": session, "text": heard["text"], "audio_id": id });
    let answer = harness.owner.rpc("chat.send_sync", params).await.unwrap();
    let messages = harness.messages(session).await;
    assert_eq!(messages[messages.len() - 2]["audio"], heard["audio_id"]);
    answer
}

#[tokio::test]
async fn each_mode_speaks_what_it_says() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    for (mode, typed, spoken, tagged) in [
        ("always", true, true, true),
        ("off", false, false, false),
        ("inbound", false, true, false),
        ("tagged", false, false, true),
    ] {
        harness.set("voice.tts.auto", json!(mode)).await;
        harness.model.will_say(&["I am ", "fine."]);
        let answer = harness.say(Some(&session), "How are you?").await;
        assert_eq!(answer["text"], "I am fine.");
        assert_eq!(answer.get("audio").is_some(), typed, "{mode}: {answer}");
        assert_eq!(answer.get("audio_error"), None, "{mode}");
        let prompt = harness.model.prompt();
        assert_eq!(
            prompt.contains("[[tts]]"),
            mode == "tagged",
            "{mode}: {prompt}"
        );
        if typed {
            check_audio(&harness, &answer, "I am fine.").await;
        }
        for by_id in [true, false] {
            let answer = say_aloud(&harness, &session, by_id).await;
            assert_eq!(answer.get("audio").is_some(), spoken, "{mode}: {answer}");
            if spoken {
                check_audio(&harness, &answer, "pong").await;
            }
        }
        harness.model.will_say(&["Well. [[tts]]Listen."]);
        let answer = harness.say(Some(&session), "Speak!").await;
        assert_eq!(answer.get("audio").is_some(), tagged, "{mode}: {answer}");
        assert_eq!(answer["text"], "Well. Listen.");
        if tagged {
            check_audio(&harness, &answer, "Well. Listen.").await;
        }
    }
}

#[tokio::test]
async fn markup_is_never_seen_wherever_the_answer_is_cut() {
    let harness = Harness::new().await;
    harness.set("voice.tts.auto", json!("tagged")).await;
    let session = harness.session().await;
    let mut socket = harness.server.socket(&harness.owner, "/ws/chat").await;
    let raw = "So: [[tts:persona=ada]]hear this[[/tts]], not `[[tts]]`.";
    let shown = "So: hear this, not `[[tts]]`.";
    let pieces = |cut: usize| {
        let (a, b) = raw.split_at(cut);
        vec![a.to_owned(), b.to_owned()]
    };
    let mut cuts: Vec<Vec<String>> = (0..=raw.len()).map(pieces).collect();
    cuts.push(raw.chars().map(String::from).collect());
    for cut in cuts {
        let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
        harness.model.will_say(&cut);
        let params = json!({ "session": session, "text": "Tell me." });
        let sent = socket.call("chat.send", params).await.unwrap();
        assert!(sent.get("error").is_none(), "{sent}");
        let (mut deltas, mut content) = (String::new(), Value::Null);
        let (mut is_done, mut is_spoken) = (false, false);
        while !(is_done && is_spoken) {
            let event = socket.next().await.unwrap();
            let all = event.to_string();
            assert!(
                !all.contains("persona=") && !all.contains("/tts"),
                "{cut:?}: {all}"
            );
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "chat.delta" => deltas.push_str(params["text"].as_str().unwrap()),
                "chat.message" if params["role"] == "assistant" => {
                    content = params["content"].clone();
                }
                "chat.done" => is_done = true,
                "chat.audio" => {
                    assert_eq!(params.get("error"), None, "{params}");
                    is_spoken = params["last"] == true;
                    assert_eq!(params["recording"].is_string(), is_spoken, "{params}");
                }
                _ => {}
            }
        }
        assert_eq!(
            (deltas.as_str(), &content),
            (shown, &json!(shown)),
            "{cut:?}"
        );
    }
    let texts = harness.vendor.texts();
    assert_eq!(texts.len(), raw.len() + 2);
    assert!(texts.iter().all(|text| text == "hear this"), "{texts:?}");
    for message in harness.messages(&session).await {
        assert!(!message.to_string().contains("persona="), "{message}");
    }
    let shared = harness
        .owner
        .rpc("sessions.share", json!({ "id": session }))
        .await
        .unwrap();
    let path = format!("/share/{}", shared["share_id"].as_str().unwrap());
    let page = harness.server.remote().get(&path).await;
    assert!(page.text.contains("hear this") && !page.text.contains("persona="));
    // The history sent to the model does not contain the markup either.
    harness.say(Some(&session), "And now?").await;
    let seen = harness.model.fake.last().to_string();
    assert!(!seen.contains("persona="), "{seen}");
}

#[tokio::test]
async fn a_failure_to_speak_is_reported_with_the_answer() {
    let harness = Harness::new().await;
    harness.set("voice.tts.auto", json!("always")).await;
    let session = harness.session().await;
    let mut socket = harness.server.socket(&harness.owner, "/ws/chat").await;
    let mut fails = async |answer: &str, code: &str| {
        harness.model.will_say(&[answer]);
        let received = harness.say(Some(&session), "Go on.").await;
        assert_eq!(
            (&received["text"], received.get("audio")),
            (&json!(answer), None)
        );
        assert_eq!(received["audio_error"]["code"], code);
        let end = socket.event("chat.audio").await.unwrap();
        assert_eq!(
            (&end["error"], &end["last"], end.get("audio_id")),
            (&received["audio_error"], &json!(true), None)
        );
    };
    fails("refuse", "PROVIDER_FAILED").await;
    fails("break", "PROVIDER_FAILED").await;
    harness
        .owner
        .rpc("tts.enable", json!({ "provider": "piper" }))
        .await
        .unwrap();
    fails("Nobody.", "NOT_CONFIGURED").await;
    // With speech switched off, missing audio is not an error.
    harness.owner.rpc("tts.disable", json!({})).await.unwrap();
    harness.model.will_say(&["Quiet."]);
    let received = harness.say(Some(&session), "Go on.").await;
    assert_eq!(
        (received.get("audio"), received.get("audio_error")),
        (None, None)
    );
    let texts = harness.vendor.texts();
    let asked = |text: &str| texts.iter().filter(|asked| *asked == text).count();
    assert_eq!((asked("refuse"), asked("break")), (ATTEMPTS, 1));
    assert_eq!((asked("Nobody."), asked("Quiet.")), (0, 0));
}

#[tokio::test]
async fn nothing_to_say_is_no_failure() {
    let harness = Harness::new().await;
    harness.set("voice.tts.auto", json!("always")).await;
    for nothing in ["", "[[tts]]", "```\nlet x = 1;\n```"] {
        harness.model.will_say(&[nothing]);
        let answer = harness.say(None, "Go on.").await;
        let has = |name: &str| answer.get(name).is_some();
        // Spoken text may mention omitted code.
        assert!(!has("audio_error"), "{answer}");
        assert!(!has("audio") || nothing.starts_with('`'), "{answer}");
    }
}

#[tokio::test]
async fn the_tags_persona_goes_before_the_agents_and_that_before_the_active_one() {
    let harness = Harness::new().await;
    harness.set("voice.tts.auto", json!("always")).await;
    for (id, voice) in [("ada", "nova"), ("bob", "onyx"), ("cyd", "sage")] {
        let persona = json!({ "id": id, "label": id,
            "providerBindings": [{ "provider": "openai", "voice_id": voice }] });
        harness
            .owner
            .rpc("voice.personas.create", persona)
            .await
            .unwrap();
    }
    let voice_of = async |agent: &str, answer: &str| {
        harness.model.will_say(&[answer]);
        let params = json!({ "text": "Hi", "agent": agent });
        let answer = harness.owner.rpc("chat.send_sync", params).await.unwrap();
        assert!(answer["audio"].is_string(), "{answer}");
        harness.vendor.spoken().pop().unwrap()["voice"].clone()
    };
    assert_eq!(voice_of("default", "Hello.").await, "alloy");
    let active = harness
        .owner
        .rpc("voice.personas.set_active", json!({ "id": "cyd" }));
    active.await.unwrap();
    assert_eq!(voice_of("default", "Hello.").await, "sage");
    let agent = json!({ "id": "b", "name": "B", "voice_persona_id": "bob" });
    harness.owner.rpc("agents.create", agent).await.unwrap();
    assert_eq!(voice_of("b", "Hello.").await, "onyx");
    assert_eq!(voice_of("b", "[[tts:persona=ada]]Hello.").await, "nova");
    // An unknown persona named by the model is ignored.
    assert_eq!(voice_of("b", "[[tts:persona=zoe]]Hello.").await, "onyx");
    harness
        .owner
        .rpc("voice.personas.delete", json!({ "id": "bob" }))
        .await
        .unwrap();
    assert_eq!(voice_of("b", "Hello.").await, "sage");
}

#[tokio::test]
async fn markup_moves_no_text_to_a_vendor_that_the_owner_did_not_choose() {
    let harness = Harness::new().await;
    harness.set("voice.tts.auto", json!("always")).await;
    let eve = json!({ "id": "eve", "label": "Eve", "provider": "elevenlabs",
        "providerBindings": [{ "provider": "openai", "voice_id": "nova" }] });
    let create = harness.owner.rpc("voice.personas.create", eve);
    create.await.unwrap();
    let ask = async || {
        harness.model.will_say(&["[[tts:persona=eve]]Hello."]);
        let params = json!({ "text": "Hi" });
        harness.owner.rpc("chat.send_sync", params).await.unwrap()
    };
    let answer = ask().await;
    assert!(answer["audio"].is_string(), "{answer}");
    let spoken = harness.vendor.spoken().pop().unwrap();
    assert_eq!(spoken["voice"], "alloy", "the persona is ignored too");

    // The owner may allow a persona of the model. The vendor is not configured here, so nothing is
    // spoken.
    let allow = json!({ "id": "eve", "allowMarkup": true });
    let shown = harness.owner.rpc("voice.personas.update", allow).await;
    assert_eq!(shown.unwrap()["allow_markup"], true);
    let answer = ask().await;
    assert_eq!(answer["audio_error"]["code"], "NOT_CONFIGURED", "{answer}");
}
