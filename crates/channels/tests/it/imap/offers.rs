//! The settings and the state of the server.

/// What the server offers and how it misbehaves.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a test names the one that it changes"
)]
pub struct Offers {
    pub tls: bool,
    pub starttls: bool,
    pub idle: bool,
    /// `AUTH=PLAIN`; otherwise only LOGIN.
    pub plain: bool,
    pub sasl_ir: bool,
    /// The answer to a correct login.
    pub login: Option<&'static str>,
    pub greeting: &'static str,
    /// UIDNEXT is left out.
    pub no_next: bool,
    /// What is sent after the answer to STARTTLS, before TLS begins.
    pub before_tls: &'static str,
    /// Answers to FETCH stop in the middle.
    pub stops: bool,
    /// The UID of an email that is deleted as soon as a part of it was fetched.
    pub vanishing: Option<u32>,
    /// The UID of an email whose answers to FETCH follow no grammar.
    pub unreadable: Option<u32>,
}

impl Default for Offers {
    fn default() -> Self {
        Self {
            tls: false,
            starttls: false,
            idle: true,
            plain: true,
            sasl_ir: true,
            login: None,
            greeting: "* OK ready",
            no_next: false,
            before_tls: "",
            stops: false,
            vanishing: None,
            unreadable: None,
        }
    }
}

pub(super) struct State {
    pub(super) offers: Offers,
    pub(super) validity: u32,
    pub(super) next: u32,
    /// UIDs and emails.
    pub(super) mails: Vec<(u32, String)>,
    /// Commands without tags and passwords.
    pub(super) log: Vec<String>,
    /// Lines that were not valid commands.
    pub(super) refused: Vec<String>,
    pub(super) connections: usize,
    /// How many answers to FETCH are cut in the middle.
    pub(super) cuts: usize,
}

impl State {
    pub(super) const fn new(offers: Offers) -> Self {
        Self {
            offers,
            validity: 7,
            next: 1,
            mails: Vec::new(),
            log: Vec::new(),
            refused: Vec::new(),
            connections: 0,
            cuts: 0,
        }
    }
}
