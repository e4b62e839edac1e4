//! The route that receives webhook deliveries.

use super::{PUBLIC, row};
use crate::routes::{Route, Verb, ingest};
use axum::routing::post;

pub(super) const ROWS: &[Route] = &[row(
    "webhooks.ingest",
    (Verb::Post, "/api/webhooks/ingest/{public_id}"),
    PUBLIC,
    || post(ingest::ingest),
    "Receives a delivery and verifies it as its webhook requires",
)
.gives::<ingest::Answer>()];
