//! The vendors, and the clock, one folder each: profile, verification, summary, sample and setup guide. Owns the list; must
//! not know how its entries are used.

pub(crate) mod generic;
mod github;
mod gitlab;
mod linear;
mod pagerduty;
pub(crate) mod schedule;
mod sentry;
mod shopify;
mod slack;
pub(crate) mod standard;
mod stripe;
mod twilio;

use crate::auth_mode::Mode;
use crate::profile::Profile;

/// What a vendor's folder provides.
pub(crate) struct Vendor {
    /// How the vendor sends webhooks. `None` for a verification mode that many senders share.
    pub profile: Option<&'static Profile>,
    /// The verification modes that the folder defines.
    pub modes: &'static [&'static Mode],
}

/// Every vendor, in display order.
pub(crate) static ALL: &[Vendor] = &[
    generic::VENDOR,
    github::VENDOR,
    gitlab::VENDOR,
    stripe::VENDOR,
    linear::VENDOR,
    pagerduty::VENDOR,
    sentry::VENDOR,
    standard::VENDOR,
    slack::VENDOR,
    shopify::VENDOR,
    twilio::VENDOR,
    schedule::VENDOR,
];
