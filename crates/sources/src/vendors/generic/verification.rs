//! The modes of senders without a signature of their own.

use crate::auth_mode::Mode;
use crate::verify::scheme::Method;

pub(crate) static NONE: Mode = Mode {
    name: "none",
    alias: None,
    label: "None (for tests only)",
    description: "No verification; for testing only.",
    proof: "The mode none verifies nothing: anyone who knows the URL can send deliveries. It is \
        for testing only.",
    secret_from_sender: false,
    method: Method::Open,
};

pub(crate) static STATIC_HEADER: Mode = Mode {
    name: "static_header",
    alias: None,
    label: "Secret in a header",
    description: "The secret is sent in a header that the owner chooses.",
    proof: "Each request carries the header {header}: {secret}",
    secret_from_sender: false,
    method: Method::OwnHeader,
};

pub(crate) static BEARER: Mode = Mode {
    name: "bearer",
    alias: None,
    label: "Bearer token in Authorization",
    description: "The secret is sent as `Authorization: Bearer <secret>`.",
    proof: "Each request carries the header Authorization: Bearer {secret}",
    secret_from_sender: false,
    method: Method::Bearer,
};
