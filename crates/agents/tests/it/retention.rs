//! Deletion of old conversations and audio.

use crate::harness::{Harness, harnesses};
use gatehouse_agents::{AgentsSettings, SessionChanges, Swept};
use gatehouse_domain::id::{AudioId, SessionId};
use gatehouse_domain::{Clock, UtcDay};
use gatehouse_store::{SessionAudioRow, StoreError, UsageColumn, UsageRow, UsageSum};
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

fn keep(harness: &Harness, conversations: Option<u32>, audio: Option<u32>) {
    let days = |days| DAY.saturating_mul(days);
    harness.agents.update_settings(AgentsSettings {
        retention: conversations.map(days),
        audio_retention: audio.map(days),
        ..AgentsSettings::default()
    });
}

async fn add_audio(harness: &Harness, session: &str, id: &str) {
    let row = SessionAudioRow {
        id: AudioId::from_text(id),
        session_id: SessionId::from_text(session),
        message_id: None,
        is_inbound: true,
        format: "mp3".to_owned(),
        mime_type: "audio/mpeg".to_owned(),
        size: 1,
        duration_ms: 1,
        transcript: None,
        created_at: harness.clock.now(),
    };
    let write = harness.store.write(move |conn| {
        Box::pin(async move { conn.insert_session_audio(&row, vec![1], i64::MAX).await })
    });
    let stored: Result<bool, StoreError> = write.await;
    assert!(stored.unwrap());
}

const fn swept(conversations: u64, recordings: u64) -> Swept {
    Swept {
        conversations,
        recordings,
        files: 0,
        usage_rows: 0,
    }
}

#[tokio::test]
async fn conversations_end_a_day_count_after_their_last_message_unless_pinned() {
    for harness in harnesses().await {
        // The deletion needs more than one transaction.
        for n in 0..40 {
            harness.say(None, &format!("old {n}")).await;
        }
        let pinned = harness.say(None, "pinned").await.session.to_string();
        harness
            .agents
            .update_session(
                &pinned,
                SessionChanges {
                    pinned: Some(true),
                    ..SessionChanges::default()
                },
            )
            .await
            .unwrap();
        let used = harness.say(None, "used again").await.session.to_string();
        assert_eq!(harness.agents.sweep().await.unwrap(), swept(0, 0));
        harness.clock.advance(DAY / 2);
        harness.say(Some(&used), "a second message").await;
        harness.clock.advance(DAY / 2);
        keep(&harness, Some(1), None);
        assert_eq!(
            harness.agents.sweep().await.unwrap(),
            swept(0, 0),
            "at the limit"
        );
        harness.clock.advance(Duration::from_millis(1));
        assert_eq!(
            harness.agents.sweep().await.unwrap(),
            swept(40, 0),
            "one past it"
        );
        assert_eq!(harness.session_count().await, 2);
        assert_eq!(harness.history(&used).await.len(), 4);
        // By default, nothing is deleted.
        keep(&harness, None, None);
        harness.clock.advance(DAY * 1_000);
        let swept = harness.agents.sweep().await.unwrap();
        assert_eq!(
            (swept.conversations, swept.recordings, swept.files),
            (0, 0, 0)
        );
    }
}

async fn add_usage(harness: &Harness, day: i64, model: &str) {
    let row = UsageRow {
        day,
        agent: "agt_1".to_owned(),
        model: format!("fake/{model}"),
        turns: 1,
        ..UsageRow::default()
    };
    let write = harness
        .store
        .write(move |conn| Box::pin(async move { conn.add_usage(&row).await }));
    let added: Result<(), StoreError> = write.await;
    added.unwrap();
}

async fn usage_days(harness: &Harness) -> Vec<String> {
    let read = harness.store.read(|conn| {
        Box::pin(async move {
            conn.list_usage(UsageColumn::Day, 0, i64::from(u32::MAX))
                .await
        })
    });
    let sums: Result<Vec<UsageSum>, StoreError> = read.await;
    sums.unwrap().into_iter().map(|sum| sum.name).collect()
}

#[tokio::test]
async fn the_use_of_models_ends_400_days_after_its_day() {
    for harness in harnesses().await {
        let today = UtcDay::of(harness.clock.now()).number();
        for day in [today - 402, today - 401, today - 400, today] {
            for model in ["one", "two"] {
                add_usage(&harness, day, model).await;
            }
        }
        assert_eq!(harness.agents.sweep().await.unwrap().usage_rows, 4);
        let kept = [today - 400, today].map(|day| day.to_string());
        assert_eq!(usage_days(&harness).await, kept, "at the limit");
        harness.clock.advance(DAY);
        assert_eq!(harness.agents.sweep().await.unwrap().usage_rows, 2);
        assert_eq!(
            usage_days(&harness).await,
            [today.to_string()],
            "one past it"
        );
        harness.agents.update_settings(AgentsSettings {
            usage_retention: DAY * 31,
            ..AgentsSettings::default()
        });
        harness.clock.advance(DAY * 30);
        assert_eq!(harness.agents.sweep().await.unwrap().usage_rows, 0);
        harness.clock.advance(DAY);
        assert_eq!(harness.agents.sweep().await.unwrap().usage_rows, 2);
    }
}

#[tokio::test]
async fn audio_ends_before_its_conversation() {
    for harness in harnesses().await {
        let session = harness.say(None, "hello").await.session.to_string();
        for n in 0..70 {
            add_audio(&harness, &session, &format!("aud_0{n:02}")).await;
        }
        harness.clock.advance(DAY);
        add_audio(&harness, &session, "aud_1").await;
        harness.agents.sweep().await.unwrap();
        harness.clock.advance(Duration::from_millis(1));
        keep(&harness, None, Some(1));
        assert_eq!(harness.agents.sweep().await.unwrap(), swept(0, 70));
        assert_eq!(harness.agents.sweep().await.unwrap(), swept(0, 0));
        assert_eq!(harness.history(&session).await.len(), 2);
    }
}

#[tokio::test]
async fn parts_of_speech_expire_unless_they_become_a_messages() {
    for harness in harnesses().await {
        let session = harness.say(None, "hello").await.session.to_string();
        let message = harness.history(&session).await[1].id.clone();
        for id in ["aud_1", "aud_2", "aud_3"] {
            add_audio(&harness, &session, id).await;
        }
        let at = harness.clock.now();
        let write = harness.store.write(move |conn| {
            Box::pin(async move {
                for id in ["aud_1", "aud_2"] {
                    let id = AudioId::from_text(id);
                    conn.expire_session_audio(&id, at).await?;
                }
                conn.update_session_audio_message("aud_2", &message).await
            })
        });
        let linked: Result<bool, StoreError> = write.await;
        assert!(linked.unwrap());
        let left = async || {
            let session = SessionId::from_text(session.as_str());
            let read = harness.store.read(move |conn| {
                Box::pin(async move {
                    let mut left = Vec::new();
                    for id in ["aud_1", "aud_2", "aud_3"] {
                        left.push(conn.find_session_audio(&session, id).await?.is_some());
                    }
                    Ok::<_, StoreError>(left)
                })
            });
            read.await.unwrap()
        };
        harness.agents.sweep().await.unwrap();
        assert_eq!(left().await, [true, true, true], "at the limit");
        harness.clock.advance(Duration::from_millis(1));
        harness.agents.sweep().await.unwrap();
        assert_eq!(left().await, [false, true, true], "one past it");
    }
}
