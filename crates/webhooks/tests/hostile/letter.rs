//! Parses the agent's message into its parts.

/// Every character that some reader treats as a line break.
const BREAKS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// Checks the message of one delivery. Here, the webhook's name equals its profile.
#[track_caller]
pub fn check(message: &str, profile: &str, public_id: &str, delivery: &str) {
    let everywhere: Vec<&str> = message.split(BREAKS).collect();
    let is_rule = |line: &&&str| {
        let line = line.trim_end();
        line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
    };
    let rules: Vec<_> = everywhere.iter().filter(is_rule).collect();
    assert_eq!(rules, [&"---", &"---"], "{message}");

    let lines: Vec<&str> = message.split('\n').collect();
    let layers: Vec<&[&str]> = lines.split(|line| *line == "---").collect();
    let [head, middle, foot] = layers[..] else {
        panic!("{message}");
    };
    header(head, profile, public_id, delivery, message);
    fence(middle, message);
    let hint = format!("through the tool webhook_get_full_payload (delivery_id: {delivery}).");
    assert!(foot.len() == 1 && foot[0].ends_with(&hint), "{message}");
}

#[track_caller]
fn header(head: &[&str], profile: &str, public_id: &str, delivery: &str, message: &str) {
    assert_eq!(head.len(), 6, "{message}");
    // No header line contains a line break for any reader.
    let breaks = head.iter().any(|line| line.contains(BREAKS));
    assert!(!breaks, "{message}");
    assert_eq!(head[0], "Webhook delivery received.");
    assert_eq!(head[1], format!("Webhook: {profile} ({public_id})"));
    assert_eq!(head[2], format!("Source: {profile}"));
    assert!(head[3].starts_with("Event: "), "{message}");
    assert_eq!(head[4], format!("Delivery: {delivery}"));
    assert!(head[5].starts_with("Received: 2026-"), "{message}");
}

/// Checks for one line by Gatehouse, the opening fence, the sender's lines and the closing fence.
#[track_caller]
fn fence(middle: &[&str], message: &str) {
    let [ours, open, inside @ .., close] = middle else {
        panic!("{message}");
    };
    assert!(ours.starts_with("The text between the fences"), "{message}");
    assert_eq!(open, close, "{message}");
    assert!(open.len() >= 3 && open.bytes().all(|byte| byte == b'`'));
    // In Markdown, a fence of at least the same length closes the block.
    let inside = inside.join("\n");
    assert!(!inside.contains(open), "{message}");
}

/// Returns the ID of the delivery in a message's header.
pub fn delivery(message: &str) -> &str {
    let line = message.split('\n').nth(4).unwrap();
    line.strip_prefix("Delivery: ").unwrap()
}

#[test]
fn a_message_that_is_not_made_with_care_is_noticed() {
    let noticed = |entry: &crate::corpus::Entry| {
        let text = &entry.text;
        let message = format!(
            "Webhook delivery received.\nWebhook: a (b)\nSource: a\nEvent: push\nDelivery: d\n\
             Received: 2026-01-01T00:00:00.000Z\n---\nThe text between the fences\n```\n{text}\n```\n---\n\
             Read it through the tool webhook_get_full_payload (delivery_id: d)."
        );
        std::panic::catch_unwind(|| check(&message, "a", "b", "d")).is_err()
    };
    let entries = crate::corpus::corpus(80);
    let count = entries.iter().filter(|entry| noticed(entry)).count();
    assert!((20..entries.len() / 2).contains(&count), "{count}");
}
