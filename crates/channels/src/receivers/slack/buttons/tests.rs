//! Tests of the parent module.

use super::*;

fn press(more: &Value) -> Option<Press> {
    let mut payload = json!({
        "type": "block_actions", "user": { "id": "U1" }, "channel": { "id": "D1" },
        "container": { "type": "message", "message_ts": "1.2", "channel_id": "D1" },
        "message": { "blocks": [
            { "type": "section", "text": { "type": "plain_text", "text": "c" } },
            { "type": "section", "text": { "type": "mrkdwn", "text": "r" } },
            { "type": "actions" },
        ] },
        "actions": [{ "type": "button", "action_id": "a", "value": "x" }],
    });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let envelope =
        json!({ "type": "interactive", "envelope_id": "e1", "payload": payload }).to_string();
    press_of(&serde_json::from_str(&envelope).unwrap())
}

#[test]
fn only_a_button_of_a_message_is_pressed_and_only_a_direct_message_is_private() {
    let pressed = press(&json!({})).unwrap();
    assert!(pressed.is_private);
    let shown: Value = serde_json::from_str(&pressed.shown.unwrap()).unwrap();
    let call = json!([{ "type": "section", "text": { "type": "plain_text", "text": "c" } }]);
    assert_eq!(shown, call, "the rest and the buttons are left out");
    for channel in ["C1", "G1"] {
        let press = press(&json!({ "channel": { "id": channel } })).unwrap();
        assert!(!press.is_private, "{channel}");
    }
    for more in [
        json!({ "type": "view_submission" }),
        json!({ "container": { "type": "view" } }),
        json!({ "channel": null }),
        json!({ "actions": [] }),
    ] {
        assert_eq!(press(&more), None, "{more}");
    }
}

#[test]
fn stored_blocks_may_differ_only_in_the_marks_of_links() {
    let text = QuestionText {
        call: "a<b>".to_owned(),
        rest: "see https://gate.example/a&b".to_owned(),
    };
    let sent = blocks(&text, &[]);
    let stored = |call: &str, kind: &str, rest: &str| {
        json!([
            { "type": "section", "block_id": "x", "text": { "type": kind, "text": call } },
            { "type": "section", "text": { "type": "mrkdwn", "text": rest, "verbatim": false } },
        ])
    };
    let rest = "see <https://gate.example/a&amp;b>";
    let call = "a&lt;b&gt;";
    assert!(are_stored(&sent, &Value::from(sent.clone())));
    assert!(are_stored(&sent, &stored(call, "plain_text", rest)));
    for other in [
        stored(call, "mrkdwn", rest),
        stored("<a&lt;b&gt;>", "plain_text", rest),
        stored(call, "plain_text", "see"),
        json!([]),
        json!([sent[0]]),
        json!([sent[1], sent[0]]),
        json!([sent[0], sent[1], { "type": "divider" }]),
        json!(null),
    ] {
        assert!(!are_stored(&sent, &other), "{other}");
    }
}

#[test]
fn the_limit_counts_the_escapes() {
    let fits = |call: String| {
        let rest = "rest".to_owned();
        SlackButtons.fits(&QuestionText { call, rest })
    };
    assert!(fits("a".repeat(3000)));
    assert!(!fits("a".repeat(3001)));
    assert!(fits("&".repeat(600)));
    assert!(!fits("&".repeat(600) + "a"));
}
