//! Mail from a local IMAP server: logins, positions, believed senders, and the parts of an email that are read.

mod answers;
mod dovecot;
mod failures;
mod logins;
mod mails;
mod replays;

use self::mails::{authentic, date, fields_at, mail, mail_at, sent};
use crate::harness::{Harness, NOW_MS, actor, harness};
use crate::imap::{ImapServer, Offers, PASSWORD, USER};
use gatehouse_channels::{
    FetchedFile, FileLimits, ReceiveError, Received, ReceivedMessage, ReceiverState,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Longer than any step of these tests takes.
const LONG: Duration = Duration::from_mins(1);
const AUTHENTIC: &str = "mx.example.com; dmarc=pass header.from=a.example";

fn fields(server: &ImapServer) -> Value {
    fields_at(server.port)
}

fn with(mut fields: Value, name: &str, value: Value) -> Value {
    fields[name] = value;
    fields
}

/// A mailbox and the state that its receiver keeps.
struct Mailbox {
    harness: Harness,
    server: ImapServer,
    state: ReceiverState,
    position: Option<String>,
}

impl Mailbox {
    /// Opens an account that has examined the empty mailbox.
    async fn open(offers: Offers) -> Self {
        Self::of(harness().await, offers).await
    }

    async fn of(harness: Harness, offers: Offers) -> Self {
        let server = ImapServer::start(offers).await;
        harness.create("email", fields(&server)).await;
        let mut opened = Self {
            harness,
            server,
            state: ReceiverState::default(),
            position: None,
        };
        let first = opened.receive().await;
        assert!(first.is_new_position && first.messages.is_empty());
        opened
    }

    async fn try_receive(&mut self) -> Result<Received, ReceiveError> {
        let position = self.position.clone();
        let channels = &self.harness.channels;
        let received = channels
            .receive("email", &mut self.state, position.as_deref())
            .await?;
        self.position.clone_from(&received.position);
        Ok(received)
    }

    async fn receive(&mut self) -> Received {
        self.try_receive().await.unwrap()
    }

    async fn messages(&mut self) -> Vec<ReceivedMessage> {
        self.receive().await.messages
    }

    /// Returns the message of the only email.
    async fn message(&mut self) -> ReceivedMessage {
        let mut all = self.messages().await;
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Delivers an email and returns its message, if it has one.
    async fn of_mail(&mut self, mail: &str) -> Option<ReceivedMessage> {
        self.server.deliver(mail);
        self.messages().await.pop()
    }

    /// Receives with the state after a restart.
    fn restart(&mut self) {
        self.state = ReceiverState::default();
    }
}

fn why(error: ReceiveError) -> (bool, String) {
    match error {
        ReceiveError::Later { why, .. } => (false, why),
        ReceiveError::Stopped { why } => (true, why),
        ReceiveError::Sealed => panic!("it is not sealed"),
    }
}

#[tokio::test]
async fn a_mail_becomes_a_message_and_stays_as_it_is() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let more = "Subject: Tea\nReferences: <0@x.example>\n";
    mailbox.server.deliver(&mail(
        "Ann Ä <Ann@a.example>",
        more,
        "Is there tea?\n-- \nAnn",
    ));
    let message = mailbox.message().await;
    assert_eq!(
        (message.person.as_str(), message.chat.as_str()),
        ("ann@a.example", "ann@a.example")
    );
    assert_eq!(message.name, "Ann Ä");
    assert_eq!(message.text.as_deref(), Some("Tea\n\nIs there tea?"));
    assert!(
        message.is_own && !message.is_group && message.answer.is_none() && message.files.is_empty()
    );
    assert!(message.thread.is_some());
    // The client sent no command that changes the mailbox and no malformed command.
    assert_eq!(mailbox.server.refused(), Vec::<String>::new());
    let log = mailbox.server.log();
    assert!(log.contains(&"EXAMINE \"INBOX\"".to_owned()), "{log:?}");
    assert!(
        !log.iter()
            .any(|it| it.starts_with("SELECT") || it.contains("STORE"))
    );
    assert!(
        log.iter()
            .filter(|it| it.contains("FETCH"))
            .all(|it| it.contains("PEEK"))
    );
}

#[tokio::test]
async fn old_mail_is_not_answered_and_a_position_survives_a_restart() {
    for no_next in [false, true] {
        let server = ImapServer::start(Offers {
            no_next,
            ..Offers::default()
        })
        .await;
        let harness = harness().await;
        harness.create("email", fields(&server)).await;
        server.deliver(&mail("ann@a.example", "", "old"));
        let mut mailbox = Mailbox {
            harness,
            server,
            state: ReceiverState::default(),
            position: None,
        };
        assert!(mailbox.messages().await.is_empty());
        mailbox.restart();
        mailbox
            .server
            .deliver(&mail("ann@a.example", "", "meanwhile"));
        let message = mailbox.message().await;
        assert_eq!(message.text.as_deref(), Some("meanwhile"));
        // The same email has the same ID.
        mailbox.position = mailbox.position.map(|it| it.replace(" 7 2", " 7 1"));
        mailbox.restart();
        assert_eq!(mailbox.message().await.message_id, message.message_id);
        // With new UIDs, the existing emails count as old.
        mailbox.server.renumber(8);
        mailbox.restart();
        let renumbered = mailbox.receive().await;
        assert!(renumbered.messages.is_empty() && renumbered.is_new_position);
        mailbox.server.deliver(&mail("ann@a.example", "", "new"));
        let new = mailbox.message().await;
        assert_eq!(new.text.as_deref(), Some("new"));
        assert_ne!(new.message_id, message.message_id);
    }
}

#[tokio::test]
async fn another_mailbox_has_its_own_position() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    mailbox.server.deliver(&mail("ann@a.example", "", "one"));
    mailbox.message().await;
    // The same server under another name. UIDVALIDITY and UIDs are equal by chance.
    let change = json!({ "imap_host": "127.0.0.1", "imap_password": PASSWORD });
    let change = gatehouse_channels::AccountChange {
        fields: crate::harness::object(change),
        ..Default::default()
    };
    mailbox
        .harness
        .channels
        .update(actor(), true, "email", change)
        .await
        .unwrap();
    mailbox.restart();
    mailbox.server.deliver(&mail("ann@a.example", "", "two"));
    let received = mailbox.receive().await;
    assert!(received.is_new_position && received.messages.is_empty());
}

fn results(value: &str) -> String {
    format!("Authentication-Results: {value}\n")
}

const FROM: &str = "From: ann@a.example\n";
const OTHER: &str = "other.example; dmarc=pass header.from=a.example";
const FAILED: &str = "mx.example.com; dmarc=fail header.from=a.example";

/// Returns headers of emails that are not answered, with the reasons.
fn ignored() -> impl Iterator<Item = (&'static str, String)> {
    let from = FROM;
    [
        ("no results", from.to_owned()),
        ("another server's results", results(OTHER) + from),
        (
            "the sender's results below those of the server",
            results(FAILED) + &results(AUTHENTIC) + from,
        ),
        (
            "results of another domain",
            results("mx.example.com; dmarc=pass header.from=b.example") + from,
        ),
        (
            "results without a domain",
            results("mx.example.com; dmarc=pass") + from,
        ),
        (
            "a signature that the sender's envelope may contain",
            results("mx.example.com; spf=pass smtp.mailfrom=x; dkim=pass header.d=a.example")
                + from,
        ),
        (
            "a second From",
            results(AUTHENTIC) + from + "From: boss@b.example\n",
        ),
        (
            "two addresses",
            results(AUTHENTIC) + "From: ann@a.example, boss@b.example\n",
        ),
        ("no From", results(AUTHENTIC)),
        (
            "a display name that looks like an address",
            results(AUTHENTIC) + "From: ann@a.example <x@b.example>\n",
        ),
        (
            "this account",
            results("mx.example.com; dmarc=pass header.from=example.com")
                + "From: gatehouse@example.com\n",
        ),
        (
            "this user",
            results("mx.example.com; dmarc=pass header.from=example.com")
                + "From: Gate@example.com\n",
        ),
        (
            "a bounce",
            results(AUTHENTIC) + "From: MAILER-DAEMON@a.example\n",
        ),
        (
            "a bounce by its path",
            "Return-Path: <>\n".to_owned() + &results(AUTHENTIC) + from,
        ),
        (
            "a responder",
            results(AUTHENTIC) + from + "Auto-Submitted: auto-replied\n",
        ),
        (
            "a list",
            results(AUTHENTIC) + from + "List-Id: <l.a.example>\n",
        ),
        (
            "a bulk mail",
            results(AUTHENTIC) + from + "Precedence: bulk\n",
        ),
    ]
    .into_iter()
}

#[tokio::test]
async fn only_authenticated_people_are_believed() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    for (why, header) in ignored() {
        let mail = format!("{header}{}\nhello\n", sent(NOW_MS));
        assert_eq!(mailbox.of_mail(&mail).await, None, "{why}");
    }
    // Only headers were read.
    assert!(
        !mailbox
            .server
            .log()
            .iter()
            .any(|it| it.contains("BODY.PEEK[]"))
    );
    let good = results(OTHER) + &results(AUTHENTIC) + &results(FAILED) + FROM;
    let good = format!("{good}{}\nhello\n", sent(NOW_MS));
    assert!(mailbox.of_mail(&good).await.is_some());
    let raw = "From: boss@a.example\rX: y\r\n";
    mailbox.server.deliver_raw(format!(
        "{}{raw}\r\nhello\r\n",
        (results(AUTHENTIC) + &sent(NOW_MS)).replace('\n', "\r\n")
    ));
    assert!(mailbox.messages().await.is_empty(), "a bare CR");
}

#[tokio::test]
async fn a_header_has_a_limit() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let start = authentic("ann@a.example") + &sent(NOW_MS) + "X: ";
    let start = start.replace('\n', "\r\n");
    let of = |length: usize| format!("{start}{}\r\n\r\n", "x".repeat(length - start.len() - 4));
    mailbox.server.deliver_raw(of(64 * 1024) + "hello\r\n");
    assert_eq!(mailbox.message().await.text.as_deref(), Some("hello"));
    mailbox.server.deliver_raw(of(64 * 1024 + 1) + "hello\r\n");
    assert!(mailbox.messages().await.is_empty());
}

#[tokio::test]
async fn a_mail_has_limits_with_an_answer() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let limit = 25 * 1024 * 1024;
    let start = mail(
        "ann@a.example",
        "Content-Type: multipart/mixed; boundary=b\n",
        "--b\n\nhello\n--b\nContent-Type: application/zip; name=a.zip\n",
    );
    let start = start.replace('\n', "\r\n");
    let of = |length: usize| format!("{start}{}", "x".repeat(length - start.len()));
    mailbox.server.deliver_raw(of(limit));
    let most = mailbox.message().await;
    assert_eq!((most.text.as_deref(), most.answer), (Some("hello"), None));
    assert_eq!(most.files[0].name, "a.zip");
    mailbox.server.deliver_raw(of(limit + 1));
    let larger = mailbox.message().await;
    assert!(larger.answer.unwrap().contains("25 MiB") && larger.text.is_none());
    let text = mail("ann@a.example", "", &"x".repeat(300 * 1024));
    let long = mailbox.of_mail(&text).await.unwrap();
    assert!(
        long.answer.unwrap().contains("64 KiB"),
        "the rest was not fetched"
    );
    assert!(
        mailbox
            .server
            .log()
            .iter()
            .all(|it| !it.contains("<0.26214400>"))
    );
}

#[tokio::test]
async fn files_are_fetched_when_the_message_is_answered() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let body = "--b\nContent-Type: text/plain\n\nSee this.\n--b\nContent-Type: text/plain\n\
                Content-Disposition: attachment; filename=note.txt\n\nBuy milk.\n--b\nContent-Type: text/csv\n\
                Content-Disposition: attachment; filename=b.csv\n\n1,2\n--b--";
    mailbox.server.deliver(&mail(
        "ann@a.example",
        "Content-Type: multipart/mixed; boundary=b\n",
        body,
    ));
    let message = mailbox.message().await;
    let names: Vec<_> = message.files.iter().map(|file| &*file.name).collect();
    assert_eq!(message.text.as_deref(), Some("See this."));
    assert_eq!(names, ["note.txt", "b.csv"]);
    let channels = &mailbox.harness.channels;
    let ids: Vec<_> = message.files.iter().map(|file| &*file.id).collect();
    let limits = |each_bytes, total_bytes| FileLimits {
        each_bytes,
        total_bytes,
        time: LONG,
    };
    let (milk, table) = (b"Buy milk.".to_vec(), b"1,2".to_vec());
    let (milk, table) = (FetchedFile::Data(milk), FetchedFile::Data(table));
    let before = mailbox.server.log().len();
    for (limits, expected) in [
        (limits(9, 12), [milk.clone(), table.clone()]),
        (limits(8, 12), [FetchedFile::TooLarge, table]),
        (limits(9, 11), [milk, FetchedFile::TooMuch]),
    ] {
        let fetched = channels.fetch_files("email", &ids, limits).await.unwrap();
        let fetched: Vec<_> = fetched.into_iter().map(Result::unwrap).collect();
        assert_eq!(fetched, expected, "{limits:?}");
    }
    let log = mailbox.server.log();
    let fetches = log[before..].iter().filter(|it| it.contains("UID FETCH"));
    assert_eq!(
        fetches.count(),
        3,
        "the mail is fetched once for all its files"
    );
    let of_other = ids[0].replace("-7-", "-8-");
    let of_other = [of_other.as_str()];
    let failed = channels.fetch_files("email", &of_other, limits(9, 9)).await;
    assert!(failed.is_err());
    assert_eq!(mailbox.server.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_does_not_arrive_in_time_is_given_up() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    let body = "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nhi\n--b--";
    let more = "Content-Type: multipart/mixed; boundary=b\n";
    mailbox.server.deliver(&mail("ann@a.example", more, body));
    let file = mailbox.message().await.files.remove(0);
    mailbox.server.set(|offers| offers.stops = true);
    let channels = &mailbox.harness.channels;
    let limits = FileLimits {
        each_bytes: 9,
        total_bytes: 9,
        time: Duration::from_millis(50),
    };
    let failed = channels
        .fetch_files("email", &[file.id.as_str()], limits)
        .await;
    assert!(failed.unwrap_err().to_string().contains("in time"));
}

#[tokio::test]
async fn new_mail_ends_idle_and_a_long_idle_is_renewed() {
    let mut mailbox = Mailbox::open(Offers::default()).await;
    assert!(
        mailbox.messages().await.is_empty(),
        "it looks before it waits"
    );
    let server = mailbox.server.clone();
    let clock = std::sync::Arc::clone(&mailbox.harness.clock);
    let watched = async {
        server.seen("IDLE", 1).await;
        // The client may not have stored the start time of IDLE yet.
        while server.count("IDLE") < 2 {
            clock.advance(Duration::from_mins(10));
            server.still_here();
            tokio::task::yield_now().await;
        }
        let now = gatehouse_domain::Clock::now(&*clock).as_millis();
        server.deliver(&mail_at(now, "ann@a.example", "", "hello"));
    };
    let watched = tokio::time::timeout(LONG, watched);
    let (message, in_time) = tokio::join!(mailbox.message(), watched);
    assert!(in_time.is_ok());
    assert_eq!(message.text.as_deref(), Some("hello"));
    assert_eq!(server.refused(), Vec::<String>::new());
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_server_without_idle_is_asked() {
    let offers = Offers {
        idle: false,
        plain: false,
        ..Offers::default()
    };
    let mut mailbox = Mailbox::open(offers).await;
    mailbox.server.deliver(&mail("ann@a.example", "", "hello"));
    assert_eq!(mailbox.message().await.text.as_deref(), Some("hello"));
    assert_eq!(mailbox.server.count("IDLE"), 0);
    assert_eq!(mailbox.server.count("LOGIN"), 1);
    assert_eq!(mailbox.server.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_broken_connection_loses_nothing() {
    let mut mailbox = Mailbox::open(Offers {
        sasl_ir: false,
        ..Offers::default()
    })
    .await;
    mailbox.server.deliver(&mail("ann@a.example", "", "one"));
    mailbox.server.deliver(&mail("ann@a.example", "", "two"));
    for _ in 0..2 {
        mailbox.server.cut_fetches(1);
        let (is_final, words) = why(mailbox.try_receive().await.unwrap_err());
        assert!(!is_final && words.contains("ended"), "{words}");
    }
    let texts: Vec<_> = mailbox
        .messages()
        .await
        .into_iter()
        .map(|it| it.text.unwrap())
        .collect();
    assert_eq!(texts, ["one", "two"]);
    // The end of a connection that has worked is not an error.
    let server = mailbox.server.clone();
    mailbox.harness.clock.advance(Duration::from_mins(1));
    let ended = async {
        server.seen("IDLE", 1).await;
        server.end_connections();
    };
    let (received, ()) = tokio::join!(mailbox.receive(), ended);
    assert!(received.messages.is_empty());
    server.deliver(&mail("ann@a.example", "", "three"));
    assert_eq!(mailbox.message().await.text.as_deref(), Some("three"));
}
