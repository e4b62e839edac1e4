//! The messages of `approvals.notify` on every type of channel. They contain the call character by character, its
//! deadline in words and the link.

use super::approval_buttons::waiting;
use super::smtp::{Mail, MailServer, Script};
use super::vendor::{Answer, ReceivedRequest, Vendor, answer};
use super::with_model_and;
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const LINK: &str = "https://gate.example/approve/";
/// Longer than all messages take.
const LONG: Duration = Duration::from_mins(1);
const TYPES: [&str; 8] = [
    "discord", "email", "http", "inbox", "matrix", "ntfy", "slack", "telegram",
];

/// Returns an answer that every sender takes for a success.
fn accept(_: &ReceivedRequest) -> Answer {
    let everything = json!({
        "ok": true, "result": { "message_id": 1 }, "ts": "1.1", "id": "1", "event_id": "$1",
    });
    answer(200, &everything)
}

/// A server that notifies an account of every type, with these accounts.
struct Notified {
    vendor: Vendor,
    mail: MailServer,
    owner: Actor,
    server: TestServer,
}

/// What was sent about one call.
#[derive(Default)]
struct Sent {
    /// The visible text by channel type. The parts of a message are joined.
    texts: BTreeMap<&'static str, String>,
    /// The subject of the mail, and the title on ntfy.
    titles: BTreeMap<&'static str, String>,
    /// The buttons of ntfy, on the last part.
    actions: Value,
}

impl Notified {
    async fn start(links: &str) -> Self {
        let vendor = Vendor::start(accept).await;
        let mail = MailServer::start(Script::default()).await;
        let notify = json!(TYPES).to_string();
        let variables = [
            ("SERVICE_APPROVALS__NOTIFY", notify.as_str()),
            ("SERVICE_APPROVALS__LINKS", links),
        ];
        let (server, owner) = with_model_and(&variables).await;
        let url = |path: &str| vendor.url(path);
        for (kind, fields) in [
            (
                "telegram",
                json!({ "bot_token": "123456:ABC-DEF_ghi", "chat_id": "-100123", "base_url": url("") }),
            ),
            (
                "slack",
                json!({ "bot_token": "xoxb-1", "channel": "C1", "base_url": url("/api/") }),
            ),
            (
                "discord",
                json!({ "bot_token": "abc.def", "channel_id": "42", "base_url": url("/api/v10") }),
            ),
            (
                "matrix",
                json!({ "homeserver": url("/"), "access_token": "syt_1", "room_id": "!r:example.com" }),
            ),
            ("ntfy", json!({ "url": url(""), "topic": "alerts" })),
            ("http", json!({ "url": url("/hook") })),
            (
                "email",
                json!({
                    "host": "localhost", "port": mail.port, "from": "gate@example.com",
                    "to": "owner@example.com",
                }),
            ),
        ] {
            let account = json!({ "type": kind, "label": kind, "fields": fields });
            owner.rpc("channels.create", account).await.unwrap();
        }
        Self {
            vendor,
            mail,
            owner,
            server,
        }
    }

    /// Starts a turn with a call that needs approval, and waits until every channel has received the link.
    async fn ask(&self, call: &str) -> Sent {
        let params = json!({ "text": call });
        self.owner.rpc("chat.send", params).await.unwrap();
        let mut sent = Sent::default();
        let sending = async {
            while !sent.is_complete() {
                self.take(&mut sent).await;
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(LONG, sending).await;
        assert!(in_time.is_ok(), "{:?}", sent.texts);
        if let Some(text) = sent.texts.get_mut("discord") {
            *text = without_backslashes(text);
        }
        sent
    }

    /// Takes the messages that have arrived.
    async fn take(&self, sent: &mut Sent) {
        for seen in self.vendor.take() {
            let (kind, text) = read(&seen);
            let title = seen.header("title");
            if !title.is_empty() {
                sent.titles.insert(kind, title.to_owned());
            }
            sent.texts.entry(kind).or_default().push_str(&text);
            let actions = seen.header("actions");
            if !actions.is_empty() {
                sent.actions = serde_json::from_str(actions).unwrap();
            }
        }
        for mail in self.mail.take() {
            sent.titles.insert("email", mail.header("Subject"));
            sent.texts.insert("email", text_of(&mail));
        }
        let inbox = self.owner.rpc("inbox.list", json!({})).await.unwrap();
        if let Some(text) = inbox["messages"][0]["text"].as_str() {
            sent.texts.insert("inbox", text.to_owned());
        }
    }
}

impl Sent {
    fn is_complete(&self) -> bool {
        let has_link =
            |kind: &'static str| self.texts.get(kind).is_some_and(|text| text.contains(LINK));
        TYPES.into_iter().all(has_link)
    }
}

/// Returns the type of the channel and the visible text. For Discord, this does not remove the
/// backslashes.
fn read(seen: &ReceivedRequest) -> (&'static str, String) {
    let field = |name: &str| seen.json()[name].as_str().unwrap().to_owned();
    let path = &*seen.target;
    if path.ends_with("/sendMessage") {
        ("telegram", field("text"))
    } else if path.ends_with("/chat.postMessage") {
        let text = field("text").replace("&lt;", "<").replace("&gt;", ">");
        ("slack", text.replace("&amp;", "&"))
    } else if path.starts_with("/api/v10/channels/42/") {
        ("discord", field("content"))
    } else if path.starts_with("/_matrix/") {
        ("matrix", field("body"))
    } else if path == "/hook" {
        ("http", field("text"))
    } else {
        assert_eq!(path, "/alerts");
        ("ntfy", seen.text().to_owned())
    }
}

/// Discord shows the character after a backslash.
fn without_backslashes(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let shown = if c == '\\' {
            characters.next()
        } else {
            Some(c)
        };
        plain.extend(shown);
    }
    plain
}

/// Returns the text of a mail as quoted-printable (RFC 2045, 6.7).
pub(super) fn text_of(mail: &Mail) -> String {
    assert_eq!(mail.header("Content-Transfer-Encoding"), "quoted-printable");
    let joined = mail.body().replace("=\r\n", "").replace("\r\n", "\n");
    let mut bytes = Vec::new();
    let mut pieces = joined.split('=');
    bytes.extend_from_slice(pieces.next().unwrap().as_bytes());
    for piece in pieces {
        let (hex, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(hex, 16).unwrap());
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

/// Returns the link at the end of the text.
fn link_of(text: &str) -> String {
    let (_, token) = text.trim_end().rsplit_once(LINK).unwrap();
    assert_eq!(token.len(), 43, "{text}");
    format!("{LINK}{token}")
}

#[tokio::test]
async fn every_channel_shows_the_call_its_deadline_and_its_link() {
    let notified = Notified::start("sign_in").await;
    let hidden = "1\u{202e}\u{200b}\u{e0041}\u{9b}<b>&`*_~ @everyone";
    let sent = notified.ask(&format!("calculate {hidden}")).await;
    let asked = waiting(&notified.owner).await.remove(0);
    assert_eq!(asked["arguments"]["expression"], hidden);
    let expires_at = asked["expires_at"].as_str().unwrap();
    let session = asked["session"].as_str().unwrap();
    let id = &session[session.len() - 6..];
    let (before, after) = ("calculate 1\\u{202E}\\u{200B}\\u{E0041}", "<b>&`*_~");
    let deadline = format!(
        "\n\nAnswer until {} UTC, 5 minutes after the call. Without an answer the call does not run.\nRead and answer \
         it: {LINK}",
        expires_at[..19].replace('T', " ")
    );
    let types = notified.owner.rpc("channels.types", json!({})).await;
    for about in types.unwrap()["types"].as_array().unwrap() {
        let kind = about["type"].as_str().unwrap();
        // Nobody watches the log, so it is no place for a notification.
        assert!(sent.texts.contains_key(kind) || kind == "log", "{kind}");
    }
    for (kind, text) in &sent.texts {
        // In Discord, the original would notify everyone.
        let (ping, count) = match *kind {
            "discord" => ("\\u{40}everyone", 5),
            _ => ("@everyone", 4),
        };
        let call = format!(
            "The agent default asks for approval of the tool calc:\n\n{{\n  \"expression\": \
             \"1\\u{{202E}}\\u{{200B}}\\u{{E0041}}\\u{{9B}}<b>&`*_~ {ping}\"\n}}\n\n{count} hidden characters are \
             shown as escapes.\n\nThe conversation, started in the web UI or through the API: {before}{after} {ping} \
             (ID …{id})"
        );
        assert!(text.starts_with(&call), "{kind}: {text}");
        let rest = &text[call.len()..];
        assert!(rest.starts_with(&deadline), "{kind}: {text}");
        assert!(!text.contains('\u{200b}'), "{kind}: {text}");
        assert_eq!(link_of(text), link_of(&sent.texts["inbox"]), "{kind}");
    }
    let action = json!({ "action": "view", "label": "Open", "url": link_of(&sent.texts["inbox"]) });
    assert_eq!(sent.actions, json!([action]));
    let title = "A tool call waits for approval".to_owned();
    let titles = BTreeMap::from([("email", title.clone()), ("ntfy", title)]);
    assert_eq!(sent.titles, titles);
}

#[tokio::test]
async fn the_buttons_of_ntfy_open_the_page_of_a_bearer_link_and_answer_nothing() {
    let notified = Notified::start("bearer").await;
    let sent = notified.ask("calculate 6*7").await;
    let link = link_of(&sent.texts["ntfy"]);
    let expected = json!([
        { "action": "view", "label": "Allow…", "url": format!("{link}?answer=allow") },
        { "action": "view", "label": "Deny…", "url": format!("{link}?answer=deny") },
    ]);
    assert_eq!(sent.actions, expected);
    let stranger = notified.server.remote();
    for action in expected.as_array().unwrap() {
        let url = action["url"].as_str().unwrap();
        let path = url.strip_prefix("https://gate.example").unwrap();
        let page = stranger.get(path).await;
        page.expect(200);
        assert!(page.text.contains("6*7"), "{}", page.text);
    }
    assert_eq!(waiting(&notified.owner).await.len(), 1);
}

#[tokio::test]
async fn a_long_call_is_whole_or_the_message_says_that_it_is_not() {
    const NOTE: &str =
        "…\n\nThe arguments are too long for this message. The link shows all of them.";
    for (ones, is_whole) in [(6, true), (7, false)] {
        let notified = Notified::start("bearer").await;
        // A hidden character is shown as eight.
        let expression = format!("{}{}", "\u{202e}".repeat(184), "1".repeat(ones));
        let sent = notified.ask(&format!("calculate {expression}")).await;
        let asked = waiting(&notified.owner).await.remove(0);
        let shown = asked["shown"]["arguments"].as_str().unwrap();
        assert_eq!(shown.chars().count(), 1_494 + ones);
        for (kind, text) in &sent.texts {
            assert_eq!(text.contains(shown), is_whole, "{kind}: {text}");
            assert_eq!(text.contains(NOTE), !is_whole, "{kind}: {text}");
            assert!(text.contains("184 hidden characters"), "{kind}: {text}");
            let link = link_of(text);
            let path = link.strip_prefix("https://gate.example").unwrap();
            let page = notified.server.remote().get(path).await;
            page.expect(200);
            let whole = shown.replace('"', "&quot;");
            assert!(page.text.contains(&whole), "{kind}");
        }
    }
}
