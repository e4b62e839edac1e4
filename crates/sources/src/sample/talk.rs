//! Samples of Slack and Twilio deliveries.

use serde_json::{Value, json};

use super::{SampleInput, action, family};

const CHANNEL: &str = "C0123ABCD";
const USER: &str = "U0123ABCD";
const TEXT: &str = "<@U0APPBOT1> what is the total of cart 7?";

pub(crate) fn slack(input: &SampleInput<'_>) -> Value {
    let seconds = input.now_ms / 1000;
    let ts = format!("{seconds}.000100");
    let (kind, subtype) = match input.event.strip_prefix("message.") {
        Some(subtype) => ("message", Some(subtype)),
        None => (input.event, None),
    };
    let mut event = slack_event(kind, subtype, &ts);
    if let Some(event) = event.as_object_mut() {
        event.insert("type".to_owned(), json!(kind));
        event.insert("event_ts".to_owned(), json!(ts));
        if let Some(subtype) = subtype {
            event.insert("subtype".to_owned(), json!(subtype));
        }
    }
    json!({
        "token": "unused",
        "team_id": "T0123ABCD",
        "api_app_id": "A0123ABCD",
        "event": event,
        "type": "event_callback",
        "event_id": format!("Ev{}", input.id),
        "event_time": seconds,
    })
}

fn slack_event(kind: &str, subtype: Option<&str>, ts: &str) -> Value {
    let message = json!({ "type": "message", "user": USER, "text": TEXT, "ts": ts });
    match (kind, subtype) {
        (_, Some("message_changed")) => json!({
            "channel": CHANNEL,
            "ts": ts,
            "message": message,
            "previous_message": { "type": "message", "user": USER, "text": "the total?", "ts": ts },
        }),
        (_, Some("message_deleted")) => {
            json!({ "channel": CHANNEL, "ts": ts, "deleted_ts": ts, "previous_message": message })
        }
        (_, Some("bot_message")) => json!({
            "channel": CHANNEL,
            "ts": ts,
            "bot_id": "B0123ABCD",
            "username": "cashier",
            "text": "The total of cart 7 is 49.00.",
        }),
        ("reaction_added" | "reaction_removed", _) => json!({
            "user": USER,
            "reaction": "eyes",
            "item_user": "U0APPBOT1",
            "item": { "type": "message", "channel": CHANNEL, "ts": ts },
        }),
        ("channel_created" | "channel_rename", _) => {
            json!({ "channel": { "id": CHANNEL, "name": "checkout", "created": 1 } })
        }
        ("team_join", _) => {
            json!({ "user": { "id": USER, "name": "ada", "real_name": "Ada Example" } })
        }
        ("file_shared", _) => {
            json!({ "channel_id": CHANNEL, "file_id": "F0123ABCD", "user_id": USER })
        }
        ("pin_added", _) => json!({ "channel_id": CHANNEL, "user": USER, "item": message }),
        ("app_home_opened", _) => json!({ "user": USER, "channel": CHANNEL, "tab": "home" }),
        ("channel_archive" | "member_joined_channel" | "member_left_channel", _) => {
            json!({ "user": USER, "channel": CHANNEL })
        }
        ("link_shared", _) => json!({
            "user": USER,
            "channel": CHANNEL,
            "message_ts": ts,
            "links": [{ "domain": "shop.example", "url": "https://shop.example/cart/7" }],
        }),
        _ => json!({ "channel": CHANNEL, "user": USER, "ts": ts, "text": TEXT }),
    }
}

pub(crate) fn twilio(input: &SampleInput<'_>) -> Value {
    let status = action(input.event).unwrap_or("received");
    let sid = |prefix: &str| format!("{prefix}{:0>32.32}", input.id);
    match family(input.event) {
        "call" => json!({
            "AccountSid": "AC00000000000000000000000000000000",
            "CallSid": sid("CA"),
            "CallStatus": status,
            "Direction": "inbound",
            "From": "+15005550006",
            "To": "+15005550001",
        }),
        "recording" => json!({
            "AccountSid": "AC00000000000000000000000000000000",
            "CallSid": sid("CA"),
            "RecordingSid": sid("RE"),
            "RecordingStatus": status,
            "RecordingDuration": "17",
            "RecordingUrl": "https://telephony.example/recordings/1",
        }),
        _ if status == "received" => json!({
            "AccountSid": "AC00000000000000000000000000000000",
            "MessageSid": sid("SM"),
            "SmsStatus": "received",
            "From": "+15005550006",
            "FromCity": "AMSTERDAM",
            "FromCountry": "NL",
            "To": "+15005550001",
            "NumMedia": "0",
            "Body": "Hello, when does my order arrive?",
        }),
        _ => json!({
            "AccountSid": "AC00000000000000000000000000000000",
            "MessageSid": sid("SM"),
            "MessageStatus": status,
            "SmsStatus": status,
            "From": "+15005550001",
            "To": "+15005550006",
        }),
    }
}
