//! Tool calls that are approved from Slack, Discord and Matrix. Tests each rule with each vendor.

mod own_rules;

use super::approval_buttons::{ANSWERS, CANNOT, GONE, refused, rows, trust, waiting};
use super::discord_server::Discord;
use super::inbound::{approve, code_of, receive_through, session_of};
use super::matrix_server::Matrix;
use super::slack_server::Slack;
use gatehouse_agents::{AgentsSettings, ButtonRecipient};
use gatehouse_domain::id::ApprovalId;
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

/// A message of the bot as a person sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub text: String,
    /// The labels of the buttons and the data that a press reports.
    pub buttons: Vec<(String, String)>,
}

impl Seen {
    fn labels(&self) -> Vec<&str> {
        self.buttons.iter().map(|(label, _)| &**label).collect()
    }

    fn data(&self, label: &str) -> String {
        let mut buttons = self.buttons.iter();
        buttons.find(|(it, _)| it == label).expect(label).1.clone()
    }
}

/// A fake vendor whose messages have buttons. Its person identifies a chat, and a number from 1 identifies a message of
/// the bot.
pub trait ButtonVendor: Sized {
    const KIND: &'static str;
    const PERSON: &'static str;
    const OTHER: &'static str;
    /// Whether the press of a copy in another chat reaches the bot.
    const HAS_COPIES: bool = true;

    /// Whether the press of another person in the chat reaches the bot.
    const SEES_OTHERS: bool = true;

    async fn begin() -> Self;

    fn account(&self) -> Value;

    /// Returns the field of an account that names the direct chat with a person, and its value.
    fn chat(person: &str) -> (&'static str, String);

    /// Waits until the bot receives.
    async fn ready(&self) {}

    /// Makes a person write for the first time.
    fn greet(&self, person: &str);

    fn say(&self, person: &str, text: &str);

    fn count(&self) -> usize;

    async fn text(&self, number: usize) -> String;

    /// Waits until a message looks like this.
    async fn seen(&self, number: usize, is_it: impl Fn(&Seen) -> bool) -> Seen;

    /// Makes a person press a button, or forge a press.
    fn press_data(&self, person: &str, at: (&str, usize), data: &str);

    /// Waits until the bot has read the sent data, for vendors that report it.
    async fn processed(&self) {}

    /// Removes all members except the person and the bot from the direct chat.
    fn is_alone(&self, _person: &str) {}

    /// Waits until the results of this many presses were shown to people.
    async fn press_answer(&self, count: usize) -> Vec<String>;

    /// Questions are stored without digits from now on.
    fn garble(&self);
}

struct Chat<V> {
    vendor: V,
    server: TestServer,
    owner: Actor,
}

impl<V: ButtonVendor> Chat<V> {
    /// Returns a server with a trusted person.
    async fn start() -> Self {
        let vendor = V::begin().await;
        let (server, owner) = receive_through(V::KIND, vendor.account()).await;
        vendor.ready().await;
        let chat = Self {
            vendor,
            server,
            owner,
        };
        chat.pair(V::PERSON, true).await;
        chat
    }

    async fn pair(&self, person: &str, trusted: bool) {
        let sent = self.vendor.count();
        self.vendor.greet(person);
        let code = code_of(&self.vendor.text(sent + 1).await);
        let paired = approve(&self.owner, &code, trusted).await;
        assert_eq!(paired["person"], person);
    }

    /// Makes the person write. Returns the number of the answer or the question.
    async fn say(&self, text: &str) -> usize {
        let number = self.vendor.count() + 1;
        self.vendor.say(V::PERSON, text);
        self.vendor.text(number).await;
        number
    }

    async fn offered(&self, number: usize, labels: &[&str]) -> Seen {
        self.vendor.seen(number, |it| it.labels() == labels).await
    }

    /// Makes the person ask for a calculation. Returns the question when it has its buttons.
    async fn ask(&self, text: &str) -> (usize, Seen) {
        let number = self.say(text).await;
        let mut own = ANSWERS;
        if V::KIND == "matrix" {
            // The bot has reacted with Deny first.
            own.swap(0, 1);
        }
        (number, self.offered(number, &own).await)
    }

    fn press(&self, number: usize, data: &str) {
        let at = (V::PERSON, number);
        self.vendor.press_data(V::PERSON, at, data);
    }

    /// Waits until a question has this result and no buttons.
    async fn closed(&self, number: usize, end: &str) -> Seen {
        let is_it = |it: &Seen| it.buttons.is_empty() && it.text.ends_with(end);
        self.vendor.seen(number, is_it).await
    }

    async fn deny_on_page(&self) {
        let asked = &waiting(&self.owner).await[0];
        let deny = json!({ "id": asked["id"], "allow": false });
        self.owner.rpc("approval.resolve", deny).await.unwrap();
    }
}

/// Checks that a call is answered once, and that the message shows the call and the person who answered.
async fn answered_once<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let (question, shown) = chat.ask("calculate 6*7&lt;<b>&`*_~").await;
    let call = "The agent default asks for approval of the tool calc:\n\n{\n  \"expression\": \"6*7&lt;<b>&`*_~\"\n}\n\nAnswer until 20";
    assert!(shown.text.starts_with(call), "{}", shown.text);
    chat.press(question, &shown.data("Deny"));
    let end = "Denied. The call does not run.";
    let closed = chat.closed(question, end).await;
    assert!(closed.text.contains("\n\nAnswered by "), "{}", closed.text);
    chat.vendor.text(question + 1).await;
    chat.press(question, &shown.data("Allow"));
    assert_eq!(chat.vendor.press_answer(1).await, [GONE]);
    chat.closed(question, end).await;

    let (question, shown) = chat.ask("calculate 6*7").await;
    chat.press(question, &shown.data("Allow"));
    chat.closed(question, "Allowed. The call runs.").await;
    assert_eq!(chat.vendor.text(question + 1).await, "pong");
    let key = format!("channel:{}:{}", V::KIND, V::PERSON);
    let session = session_of(&chat.owner, &key).await;
    let history = json!({ "session": session["id"] });
    let history = chat.owner.rpc("chat.history", history).await.unwrap();
    let mut outputs = history["messages"].as_array().unwrap().iter().rev();
    let output = outputs.find(|message| message["role"] == "tool").unwrap();
    assert_eq!(output["content"], "42");
    let rows = rows(&chat.owner, "approval.resolved").await;
    let actor = format!("channel {} person {}", V::KIND, V::PERSON);
    assert_eq!(rows.len(), 2, "the second press changed nothing");
    assert!(rows.iter().all(|row| row["actor"] == actor), "{rows:?}");
}

/// Characters that hide or reorder text are shown as escapes, and the result shows the same call.
async fn shows_hidden<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let hidden = "1\u{202e}\u{200b}\u{e0041}\u{9b}";
    let (question, shown) = chat.ask(&format!("calculate {hidden}")).await;
    let asked = waiting(&chat.owner).await.remove(0);
    assert_eq!(asked["arguments"]["expression"], hidden);
    let call = "\"1\\u{202E}\\u{200B}\\u{E0041}\\u{9B}\"\n}\n\n4 hidden characters are shown as escapes.\n\n";
    assert!(shown.text.contains(call), "{}", shown.text);
    assert!(shown.text.contains("Answer until 20"), "{}", shown.text);
    chat.deny_on_page().await;
    let closed = chat
        .closed(question, "Denied. The call does not run.")
        .await;
    assert!(closed.text.contains(call), "{}", closed.text);
}

/// Other people cannot answer, and neither can a person whose trust has ended.
async fn only_the_person<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let (question, shown) = chat.ask("calculate 6*7").await;
    let allow = shown.data("Allow");
    // Another person in the person's chat, twice.
    for _ in 0..2 {
        chat.vendor
            .press_data(V::OTHER, (V::PERSON, question), &allow);
    }
    let mut press_answer = 0;
    if V::SEES_OTHERS {
        let refusals = refused(&chat.owner, 1).await;
        assert_eq!(refusals[0]["detail"]["person"], V::OTHER);
        assert_eq!(chat.vendor.press_answer(1).await, [CANNOT]);
        press_answer = 1;
    }
    chat.vendor.processed().await;
    chat.vendor.is_alone(V::PERSON);
    chat.pair(V::OTHER, true).await;
    if V::HAS_COPIES {
        // Another trusted person, with a copy in their own chat.
        chat.vendor
            .press_data(V::OTHER, (V::OTHER, question), &allow);
        assert_eq!(chat.vendor.press_answer(2).await, [CANNOT, GONE]);
        press_answer = 2;
    }
    assert_eq!(waiting(&chat.owner).await.len(), 1);
    trust(&chat.owner, V::PERSON, false).await;
    chat.press(question, &allow);
    let refusals = refused(&chat.owner, 1 + usize::from(V::SEES_OTHERS)).await;
    assert_eq!(refusals[0]["detail"]["person"], V::PERSON);
    assert_eq!(
        chat.vendor.press_answer(press_answer + 1).await[press_answer],
        CANNOT
    );
    assert_eq!(waiting(&chat.owner).await.len(), 1);
}

/// Checks that a call whose text the vendor stores differently cannot be allowed, and expires.
async fn only_exact<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    chat.vendor.garble();
    let question = chat.say("calculate 6*7").await;
    let link = "https://gate.example/approve/";
    let is_link = |it: &Seen| it.buttons.is_empty() && it.text.contains(link);
    let seen = chat.vendor.seen(question, is_link).await;
    assert!(seen.text.contains("cannot show it exactly"), "{seen:?}");
    let id = waiting(&chat.owner).await[0]["id"].clone();
    let place = ButtonRecipient {
        account: V::KIND.to_owned(),
        chat: V::chat(V::PERSON).1,
        person: V::PERSON.to_owned(),
    };
    let agents = &chat.server.app().services().agents;
    let id = ApprovalId::from_text(id.as_str().unwrap());
    // The token of the only button that was sent.
    let token = agents.button_token(&id, &place, "deny").unwrap();
    let presses = match V::KIND {
        "matrix" => ANSWERS[..2]
            .iter()
            .map(|label| (*label).to_owned())
            .collect(),
        _ => vec![format!("{token}:allow"), format!("{token}:session")],
    };
    for (number, press) in presses.iter().enumerate() {
        chat.press(question, press);
        assert_eq!(chat.vendor.press_answer(number + 1).await[number], GONE);
    }
    assert_eq!(waiting(&chat.owner).await.len(), 1);
    chat.deny_on_page().await;
}

/// Checks that a question ends when the call is answered elsewhere, and when it expires.
async fn ended_elsewhere<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let (question, before) = chat.ask("calculate 6*7").await;
    chat.deny_on_page().await;
    let end = "}\n\nAnswered in the web UI or through the API.\nDenied. The call does not run.";
    chat.closed(question, end).await;
    chat.vendor.text(question + 1).await;
    let agents = &chat.server.app().services().agents;
    agents.update_settings(AgentsSettings {
        approval_wait: Duration::from_secs(1),
        require_approval: vec!["calc".to_owned()],
        ..AgentsSettings::default()
    });
    let question = chat.say("calculate 6*7").await;
    let end = "Nobody answered in time. The call does not run.";
    chat.closed(question, end).await;
    chat.press(question, &before.data("Allow"));
    assert_eq!(chat.vendor.press_answer(1).await, [GONE]);
    chat.closed(question, end).await;
}

/// Checks that a person's permissions for later calls end with the trust in that person.
async fn always_ends<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let allowed = async || {
        let listed = chat.owner.rpc("approval.remembered", json!({})).await;
        listed.unwrap()["calls"].as_array().unwrap().len()
    };
    for (label, again) in [
        ("Always in this session", "calculate 6*9"),
        ("Always with these arguments", "calculate 6*7"),
    ] {
        trust(&chat.owner, V::PERSON, true).await;
        let (question, shown) = chat.ask("calculate 6*7").await;
        chat.press(question, &shown.data(label));
        assert_eq!(chat.vendor.text(question + 1).await, "pong");
        let answer = chat.say(again).await;
        assert_eq!(chat.vendor.text(answer).await, "pong");
        assert_eq!(allowed().await, 1, "{label}");
        trust(&chat.owner, V::PERSON, false).await;
        assert_eq!(allowed().await, 0, "{label}");
    }
}

/// Checks that a chat of `approvals.notify` has buttons if its person is trusted.
async fn notified<V: ButtonVendor>() {
    let chat = Chat::<V>::start().await;
    let (field, value) = V::chat(V::PERSON);
    let update = json!({ "id": V::KIND, "fields": { field: value } });
    chat.owner.rpc("channels.update", update).await.unwrap();
    let notify = json!({ "key": "approvals.notify", "value": [V::KIND] });
    chat.owner.rpc("config.set", notify).await.unwrap();
    let send = json!({ "text": "calculate 6*7" });
    chat.owner.rpc("chat.send", send).await.unwrap();
    let mut labels = ANSWERS;
    if V::KIND == "matrix" {
        labels.swap(0, 1);
    }
    let shown = chat.offered(2, &labels).await;
    assert!(
        shown.text.contains("https://gate.example/approve/"),
        "{shown:?}"
    );
    let from = "The conversation, started in the web UI or through the API: calculate 6*7";
    assert!(shown.text.contains(from), "{shown:?}");
    chat.press(2, &shown.data("Allow"));
    chat.closed(2, "Allowed. The call runs.").await;
}

macro_rules! with_each_vendor {
    ($($vendor:ident $module:ident),*) => { $(
        mod $module {
            use super::*;

            #[tokio::test]
            async fn a_trusted_person_answers_each_call_once() {
                answered_once::<$vendor>().await;
            }

            #[tokio::test]
            async fn hidden_characters_are_shown_as_escapes() {
                shows_hidden::<$vendor>().await;
            }

            #[tokio::test]
            async fn only_the_person_answers_and_trust_must_last() {
                only_the_person::<$vendor>().await;
            }

            #[tokio::test]
            async fn a_text_that_the_vendor_changes_can_never_be_allowed() {
                only_exact::<$vendor>().await;
            }

            #[tokio::test]
            async fn an_answer_on_the_page_and_the_expiry_end_the_question() {
                ended_elsewhere::<$vendor>().await;
            }

            #[tokio::test]
            async fn what_a_person_always_allowed_ends_with_their_trust() {
                always_ends::<$vendor>().await;
            }

            #[tokio::test]
            async fn a_notified_chat_has_buttons_for_its_trusted_person() {
                notified::<$vendor>().await;
            }
        }
    )* };
}

with_each_vendor!(Slack slack, Discord discord, Matrix matrix);
