//! Receives emails from a real mail server, Dovecot.

use super::{fields_at, mail, why, with};
use crate::dovecot::Dovecot;
use crate::harness::{Harness, harness};
use gatehouse_channels::{
    FetchedFile, FileLimits, ReceiveError, Received, ReceivedMessage, ReceiverState,
};
use serde_json::json;
use std::time::Duration;

/// An account whose server is Dovecot, with the state that its receiver keeps.
struct Real {
    harness: Harness,
    server: Dovecot,
    state: ReceiverState,
    position: Option<String>,
}

impl Real {
    /// Opens an account that has seen the empty mailbox. Returns `None` without Dovecot.
    async fn open(security: &str) -> Option<Self> {
        let (server, harness) = (Dovecot::start().await?, harness().await);
        let [plain, tls] = server.ports;
        let port = if security == "tls" { tls } else { plain };
        let account = with(fields_at(port), "imap_security", json!(security));
        harness.create("email", account).await;
        harness.outbound.trust_only(&server.certificate).unwrap();
        let mut opened = Self {
            harness,
            server,
            state: ReceiverState::default(),
            position: None,
        };
        let first = opened.receive().await;
        assert!(first.is_new_position && first.messages.is_empty());
        Some(opened)
    }

    async fn try_receive(&mut self) -> Result<Received, ReceiveError> {
        let channels = &self.harness.channels;
        let position = self.position.clone();
        let received = channels.receive("email", &mut self.state, position.as_deref());
        let received = received.await?;
        self.position.clone_from(&received.position);
        Ok(received)
    }

    async fn receive(&mut self) -> Received {
        self.try_receive().await.unwrap()
    }

    /// Returns the messages of so many emails. Dovecot may report an email only after a search.
    async fn messages(&mut self, count: usize) -> Vec<ReceivedMessage> {
        let mut all = Vec::new();
        while all.len() < count {
            all.extend(self.receive().await.messages);
        }
        all
    }

    /// Returns the texts of so many emails.
    async fn texts(&mut self, count: usize) -> Vec<String> {
        let messages = self.messages(count).await.into_iter();
        messages.map(|message| message.text.unwrap()).collect()
    }
}

#[tokio::test]
async fn dovecot_reports_mails_and_nothing_in_the_mailbox_changes() {
    let Some(mut real) = Real::open("tls").await else {
        return;
    };
    real.server.deliver(&mail("ann@a.example", "", "one")).await;
    real.server.deliver(&mail("ann@a.example", "", "two")).await;
    // The sender of this email is not authenticated.
    let stranger = mail("eve@a.example", "", "three").replace("dmarc=pass", "dmarc=fail");
    real.server.deliver(&stranger).await;
    let mut got = real.texts(2).await;
    got.sort_unstable();
    assert_eq!(got, ["one", "two"]);
    // A long text in one line, other characters, and a file.
    let long = "ä".repeat(30_000);
    let body = format!(
        "--b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{long}\n\
         --b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=note.txt\n\n\
         Buy milk.\n--b--"
    );
    let more = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n";
    real.server
        .deliver(&mail("ann@a.example", more, &body))
        .await;
    let message = real.messages(1).await.remove(0);
    assert_eq!(message.text.as_deref(), Some(long.as_str()));
    let ids: Vec<_> = message.files.iter().map(|file| file.id.as_str()).collect();
    let limits = FileLimits {
        each_bytes: 100,
        total_bytes: 100,
        time: Duration::from_mins(1),
    };
    let channels = &real.harness.channels;
    let files = channels.fetch_files("email", &ids, limits).await.unwrap();
    let files: Vec<_> = files.into_iter().map(Result::unwrap).collect();
    assert_eq!(files, [FetchedFile::Data(b"Buy milk.".to_vec())]);
    for mail in real.server.mails() {
        let flags = mail.split_once(":2,").map_or("", |(_, flags)| flags);
        assert_eq!(flags, "", "{mail}");
    }
    let answers = real.server.said("out");
    assert!(
        !answers.contains(" BAD ") && !answers.contains(" NO "),
        "{answers}"
    );
}

#[tokio::test]
async fn dovecot_ends_an_idle_with_a_mail_and_a_restart_loses_none() {
    let Some(mut real) = Real::open("starttls").await else {
        return;
    };
    let looked = real.receive().await;
    assert!(looked.messages.is_empty(), "it looks before it waits");
    let Real {
        harness,
        server,
        state,
        position,
    } = &mut real;
    let waits = harness
        .channels
        .receive("email", state, position.as_deref());
    let arrives = async {
        server.until_command("IDLE").await;
        server.deliver(&mail("ann@a.example", "", "news")).await;
    };
    let (received, ()) = tokio::join!(waits, arrives);
    let received = received.unwrap();
    assert_eq!(received.messages[0].text.as_deref(), Some("news"));
    *position = received.position;

    server.stop();
    let (is_final, words) = why(real.try_receive().await.unwrap_err());
    assert!(!is_final, "{words}");
    real.server
        .deliver(&mail("ann@a.example", "", "meanwhile"))
        .await;
    real.server.run().await;
    assert_eq!(real.texts(1).await, ["meanwhile"]);

    // Emails with new UIDs are not answered again.
    real.server.stop();
    real.server.renumber();
    real.server.run().await;
    real.state = ReceiverState::default();
    let anew = real.receive().await;
    assert!(anew.is_new_position && anew.messages.is_empty());
    real.server
        .deliver(&mail("ann@a.example", "", "after"))
        .await;
    assert_eq!(real.texts(1).await, ["after"]);
}

#[tokio::test]
async fn dovecot_refuses_a_wrong_password_and_a_missing_mailbox() {
    let Some(server) = Dovecot::start().await else {
        return;
    };
    let harness = harness().await;
    harness.outbound.trust_only(&server.certificate).unwrap();
    let [_, tls] = server.ports;
    for (field, value, word) in [
        ("imap_password", json!("wrong"), "password"),
        ("mailbox", json!("Missing"), "mailbox"),
    ] {
        let account = with(fields_at(tls), "imap_security", json!("tls"));
        let account = harness.create("email", with(account, field, value)).await;
        let mut state = ReceiverState::default();
        let channels = &harness.channels;
        let failed = channels.receive(&account.id, &mut state, None).await;
        let (is_final, words) = why(failed.unwrap_err());
        assert!(is_final && words.contains(word), "{words}");
        let deleted = harness
            .channels
            .delete(crate::harness::actor(), &account.id);
        deleted.await.unwrap();
    }
}
