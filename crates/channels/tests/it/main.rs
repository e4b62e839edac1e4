//! The room over a real database, and fake vendors that check what they are sent as the vendors' own pages
//! say. Each fake names its page.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share is no test by itself, and the exception in clippy.toml sees tests only"
)]

mod accounts;
mod discord;
mod email;
mod harness;
mod http;
mod inbox;
mod live;
mod matrix;
mod ntfy;
mod parts;
mod slack;
mod smtp;
mod telegram;
mod vault;
mod vendor;
