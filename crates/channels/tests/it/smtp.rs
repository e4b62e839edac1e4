//! A small SMTP server (RFC 5321, 3207, 4954). It records its input and accepts every email unless the test sets a
//! different reply for a command.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_util::task::TaskTracker;

/// A received email.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    /// The argument of EHLO.
    pub client: String,
    pub from: String,
    pub to: Vec<String>,
    pub data: String,
    pub user: String,
    pub over_tls: bool,
}

impl Mail {
    /// Returns a header's value, unfolded.
    pub fn header(&self, name: &str) -> String {
        let head = self.data.split("\r\n\r\n").next().unwrap();
        let unfolded = head.replace("\r\n ", " ");
        let start = format!("{name}: ");
        let mut found = unfolded
            .lines()
            .filter_map(|line| line.strip_prefix(&start));
        let value = found.next().unwrap_or_default().to_owned();
        assert_eq!(found.next(), None, "{name} stands there twice");
        value
    }

    pub fn body(&self) -> &str {
        self.data.split_once("\r\n\r\n").unwrap().1
    }
}

#[derive(Clone, Default)]
pub struct Script {
    /// The extensions that EHLO lists.
    pub offers: Vec<&'static str>,
    /// Replies that replace the default replies, by command.
    pub replies: BTreeMap<&'static str, &'static str>,
    /// The size of the largest email that is accepted (RFC 1870).
    pub max_bytes: Option<usize>,
    /// Whether a larger email ends the connection without a reply.
    pub closes: bool,
}

pub struct MailServer {
    pub port: u16,
    mails: Arc<Mutex<Vec<Mail>>>,
}

impl MailServer {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mails = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&mails);
        let (tasks, (tls, _)) = (TaskTracker::new(), acceptor());
        TaskTracker::new().spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (script, taken, tls) = (script.clone(), Arc::clone(&taken), tls.clone());
                tasks.spawn(async move { connection(socket, &script, &taken, &tls).await });
            }
        });
        Self { port, mails }
    }

    pub fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut self.mails.lock().unwrap())
    }

    pub fn take_one(&self) -> Mail {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

/// Accepts TLS as `localhost`. Returns the certificate too.
pub fn acceptor() -> (TlsAcceptor, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let certificate = made.cert.der().to_vec();
    (TlsAcceptor::from(Arc::new(config)), certificate)
}

async fn connection(
    socket: TcpStream,
    script: &Script,
    taken: &Mutex<Vec<Mail>>,
    tls: &TlsAcceptor,
) {
    let mut plain = BufStream::new(socket);
    say(&mut plain, "220 mail.test ESMTP").await;
    if talk(&mut plain, script, taken, false).await {
        let upgraded = tls.accept(plain.into_inner()).await;
        if let Ok(secured) = upgraded {
            talk(&mut BufStream::new(secured), script, taken, true).await;
        }
    }
}

async fn say(stream: &mut (impl AsyncWrite + Unpin), line: &str) {
    let _gone = stream.write_all(format!("{line}\r\n").as_bytes()).await;
    let _gone = stream.flush().await;
}

async fn line(stream: &mut (impl AsyncBufReadExt + Unpin)) -> Option<String> {
    let mut text = String::new();
    match stream.read_line(&mut text).await {
        Ok(read) if read > 0 => Some(text),
        _ => None,
    }
}

/// Handles commands until the connection ends or the client starts TLS.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufStream<S>,
    script: &Script,
    taken: &Mutex<Vec<Mail>>,
    over_tls: bool,
) -> bool {
    let mut mail = Mail {
        over_tls,
        ..Mail::default()
    };
    while let Some(command) = line(stream).await {
        let command = command.trim_end();
        let verb = command.split([' ', ':']).next().unwrap().to_uppercase();
        if let Some(reply) = script.replies.get(verb.as_str()) {
            say(stream, reply).await;
            continue;
        }
        match verb.as_str() {
            "EHLO" => {
                command["EHLO ".len()..].clone_into(&mut mail.client);
                for offer in &script.offers {
                    say(stream, &format!("250-{offer}")).await;
                }
                say(stream, "250 8BITMIME").await;
            }
            "STARTTLS" => {
                say(stream, "220 go ahead").await;
                return true;
            }
            "AUTH" => {
                let encoded = command.split(' ').nth(2).unwrap();
                mail.user = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
                say(stream, "235 welcome").await;
            }
            "MAIL" => {
                command.clone_into(&mut mail.from);
                say(stream, "250 ok").await;
            }
            "RCPT" => {
                mail.to.push(command.to_owned());
                say(stream, "250 ok").await;
            }
            "DATA" => {
                say(stream, "354 go ahead").await;
                mail.data = data(stream).await;
                if script.max_bytes.is_some_and(|max| mail.data.len() > max) {
                    if script.closes {
                        return false;
                    }
                    say(stream, "552 5.3.4 message too big").await;
                    continue;
                }
                taken.lock().unwrap().push(mail.clone());
                say(stream, "250 taken").await;
            }
            "QUIT" => {
                say(stream, "221 bye").await;
                return false;
            }
            _ => say(stream, "502 what?").await,
        }
    }
    false
}

/// Reads the lines up to the final dot, without dot-stuffing.
async fn data(stream: &mut (impl AsyncBufReadExt + Unpin)) -> String {
    let mut text = String::new();
    while let Some(next) = line(stream).await {
        if next == ".\r\n" {
            break;
        }
        text.push_str(next.strip_prefix('.').unwrap_or(&next));
    }
    text
}
