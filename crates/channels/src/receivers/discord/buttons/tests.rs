//! Tests of the parent module.

use super::*;

fn press(more: &Value) -> Option<Press> {
    let mut interaction = json!({
        "id": "7", "token": "t", "type": 3, "channel_id": "142", "context": 1,
        "user": { "id": "42" }, "message": { "id": "9" }, "data": { "custom_id": "x", "component_type": 2 },
    });
    for (name, value) in more.as_object().unwrap() {
        interaction[name] = value.clone();
    }
    press_of(serde_json::from_value(interaction).unwrap())
}

#[test]
fn only_the_direct_messages_of_the_bot_are_private() {
    assert!(press(&json!({})).unwrap().is_private);
    assert!(press(&json!({ "context": null })).unwrap().is_private);
    let member = json!({ "user": { "id": "42" } });
    for more in [
        json!({ "context": 2 }),
        json!({ "guild_id": "1" }),
        json!({ "guild_id": "1", "user": null, "member": member }),
    ] {
        assert!(!press(&more).unwrap().is_private, "{more}");
    }
    for more in [
        json!({ "type": 2 }),
        json!({ "message": null }),
        json!({ "user": null }),
    ] {
        assert_eq!(press(&more), None, "{more}");
    }
}

#[test]
fn nothing_ends_the_code_block() {
    let escape = |text| DiscordButtons.escape(text);
    assert_eq!(escape("a `b` ``c``\nd").text, "a `b` ``c``\nd");
    let escaped = escape("a ```b");
    assert_eq!(
        (&*escaped.text, escaped.hidden),
        ("a \\u{60}\\u{60}\\u{60}b", 3)
    );
    assert_eq!(escape("\na").text, "\\u{A}a");
}

#[test]
fn the_limit_counts_the_code_block() {
    let fits = |length: usize| {
        let (call, rest) = ("a".repeat(length), "rest".to_owned());
        DiscordButtons.fits(&QuestionText { call, rest })
    };
    // Two fences with their line ends, and an empty line.
    let most = 2000 - 4 - 8 - 2;
    assert!(fits(most));
    assert!(!fits(most + 1));
}
