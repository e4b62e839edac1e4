//! `/api/sessions/{id}/audio`.

use super::{Harness, bytes, fetch, form, wav};
use crate::steps::stopped_clock;
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn path(session: &str) -> String {
    format!("/api/sessions/{session}/audio")
}

async fn upload(harness: &Harness, session: &str) -> Value {
    let at = path(session);
    let posted = harness
        .owner
        .send_bytes("POST", &at, Some("audio/wav"), wav());
    posted.await.expect(200)
}

#[tokio::test]
async fn a_recording_is_transcribed_stored_and_returned() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let heard = upload(&harness, &session).await;
    let id = heard["audio_id"].as_str().unwrap();
    assert!(id.starts_with("aud_"), "{id}");
    // The other fields equal the result of `stt.transcribe`.
    let audio = data_encoding::BASE64.encode(&wav());
    let by_rpc = harness
        .owner
        .rpc("stt.transcribe", json!({ "audio": audio }));
    let mut without_id = heard.clone();
    without_id.as_object_mut().unwrap().remove("audio_id");
    assert_eq!(without_id, by_rpc.await.unwrap());
    assert_eq!(heard["text"], "Hello there.");
    assert_eq!(heard["language"], "en");

    let got = harness.fetch(&session, id).await;
    assert_eq!((got.status, got.body), (200, wav()));
    for (header, value) in [
        ("content-type", "audio/wav"),
        ("cache-control", "private, no-cache"),
        (
            "content-disposition",
            format!("inline; filename=\"{id}.wav\"").as_str(),
        ),
        ("x-content-type-options", "nosniff"),
        ("accept-ranges", "bytes"),
        ("etag", format!("\"{id}\"").as_str()),
    ] {
        assert_eq!(got.headers[header], value, "{header}");
    }
}

#[tokio::test]
async fn a_form_will_do_and_says_more() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let (at, audio) = (path(&session), wav());
    for name in ["file", "audio"] {
        let head = format!("\"{name}\"; filename=\"blob\"\r\nContent-Type: audio/wav");
        let (media_type, body) = form(&[
            ("\"language\"", b"de"),
            (&head, &audio),
            ("\"prompt\"", b"Names: Ada"),
            ("\"provider\"", b"whisper"),
        ]);
        let posted = harness
            .owner
            .send_bytes("POST", &at, Some(media_type), body);
        assert_eq!(posted.await.expect(200)["provider"], "stt_cloud_1");
    }
    // The fields as query parameters, with the audio as the body.
    let asked = format!("{at}?language=de&prompt=Names:%20Ada");
    let posted = harness.owner.send_bytes("POST", &asked, None, audio).await;
    posted.expect(200);
    for heard in harness.vendor.heard() {
        assert_eq!(heard["language"], ["de"]);
        assert_eq!(heard["prompt"], ["Names: Ada"]);
    }
    assert_eq!(harness.vendor.heard().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_taken_is_refused_and_nothing_is_kept() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let post = async |path: &str, media_type: &str, body: Vec<u8>| {
        harness
            .owner
            .send_bytes("POST", path, Some(media_type), body)
            .await
    };
    let unknown = path("ses_none");
    post(&unknown, "audio/wav", wav())
        .await
        .refused(404, "NOT_FOUND");
    let at = path(&session);
    post(&at, "application/json", b"{}".to_vec())
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let none = post(&at, "audio/wav", Vec::new()).await;
    assert_eq!(none.refused(400, "INVALID_PARAMS")["field"], "audio");
    let noise = post(&at, "application/octet-stream", b"<html>".to_vec()).await;
    assert_eq!(noise.refused(400, "INVALID_PARAMS")["field"], "audio");
    let (media_type, body) = form(&[("\"language\"", b"en")]);
    let no_file = post(&at, media_type, body).await;
    assert_eq!(no_file.refused(400, "INVALID_PARAMS")["field"], "file");
    let broken = post(&at, "multipart/form-data", b"--x".to_vec()).await;
    broken.refused(400, "INVALID_REQUEST");
    for query in [
        "?langauge=en",
        "?language=klingon",
        "?provider=nobody",
        "?language=en&language=de",
    ] {
        let refused = post(&format!("{at}{query}"), "audio/wav", wav()).await;
        refused.refused(400, "INVALID_PARAMS");
    }
    harness.vendor.will_hear("refuse");
    post(&at, "audio/wav", wav())
        .await
        .refused(502, "PROVIDER_FAILED");
    harness.set("voice.stt.enabled", json!(false)).await;
    let off = post(&at, "audio/wav", wav()).await;
    assert_eq!(
        off.refused(503, "NOT_CONFIGURED")["what"],
        "voice.stt.enabled"
    );
    // A failed recording does not count as spoken input.
    harness.set("voice.tts.auto", json!("inbound")).await;
    let answer = harness.say(Some(&session), "refuse").await;
    assert_eq!(answer.get("audio"), None);
}

#[tokio::test]
async fn recordings_have_at_most_25_mib() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let at = path(&session);
    let mut audio = wav();
    audio.resize(25 << 20, 0);
    let most = harness
        .owner
        .send_bytes("POST", &at, Some("audio/wav"), audio.clone());
    most.await.expect(200);
    audio.push(0);
    let over = harness
        .owner
        .send_bytes("POST", &at, Some("audio/wav"), audio)
        .await;
    assert_eq!(
        over.refused(413, "PAYLOAD_TOO_LARGE")["max_bytes"],
        25 << 20
    );
    let endless = vec![0; (26 << 20) + 1];
    let over = harness
        .owner
        .send_bytes("POST", &at, Some("audio/wav"), endless)
        .await;
    assert_eq!(
        over.refused(413, "PAYLOAD_TOO_LARGE")["max_bytes"],
        26 << 20
    );
}

#[tokio::test]
async fn parts_are_given() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let heard = upload(&harness, &session).await;
    let id = heard["audio_id"].as_str().unwrap();
    let (at, whole) = (format!("{}/{id}", path(&session)), wav());
    let length = whole.len();
    let last = length - 1;
    let etag = format!("\"{id}\"");
    for (range, first, end) in [
        ("bytes=0-", 0, last),
        ("bytes=0-3", 0, 3),
        ("bytes=-4", length - 4, last),
        (&*format!("bytes=4-{length}"), 4, last),
    ] {
        let part = fetch(
            &harness.owner,
            &at,
            &[("range", range), ("if-range", &etag)],
        )
        .await;
        assert_eq!(part.status, 206, "{range}");
        assert_eq!(
            part.header("content-range"),
            format!("bytes {first}-{end}/{length}")
        );
        assert_eq!(part.header("content-length"), (end - first + 1).to_string());
        assert_eq!(part.header("content-type"), "audio/wav");
        assert_eq!(part.body, whole[first..=end], "{range}");
    }
    let beyond = fetch(
        &harness.owner,
        &at,
        &[("range", &format!("bytes={length}-"))],
    )
    .await;
    assert_eq!(beyond.status, 416);
    assert_eq!(beyond.header("content-range"), format!("bytes */{length}"));
    let received: Value = serde_json::from_slice(&beyond.body).unwrap();
    assert_eq!(received["code"], "INVALID_REQUEST");
    let other = fetch(
        &harness.owner,
        &at,
        &[("range", "bytes=0-3"), ("if-range", "\"b\"")],
    )
    .await;
    assert_eq!((other.status, other.body.len()), (200, length));
    let known = fetch(&harness.owner, &at, &[("if-none-match", &etag)]).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    let without_body = bytes(
        harness
            .owner
            .request("HEAD", &at)
            .header("range", "bytes=0-3"),
    )
    .await;
    assert_eq!((without_body.status, without_body.body.len()), (200, 0));
    assert_eq!(without_body.header("content-length"), length.to_string());
}

#[tokio::test]
async fn a_long_recording_comes_in_pieces_and_is_whole() {
    let harness = Harness::new().await;
    let session = harness.session().await;
    let mut audio = wav();
    // Two pieces and one byte of a third.
    let length = (2 << 20) + 1;
    let more = (0..length - audio.len()).map(|n| u8::try_from(n % 251).unwrap());
    audio.extend(more);
    let at = path(&session);
    let posted = harness
        .owner
        .send_bytes("POST", &at, Some("audio/wav"), audio.clone());
    let heard = posted.await.expect(200);
    let at = format!("{at}/{}", heard["audio_id"].as_str().unwrap());
    let whole = fetch(&harness.owner, &at, &[]).await;
    assert_eq!(whole.header("content-length"), length.to_string());
    assert!(whole.status == 200 && whole.body == audio);
    for (first, last) in [
        ((1 << 20) - 2, (1 << 20) + 1),
        (1 << 20, (2 << 20) - 1),
        (7, (1 << 20) + 7),
        (2 << 20, 2 << 20),
    ] {
        let range = format!("bytes={first}-{last}");
        let part = fetch(&harness.owner, &at, &[("range", &range)]).await;
        assert_eq!(part.status, 206, "{range}");
        assert!(part.body == audio[first..=last], "{range}");
    }
}

#[tokio::test]
async fn audio_is_its_sessions_and_goes_with_it() {
    let harness = Harness::new().await;
    let (mine, other) = (harness.session().await, harness.session().await);
    let heard = upload(&harness, &mine).await;
    let id = heard["audio_id"].as_str().unwrap();
    for (session, audio) in [(&*other, id), ("ses_none", id), (&mine, "aud_none")] {
        assert_eq!(
            harness.fetch(session, audio).await.status,
            404,
            "{session} {audio}"
        );
    }
    assert_eq!(harness.fetch(&mine, id).await.status, 200);
    harness
        .owner
        .rpc("sessions.delete", json!({ "id": mine }))
        .await
        .unwrap();
    assert_eq!(harness.fetch(&mine, id).await.status, 404);
}

#[tokio::test]
async fn a_message_names_what_was_said() {
    let harness = Harness::new().await;
    let (session, other) = (harness.session().await, harness.session().await);
    let heard = upload(&harness, &session).await;
    let send = async |session: &str, audio: &Value| {
        let params = json!({ "session": session, "text": "Hello, there!", "audio_id": audio });
        harness
            .owner
            .rpc_reply("chat.send_sync", params)
            .await
            .expect(200)
    };
    let refused = send(&other, &heard["audio_id"]).await;
    assert_eq!(refused["error"]["data"]["field"], "audio_id");
    let answer = send(&session, &heard["audio_id"]).await;
    assert_eq!(answer["result"]["text"], "pong");
    assert_eq!(
        harness.messages(&session).await[2]["audio"],
        heard["audio_id"]
    );
}

#[tokio::test]
async fn a_key_that_ended_during_an_upload_gets_no_text() {
    let harness = Harness::new().await;
    let at = path(&harness.session().await);
    let call = async |client: Actor| {
        client
            .send_bytes("POST", &at, Some("audio/wav"), wav())
            .await
    };
    let reply = harness.revoke_during(call, || {}).await;
    reply.refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn a_key_that_ended_during_a_call_of_a_second_gets_no_result() {
    let clock = stopped_clock();
    let harness = Harness::with(Options::default().clock(Arc::clone(&clock))).await;
    let params = json!({ "audio": data_encoding::BASE64.encode(&wav()) });
    for (millis, code) in [(999, ""), (1000, "AUTH_NOT_AUTHENTICATED")] {
        let call = async |client: Actor| client.rpc_reply("stt.transcribe", params.clone()).await;
        let later = || clock.advance(Duration::from_millis(millis));
        let reply = harness.revoke_during(call, later).await;
        if code.is_empty() {
            assert_eq!(reply.expect(200)["result"]["text"], "Hello there.");
        } else {
            reply.refused(401, code);
        }
    }
}
