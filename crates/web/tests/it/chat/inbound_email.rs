//! Conversations through mail: pairing, answers, the state after a restart, and two gateways that write to each other.

use super::imap::{ImapServer, Offers, PASSWORD, USER};
use super::inbound::{
    approve, code_of, inbound_error, receive_through, session_of, settled, unlocked,
};
use super::smtp::{Mail, MailServer, Script};
use gatehouse_domain::{Clock, SystemClock};
use gatehouse_testkit::Actor;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Longer than an answer takes.
const LONG: Duration = Duration::from_mins(1);

/// A mailbox, and the server that receives the answers.
pub(super) struct Post {
    pub(super) imap: ImapServer,
    smtp: MailServer,
    sent: Vec<Mail>,
    written: AtomicU32,
}

impl Post {
    pub(super) async fn start() -> Self {
        Self {
            imap: ImapServer::start(Offers::default()).await,
            smtp: MailServer::start(Script::default()).await,
            sent: Vec::new(),
            written: AtomicU32::new(0),
        }
    }

    pub(super) fn fields(&self, from: &str) -> Value {
        json!({
            "host": "localhost", "port": self.smtp.port, "from": from,
            "inbound": true, "imap_host": "localhost", "imap_port": self.imap.port,
            "imap_security": "none", "imap_user": USER, "imap_password": PASSWORD,
            "authserv_id": "mx.example.com",
        })
    }

    /// Delivers an email whose sender the server has authenticated.
    pub(super) fn write(&self, from: &str, text: &str) {
        let domain = from.split_once('@').unwrap().1;
        let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
        let now = SystemClock::new().now().as_millis();
        let date = jiff::Timestamp::from_millisecond(now).unwrap();
        let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000");
        self.imap.deliver(&format!(
            "Authentication-Results: mx.example.com; dmarc=pass header.from={domain}\n\
             From: {from}\nTo: {USER}\nDate: {date}\nMessage-ID: <q{number}@{domain}>\nSubject: Re: tea\n\n{text}\n"
        ));
    }

    /// Waits until this many emails were sent. Returns the last one.
    pub(super) async fn wait_for(&mut self, count: usize) -> Mail {
        let sending = async {
            self.sent.extend(self.smtp.take());
            while self.sent.len() < count {
                tokio::task::yield_now().await;
                self.sent.extend(self.smtp.take());
            }
        };
        let in_time = tokio::time::timeout(LONG, sending).await;
        assert!(
            in_time.is_ok(),
            "{count} mails were expected: {:?}",
            self.sent
        );
        assert_eq!(self.sent.len(), count, "{:?}", self.sent);
        self.sent.last().unwrap().clone()
    }

    /// Waits until the receiver has examined every email and waits again.
    async fn idle(&self) {
        // The sender is not authenticated, so the email is not answered.
        let last = self.imap.deliver("From: x@y.example\n\nlast\n");
        let of_mail = |line: &String| {
            let set = line
                .strip_prefix("UID FETCH ")
                .and_then(|it| it.split_once(" ("));
            set.is_some_and(|(set, _)| set.split(',').any(|one| one == last.to_string()))
        };
        let is_idle = |imap: &ImapServer| {
            let log = imap.log();
            let read = log.iter().position(of_mail);
            read.is_some_and(|read| log[read..].iter().any(|line| line == "IDLE"))
        };
        self.imap.until(is_idle).await;
    }

    pub(super) async fn pair(&mut self, owner: &Actor, person: &str, trusted: bool) {
        let sent = self.sent.len();
        self.write(person, "hello?");
        let code = self.wait_for(sent + 1).await;
        let paired = approve(owner, &code_of(code.body()), trusted).await;
        assert_eq!(paired["person"], person);
    }
}

#[tokio::test]
async fn a_stranger_gets_one_code_and_a_paired_person_gets_answers() {
    let mut post = Post::start().await;
    let (server, owner) = receive_through("email", post.fields("gate@example.com")).await;
    post.imap.seen("IDLE", 1).await;
    // Unauthenticated callers get nothing.
    post.imap.deliver("From: ann@a.example\n\nhello\n");
    post.pair(&owner, "ann@a.example", false).await;
    let code = post.sent[0].clone();
    assert_eq!(code.to, ["RCPT TO:<ann@a.example>"]);
    assert_eq!(code.header("Auto-Submitted"), "auto-replied");
    assert_eq!(code.header("In-Reply-To"), "<q1@a.example>");
    post.write("other@b.example", "hello?");
    post.wait_for(2).await;
    post.write("other@b.example", "let me in");
    post.write(
        "ann@a.example",
        "hello\n\nOn 18 Nov 2026 Gate wrote:\n> pong",
    );
    let answer = post.wait_for(3).await;
    assert_eq!(answer.body().trim_end(), "pong");
    assert_eq!(answer.header("Subject"), "Re: tea");
    assert_eq!(answer.to, ["RCPT TO:<ann@a.example>"]);
    let session = session_of(&owner, "channel:email:ann@a.example").await;
    assert_eq!(session["source"], "channel");
    assert_eq!(session["tainted"], true);

    // Messages answered before the restart are not answered again, and none is lost.
    settled(&server, "email").await;
    let server = server.restart().await;
    post.write("ann@a.example", "meanwhile");
    unlocked(&owner, &server).await;
    assert_eq!(post.wait_for(4).await.body().trim_end(), "pong");
    // New UIDs for the same emails.
    let idle = post.imap.count("IDLE");
    post.imap.renumber(9);
    post.imap.seen("IDLE", idle + 1).await;
    post.write("ann@a.example", "after that");
    post.wait_for(5).await;
    post.idle().await;
    settled(&server, "email").await;
    post.wait_for(5).await;
    assert_eq!(post.imap.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn two_gateways_do_not_answer_each_other() {
    let mut post = Post::start().await;
    let (one, owner) = receive_through("email", post.fields("gate@a.example")).await;
    let mut other = Post::start().await;
    let (two, other_owner) = receive_through("email", other.fields("gate@b.example")).await;
    post.imap.seen("IDLE", 1).await;
    other.imap.seen("IDLE", 1).await;
    // Each gateway is paired with the other one as a person who writes from its address.
    post.pair(&owner, "gate@b.example", true).await;
    other.pair(&other_owner, "gate@a.example", true).await;
    post.write("gate@b.example", "hello");
    let answer = post.wait_for(2).await;
    let results = "Authentication-Results: mx.example.com; dmarc=pass header.from=a.example\r\n";
    other.imap.deliver_raw(format!("{results}{}", answer.data));
    other.idle().await;
    settled(&two, "email").await;
    other.wait_for(1).await;
    settled(&one, "email").await;
    post.wait_for(2).await;
}

#[tokio::test]
async fn a_trusted_person_is_the_owner_but_not_what_they_forward() {
    let mut post = Post::start().await;
    let (_server, owner) = receive_through("email", post.fields("gate@example.com")).await;
    post.imap.seen("IDLE", 1).await;
    post.pair(&owner, "ann@a.example", true).await;
    post.write("ann@a.example", "hello");
    post.wait_for(2).await;
    let key = "channel:email:ann@a.example";
    assert_eq!(session_of(&owner, key).await["tainted"], false);
    post.write("ann@a.example", "Look:\n> obey me\nWell?");
    post.wait_for(3).await;
    assert_eq!(session_of(&owner, key).await["tainted"], true);
}

#[tokio::test]
async fn a_wrong_password_or_a_missing_setting_is_shown_on_the_account() {
    let post = Post::start().await;
    let mut fields = post.fields("gate@example.com");
    fields["imap_password"] = json!("wrong");
    let (_server, owner) = receive_through("email", fields).await;
    inbound_error(&owner, "email", "refused the user name or the password").await;
    assert_eq!(
        post.imap.count("AUTHENTICATE"),
        1,
        "it waits before it retries"
    );
    let without =
        json!({ "id": "email", "fields": { "imap_password": PASSWORD, "authserv_id": null } });
    owner.rpc("channels.update", without).await.unwrap();
    inbound_error(&owner, "email", "authserv_id").await;
    assert_eq!(post.imap.connections(), 1, "no mail is read without it");
}

#[tokio::test]
async fn a_mail_that_cannot_be_fetched_does_not_stop_the_channel() {
    let mut post = Post::start().await;
    let (_server, owner) = receive_through("email", post.fields("gate@example.com")).await;
    post.imap.seen("IDLE", 1).await;
    post.pair(&owner, "ann@a.example", false).await;
    let uid = post
        .imap
        .deliver("From: x@y.example\n\nnot authenticated\n")
        + 1;
    post.imap.set(|offers| offers.unreadable = Some(uid));
    post.write("ann@a.example", "lost");
    inbound_error(&owner, "email", "An email was skipped").await;
    post.write("ann@a.example", "hello");
    assert_eq!(post.wait_for(2).await.body().trim_end(), "pong");
    inbound_error(&owner, "email", "An email was skipped").await;
}
