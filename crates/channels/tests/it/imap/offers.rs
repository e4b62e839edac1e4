//! The settings and the state of the server.

/// The offered extensions and the misbehavior of the server.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a test names the one that it changes"
)]
pub struct Offers {
    pub tls: bool,
    pub starttls: bool,
    pub idle: bool,
    /// Whether the server offers `AUTH=PLAIN`. Otherwise it accepts only LOGIN.
    pub plain: bool,
    pub sasl_ir: bool,
    /// The answer to a correct login.
    pub login: Option<&'static str>,
    pub greeting: &'static str,
    /// Whether UIDNEXT is left out.
    pub no_next: bool,
    /// Data that is sent after the answer to STARTTLS, before TLS begins.
    pub before_tls: &'static str,
    /// Whether answers to FETCH stop in the middle.
    pub stops: bool,
    /// The UID of an email that is deleted as soon as one of its parts was fetched.
    pub vanishing: Option<u32>,
    /// The UID of an email with invalid answers to FETCH.
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
    /// The number of answers to FETCH that are cut in the middle.
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
