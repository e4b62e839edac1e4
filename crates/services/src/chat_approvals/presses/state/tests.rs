use super::*;

fn press(id: usize) -> Press {
    Press {
        id: id.to_string(),
        ..Press::default()
    }
}

#[test]
fn presses_wait_in_order_and_one_task_works_on_an_account() {
    let presses = Presses::default();
    assert!(presses.push("a", (1..MAX_QUEUED).map(press).collect()));
    assert!(!presses.push("a", vec![press(MAX_QUEUED), press(MAX_QUEUED + 1)]));
    assert!(presses.push("b", vec![press(0)]));
    for id in 1..=MAX_QUEUED {
        assert_eq!(presses.pop("a"), Some(press(id)));
    }
    assert_eq!(presses.pop("a"), None, "one too many is dropped");
    assert!(presses.push("a", vec![press(0)]));
}

fn answer_place(person: &str) -> ButtonRecipient {
    ButtonRecipient {
        account: "a".to_owned(),
        chat: format!("chat {person}"),
        person: person.to_owned(),
    }
}

#[tokio::test]
async fn only_the_answer_that_decides_is_named_and_only_in_its_chat() {
    let presses = Presses::default();
    let id = ApprovalId::from_text("apr_1");
    let (first, second) = (answer_place("1"), answer_place("2"));
    presses.note_answer(&id, &first, "one".to_owned());
    presses.note_answer(&id, &second, "two".to_owned());
    let decide = async {
        presses.decide_answer(&id, &first, true);
        presses.decide_answer(&id, &second, false);
    };
    // The question of the second chat ends while the answer in that chat is undecided.
    let (named, ()) = tokio::join!(presses.take_answer(&id, &second), decide);
    assert_eq!(named, None);
    let taken = presses.take_answer(&id, &first).await;
    assert_eq!(taken.as_deref(), Some("one"));
    assert_eq!(presses.take_answer(&id, &first).await, None);
}

#[test]
fn closed_messages_are_remembered_within_a_limit() {
    let presses = Presses::default();
    let at = |number: usize| MessageAt::of(&answer_place("1"), &number.to_string());
    for number in 0..MAX_CLOSED {
        presses.note_closed(at(number));
    }
    presses.note_closed(at(1));
    assert!(presses.is_closed(&at(0)));
    presses.note_closed(at(MAX_CLOSED));
    assert!(!presses.is_closed(&at(0)) && presses.is_closed(&at(1)));
    presses.forget_closed(&at(1));
    assert!(!presses.is_closed(&at(1)));
}

#[test]
fn a_refused_person_is_recorded_once_an_hour_and_memory_is_bounded() {
    let presses = Presses::default();
    assert!(presses.is_recorded("a", "1", 0));
    assert!(!presses.is_recorded("a", "1", REFUSED_MS - 1));
    assert!(presses.is_recorded("b", "1", REFUSED_MS - 1));
    assert!(presses.is_recorded("a", "1", REFUSED_MS));
    for person in 2..MAX_REFUSED {
        assert!(presses.is_recorded("a", &person.to_string(), REFUSED_MS));
    }
    assert!(!presses.is_recorded("a", "one more", REFUSED_MS));
    assert!(presses.is_recorded("a", "one more", 2 * REFUSED_MS));
}
