//! The fields of an email channel: for the server that sends its mail, and for the mailbox that it reads.

use crate::fields::{FieldKind, FieldSpec, receiving_agent, receiving_switch};
use crate::senders::{About, Extra};

const APP_PASSWORD: &str = "Many providers require an app password.";

pub(super) static ABOUT: About = About {
    kind: "email",
    label: "Email",
    description: "Sends email through your SMTP server.",
    noun: "the mail server",
    fields: &[
        FieldSpec::new(
            "host",
            "Server",
            FieldKind::Host,
            "The SMTP server, such as smtp.example.com.",
        )
        .required(),
        FieldSpec::new(
            "port",
            "Port",
            FieldKind::Port,
            "587 if empty. Port 465 uses TLS from the start.",
        ),
        FieldSpec::new(
            "user",
            "User",
            FieldKind::Text,
            "Leave empty if the server needs no login.",
        ),
        FieldSpec::new(
            "password",
            "Password",
            FieldKind::Text,
            APP_PASSWORD,
        )
        .secret(),
        FieldSpec::new(
            "from",
            "From",
            FieldKind::Mailbox,
            "The sender, such as Gatehouse <gatehouse@example.com>.",
        )
        .required()
        // An email counts only if it is addressed to one of the channel's own addresses. This field is one of them.
        .decides_senders(),
        FieldSpec::new(
            "to",
            "To",
            FieldKind::Mailboxes,
            "The recipients, separated by commas. Not needed if the channel only receives messages, or if each webhook \
             sets recipients.",
        ),
        receiving_switch(),
        receiving_agent(),
        FieldSpec::new(
            "imap_host",
            "IMAP server",
            FieldKind::Host,
            "The server with the mailbox, such as imap.example.com.",
        ),
        FieldSpec::new(
            "imap_port",
            "IMAP port",
            FieldKind::Port,
            "If empty, 993 with TLS and 143 otherwise.",
        ),
        FieldSpec::new(
            "imap_security",
            "IMAP security",
            FieldKind::OneOf(&["tls", "starttls", "none"]),
            "Choose no encryption only for a server on this machine.",
        ),
        FieldSpec::new(
            "imap_user",
            "IMAP user",
            FieldKind::Text,
            "Often the full email address.",
        )
        .decides_senders(),
        FieldSpec::new(
            "imap_password",
            "IMAP password",
            FieldKind::Text,
            APP_PASSWORD,
        )
        .secret(),
        FieldSpec::new(
            "mailbox",
            "Mailbox",
            FieldKind::Text,
            "INBOX if empty. Nothing in it is changed.",
        ),
        FieldSpec::new(
            "imap_addresses",
            "Other addresses",
            FieldKind::Mailboxes,
            "Addresses of the mailbox other than From and the IMAP user, separated by commas. \
             Mail to other addresses is not read.",
        )
        .decides_senders(),
        FieldSpec::new(
            "authserv_id",
            "Authentication server ID",
            FieldKind::Text,
            "The first word of the Authentication-Results header that your mail server adds. Without it, no mail is read.",
        )
        .decides_senders(),
    ],
    extra: &[
        Extra {
            name: "to",
            help: "Other recipients.",
        },
        Extra {
            name: "subject",
            help: "The subject. If it is not set, the source’s name is used.",
        },
    ],
    takes_json: false,
    built_in: false,
    calls_any_address: true,
};
