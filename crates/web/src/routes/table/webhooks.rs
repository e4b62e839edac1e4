//! The route that receives webhook deliveries.

use super::{PUBLIC, row};
use crate::routes::{Route, Verb, ingest};
use axum::routing::post;

pub(super) const ROWS: &[Route] = &[row(
    "webhooks.ingest",
    (Verb::Post, "/api/webhooks/ingest/{public_id}"),
    PUBLIC,
    || post(ingest::ingest),
    "Takes a delivery; each webhook has its own way to verify it",
)
.gives::<ingest::Answer>()];
