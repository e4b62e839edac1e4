//! The source of an account's messages.

/// Identifies the messages of an account. Accounts with equal values receive the same messages.
#[derive(PartialEq, Eq)]
pub(crate) struct Inbox<'a> {
    /// The vendor's address and the token, or the address of the mail server, the user and the mailbox.
    place: [&'a str; 3],
    /// The addresses whose mail is read, sorted. Empty for other types.
    addresses: Vec<String>,
}

impl<'a> Inbox<'a> {
    pub(crate) fn of_token(vendor: &'a str, token: &'a str) -> Self {
        Self {
            place: [vendor, token, ""],
            addresses: Vec::new(),
        }
    }

    pub(crate) fn of_mail(place: [&'a str; 3], mut addresses: Vec<String>) -> Self {
        addresses.sort();
        addresses.dedup();
        Self { place, addresses }
    }
}
