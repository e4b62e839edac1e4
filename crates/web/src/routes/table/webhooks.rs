//! The routes that receive webhook deliveries.

use super::{PUBLIC, row};
use crate::route::{Route, Verb};
use crate::routes::endpoint::{get, post};
use crate::routes::ingest;

pub(super) const ROWS: &[Route] = &[
    row(
        "webhooks.ingest",
        (Verb::Post, "/api/webhooks/ingest/{public_id}"),
        PUBLIC,
        || post(ingest::ingest),
        "Receives a delivery and verifies it as its webhook requires",
    )
    .gives::<ingest::Answer>(),
    row(
        "webhooks.ingest.hub",
        (Verb::Get, "/api/webhooks/ingest/{public_id}"),
        PUBLIC,
        || get(ingest::hub),
        "Returns `hub.challenge` to a sender that verifies the URL with the webhook's verify token",
    )
    .gives_bytes("text/plain"),
];
