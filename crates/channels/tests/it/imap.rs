//! A small IMAP server (RFC 3501, 2177, 4959) with one user and one mailbox. It refuses and records input that violates
//! the grammar of RFC 3501, section 9, and commands in the wrong state.

#[path = "imap/fetch.rs"]
mod fetch;
#[path = "imap/grammar.rs"]
mod grammar;
#[path = "imap/offers.rs"]
mod offers;

pub use self::offers::Offers;

use self::grammar::{chosen, items_of, login, strings};
use self::offers::State;
use super::smtp::acceptor;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

/// Longer than any step of a client may take.
const LONG: Duration = Duration::from_mins(1);
pub const USER: &str = "gate@example.com";
pub const PASSWORD: &str = "pass \"word\\";

#[derive(Clone)]
pub struct ImapServer {
    pub port: u16,
    /// The certificate of `localhost`.
    pub certificate: Vec<u8>,
    state: Arc<Mutex<State>>,
    /// Counts changes. The text is sent to idle clients.
    news: watch::Sender<(u64, &'static str)>,
    ended: watch::Sender<u64>,
}

impl ImapServer {
    pub async fn start(offers: Offers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (tls, certificate) = acceptor();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            certificate,
            state: Arc::new(Mutex::new(State::new(offers))),
            news: watch::Sender::new((0, "")),
            ended: watch::Sender::new(0),
        };
        let (accepting, tasks) = (server.clone(), TaskTracker::new());
        TaskTracker::new().spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (server, tls) = (accepting.clone(), tls.clone());
                tasks.spawn(async move {
                    let mut ended = server.ended.subscribe();
                    tokio::select! {
                        () = server.connection(socket, &tls) => {}
                        _ = ended.changed() => {}
                    }
                });
            }
        });
        server
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock().unwrap());
        self.news.send_modify(|news| *news = (news.0 + 1, ""));
        changed
    }

    /// Adds an email and returns its UID. The lines end with LF here.
    pub fn deliver(&self, mail: &str) -> u32 {
        self.deliver_raw(mail.replace('\n', "\r\n"))
    }

    pub fn deliver_raw(&self, mail: String) -> u32 {
        self.with(|state| {
            let uid = state.next;
            state.mails.push((uid, mail));
            state.next += 1;
            uid
        })
    }

    pub fn set(&self, change: impl FnOnce(&mut Offers)) {
        self.with(|state| change(&mut state.offers));
    }

    /// Gives all emails new UIDs.
    pub fn renumber(&self, validity: u32) {
        self.with(|state| state.validity = validity);
        self.end_connections();
    }

    pub fn end_connections(&self) {
        self.ended.send_modify(|count| *count += 1);
    }

    /// Cuts the connection in the middle of the next answers to FETCH.
    pub fn cut_fetches(&self, count: usize) {
        self.with(|state| state.cuts = count);
    }

    /// Sends an untagged OK to idle clients, as Dovecot does every two minutes.
    pub fn still_here(&self) {
        self.news
            .send_modify(|news| *news = (news.0 + 1, "* OK Still here\r\n"));
    }

    pub fn log(&self) -> Vec<String> {
        self.state.lock().unwrap().log.clone()
    }

    pub fn count(&self, start: &str) -> usize {
        self.log()
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    }

    pub fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    pub fn refused(&self) -> Vec<String> {
        self.state.lock().unwrap().refused.clone()
    }

    /// Waits until the client has sent this many commands that begin with this text.
    pub async fn seen(&self, start: &str, count: usize) {
        self.until(|server| server.count(start) >= count).await;
    }

    /// Waits for a state of the server.
    pub async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let mut news = self.news.subscribe();
        let changes = async {
            while !is_so(self) {
                news.changed().await.unwrap();
            }
        };
        let in_time = tokio::time::timeout(LONG, changes).await;
        assert!(in_time.is_ok(), "the client stopped: {:?}", self.log());
    }

    async fn connection(&self, socket: TcpStream, tls: &TlsAcceptor) {
        let offers = self.with(|state| {
            state.connections += 1;
            state.offers.clone()
        });
        if offers.tls {
            if let Ok(secured) = tls.accept(socket).await {
                let mut stream = BufStream::new(secured);
                Talk::new(self, &offers, true).run(&mut stream, true).await;
            }
            return;
        }
        let mut plain = BufStream::new(socket);
        if Talk::new(self, &offers, false).run(&mut plain, true).await
            && let Ok(secured) = tls.accept(plain.into_inner()).await
        {
            let mut stream = BufStream::new(secured);
            Talk::new(self, &offers, true).run(&mut stream, false).await;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    LoggedIn,
    Selected,
}

/// One connection.
struct Talk<'a> {
    server: &'a ImapServer,
    offers: &'a Offers,
    is_secure: bool,
    stage: Stage,
    /// The number of emails that the client knows.
    reported: usize,
}

enum Next {
    Continue,
    StartTls,
    End,
}

impl<'a> Talk<'a> {
    const fn new(server: &'a ImapServer, offers: &'a Offers, is_secure: bool) -> Self {
        Self {
            server,
            offers,
            is_secure,
            stage: Stage::New,
            reported: 0,
        }
    }

    /// Returns whether TLS begins next.
    async fn run<S: AsyncRead + AsyncWrite + Unpin>(
        mut self,
        stream: &mut BufStream<S>,
        greets: bool,
    ) -> bool {
        if greets {
            say(stream, &format!("{}\r\n", self.offers.greeting)).await;
        }
        while let Some(line) = read_line(stream).await {
            match self.command(stream, &line).await {
                Next::Continue => {}
                Next::StartTls => return true,
                Next::End => return false,
            }
        }
        false
    }

    async fn command<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut BufStream<S>,
        line: &str,
    ) -> Next {
        let parsed = line
            .strip_suffix("\r\n")
            .and_then(|line| line.split_once(' '));
        let Some((tag, command)) = parsed
            .filter(|(tag, _)| !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_alphanumeric()))
        else {
            self.server
                .with(|state| state.refused.push(line.to_owned()));
            say(stream, "* BAD no command\r\n").await;
            return Next::Continue;
        };
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let verb = verb.to_ascii_uppercase();
        let shown = match verb.as_str() {
            "LOGIN" | "AUTHENTICATE" => verb.clone(),
            _ => command.to_owned(),
        };
        self.server.with(|state| state.log.push(shown));
        let answer = match (verb.as_str(), self.stage) {
            ("CAPABILITY", _) if rest.is_empty() => {
                say(
                    stream,
                    &format!("* CAPABILITY IMAP4rev1{}\r\n", self.capabilities()),
                )
                .await;
                "OK done"
            }
            ("NOOP", _) if rest.is_empty() => "OK done",
            ("LOGOUT", _) if rest.is_empty() => {
                say(stream, &format!("* BYE\r\n{tag} OK done\r\n")).await;
                return Next::End;
            }
            ("STARTTLS", Stage::New) if rest.is_empty() && self.may_start_tls() => {
                let after = self.offers.before_tls;
                say(stream, &format!("{tag} OK begin\r\n{after}")).await;
                return Next::StartTls;
            }
            ("LOGIN", Stage::New) => self.log_in(login(rest)),
            ("AUTHENTICATE", Stage::New) if self.offers.plain => {
                self.authenticate(stream, rest).await
            }
            ("EXAMINE", Stage::LoggedIn | Stage::Selected) => self.examine(stream, rest).await,
            ("UID", Stage::Selected) => match self.uid(stream, rest).await {
                Some(answer) => answer,
                None => return Next::End,
            },
            ("IDLE", Stage::Selected) if rest.is_empty() && self.offers.idle => {
                match self.idle(stream).await {
                    Some(answer) => answer,
                    None => return Next::End,
                }
            }
            _ => "BAD unknown command, wrong arguments or wrong state",
        };
        if answer.starts_with("BAD") {
            self.server
                .with(|state| state.refused.push(line.to_owned()));
        }
        say(stream, &format!("{tag} {answer}\r\n")).await;
        Next::Continue
    }

    const fn may_start_tls(&self) -> bool {
        self.offers.starttls && !self.is_secure
    }

    fn capabilities(&self) -> String {
        let offers = self.offers;
        let needs_tls = self.may_start_tls();
        let all = [
            (needs_tls, " STARTTLS LOGINDISABLED"),
            (offers.plain && !needs_tls, " AUTH=PLAIN"),
            (offers.plain && offers.sasl_ir && !needs_tls, " SASL-IR"),
            (offers.idle && self.stage != Stage::New, " IDLE"),
        ];
        let on = all.iter().filter(|(is_on, _)| *is_on);
        on.map(|(_, name)| *name).collect()
    }

    fn log_in(&mut self, given: Option<(String, String)>) -> &'static str {
        if self.may_start_tls() {
            return "NO [PRIVACYREQUIRED] use TLS";
        }
        match given {
            None => "BAD no user and password",
            Some((user, password)) if user == USER && password == PASSWORD => {
                if let Some(answer) = self.offers.login {
                    return answer;
                }
                self.stage = Stage::LoggedIn;
                "OK welcome"
            }
            Some(_) => "NO [AUTHENTICATIONFAILED] wrong password",
        }
    }

    /// RFC 4616, RFC 4959.
    async fn authenticate<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut BufStream<S>,
        rest: &str,
    ) -> &'static str {
        let given = match rest.split_once(' ') {
            Some(("PLAIN", given)) if self.offers.sasl_ir => given.to_owned(),
            None if rest == "PLAIN" => {
                say(stream, "+ \r\n").await;
                read_line(stream)
                    .await
                    .unwrap_or_default()
                    .trim_end()
                    .to_owned()
            }
            _ => return "BAD no such mechanism",
        };
        let decoded = STANDARD
            .decode(given)
            .ok()
            .and_then(|it| String::from_utf8(it).ok());
        let parts: Option<Vec<String>> =
            decoded.map(|it| it.split('\0').map(str::to_owned).collect());
        match parts.as_deref() {
            Some([id, user, password]) if id.is_empty() => {
                self.log_in(Some((user.clone(), password.clone())))
            }
            _ => "BAD no PLAIN message",
        }
    }

    async fn examine<S: AsyncWrite + Unpin>(&mut self, stream: &mut S, rest: &str) -> &'static str {
        match strings(rest).as_deref() {
            Some([name]) if name.eq_ignore_ascii_case("INBOX") => {}
            Some([_]) => {
                self.stage = Stage::LoggedIn;
                return "NO [NONEXISTENT] no such mailbox";
            }
            _ => return "BAD no mailbox",
        }
        let (validity, next, count) = self
            .server
            .with(|state| (state.validity, state.next, state.mails.len()));
        self.stage = Stage::Selected;
        self.reported = count;
        let next = if self.offers.no_next {
            String::new()
        } else {
            format!("* OK [UIDNEXT {next}] next\r\n")
        };
        say(
            stream,
            &format!(
                "* {count} EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n\
                 * OK [UIDVALIDITY {validity}] valid\r\n{next}"
            ),
        )
        .await;
        "OK [READ-ONLY] done"
    }

    async fn uid<S: AsyncWrite + Unpin>(&self, stream: &mut S, rest: &str) -> Option<&'static str> {
        let mails = self.server.with(|state| state.mails.clone());
        let bad = Some("BAD arguments");
        if let Some(set) = rest.strip_prefix("SEARCH UID ") {
            let Some(chosen) = chosen(set, &mails) else {
                return bad;
            };
            let uids: Vec<_> = chosen.iter().map(|(_, uid, _)| uid.to_string()).collect();
            let uids = format!("* SEARCH {}", uids.join(" "));
            say(stream, &format!("{}\r\n", uids.trim_end())).await;
            return Some("OK done");
        }
        let Some((set, items)) = rest
            .strip_prefix("FETCH ")
            .and_then(|it| it.split_once(' '))
        else {
            return bad;
        };
        let Some((chosen, items)) = chosen(set, &mails).zip(items_of(items)) else {
            return bad;
        };
        self.fetch(stream, chosen, items).await
    }

    /// RFC 2177.
    async fn idle<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut BufStream<S>,
    ) -> Option<&'static str> {
        let mut news = self.server.news.subscribe();
        news.mark_changed();
        say(stream, "+ idling\r\n").await;
        loop {
            tokio::select! {
                filled = stream.fill_buf() => {
                    if !filled.is_ok_and(|filled| !filled.is_empty()) {
                        return None;
                    }
                    let line = read_line(stream).await?;
                    return Some(if line == "DONE\r\n" { "OK done" } else { "BAD no DONE" });
                }
                changed = news.changed() => {
                    changed.ok()?;
                    let (_, words) = *news.borrow_and_update();
                    let count = self.server.state.lock().unwrap().mails.len();
                    if !words.is_empty() {
                        say(stream, words).await;
                    }
                    if count != self.reported {
                        self.reported = count;
                        say(stream, &format!("* {count} EXISTS\r\n")).await;
                    }
                }
            }
        }
    }
}

async fn say(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    let _gone = stream.write_all(text.as_bytes()).await;
    let _gone = stream.flush().await;
}

async fn read_line(stream: &mut (impl AsyncBufReadExt + Unpin)) -> Option<String> {
    let mut text = String::new();
    match stream.read_line(&mut text).await {
        Ok(1..) => Some(text),
        _ => None,
    }
}
