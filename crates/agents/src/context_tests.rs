use super::*;
use crate::request::tests::{answering, calling, row};

fn texts(fitted: &Fitted) -> String {
    format!("{:?}", fitted.messages)
}

fn summary(text: &str) -> Summary {
    Summary {
        text: text.to_owned(),
        origin: MessageOrigin::Model,
    }
}

/// Ten turns of about 250 tokens each.
fn long() -> Conversation {
    let mut rows = Vec::new();
    for turn in 1..=10 {
        rows.push(row(turn, "user", &format!("question {turn}.")));
        if turn < 10 {
            let answer = format!("answer {turn}. {}", "x".repeat(960));
            rows.push(row(turn, "assistant", &answer));
        }
    }
    Conversation::new(None, rows, 10, "p/m".to_owned(), false)
}

#[test]
fn what_fits_is_sent_whole() {
    let all = long().fit(None);
    assert_eq!(
        (all.messages.len(), all.left_out, all.is_least),
        (19, None, false)
    );
    assert_eq!(long().fit(Some(all.tokens)).messages, all.messages);
}

#[test]
fn older_turns_are_left_out_down_to_half() {
    let mut conversation = long();
    let whole = conversation.fit(None).tokens;
    let fitted = conversation.fit(Some(whole - 1));
    let through = fitted.left_out.unwrap();
    assert!(fitted.tokens <= whole / 2, "{}", fitted.tokens);
    assert!((4..=6).contains(&through), "{through}");
    assert!(texts(&fitted).contains("question 10."));

    conversation.summarise(through, summary("It was about tea."));
    let after = conversation.fit(Some(whole - 1));
    assert_eq!(after.left_out, None);
    assert!(texts(&after).contains("about tea"));
    // A summary is never part of a user's message.
    let ChatMessage::Assistant { text, .. } = &after.messages[1] else {
        panic!("{after:?}");
    };
    assert!(text.contains("about tea"), "{text}");
    assert!(
        matches!(&after.messages[2], ChatMessage::User { text, .. } if text.starts_with("question"))
    );

    conversation.forget(through + 1);
    assert!(texts(&conversation.fit(None)).contains("left out"));
}

#[test]
fn tool_output_is_shortened_first() {
    let rows = vec![
        row(1, "user", "one"),
        calling(1, "", &[("c", "{}")]),
        answering(1, "c", &"o".repeat(40_000)),
        row(1, "assistant", "done"),
        row(2, "user", "two"),
        calling(2, "", &[("d", "{}")]),
        answering(2, "d", &"q".repeat(40_000)),
    ];
    let conversation = Conversation::new(None, rows, 2, "p/m".to_owned(), false);
    let count = |budget, letter| {
        texts(&conversation.fit(Some(budget)))
            .matches(letter)
            .count()
    };
    assert!(count(30_000, 'o') >= 40_000);
    let fitted = texts(&conversation.fit(Some(15_000)));
    assert!(fitted.contains(&"o".repeat(2_000)) && !fitted.contains(&"o".repeat(2_001)));
    assert!(fitted.contains(&"q".repeat(40_000)));
    let fitted = texts(&conversation.fit(Some(8_000)));
    assert!(fitted.contains(&"q".repeat(16_000)) && !fitted.contains(&"q".repeat(16_001)));
    let fitted = conversation.fit(Some(700));
    assert_eq!(fitted.left_out, Some(1));
    assert!(texts(&fitted).contains(&"q".repeat(2_000)));
}

#[test]
fn at_last_there_is_the_newest_text_alone() {
    let mut rows = long().rows;
    for step in 0..5 {
        let id = format!("c{step}");
        rows.push(calling(10, &format!("step {step}"), &[(&id, "{}")]));
        rows.push(answering(10, &id, &"r".repeat(5_000)));
    }
    let conversation = Conversation::new(
        Some(summary(&"s".repeat(100))),
        rows,
        10,
        "p/m".to_owned(),
        false,
    );
    let step = conversation.fit(Some(200));
    assert!(texts(&step).contains("step 4") && !texts(&step).contains("step 3"));
    assert!(!step.is_least);
    for budget in [1, 20] {
        let least = conversation.fit(Some(budget));
        assert!(least.is_least);
        let text = "question 10.".to_owned();
        assert_eq!(least.messages, [ChatMessage::user(text)]);
    }
}

#[test]
fn less_room_never_gives_more() {
    let conversation = long();
    let mut before = u64::MAX;
    for budget in (0..3_000).rev() {
        let fitted = conversation.fit(Some(budget));
        assert!(fitted.tokens <= budget || fitted.is_least, "{budget}");
        assert!(fitted.tokens <= before, "{budget}");
        before = fitted.tokens;
    }
}
