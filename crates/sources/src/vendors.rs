//! The vendors and the schedule, one folder each: profile, verification, summary, sample and setup guide. Contains
//! the list of folders, not the use of their entries.

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

/// Includes the files of a folder.
macro_rules! in_files {
    ($folder:literal) => {
        FileVendor {
            folder: $folder,
            profile: include_str!(concat!("vendors/", $folder, "/profile.toml")),
            sample: include_str!(concat!("vendors/", $folder, "/sample.json")),
            #[cfg(test)]
            vectors: include_str!(concat!("vendors/", $folder, "/vectors.json")),
        }
    };
}

/// The contents of a vendor's folder.
pub(crate) struct Vendor {
    /// The vendor's profile. `None` for a verification mode that many senders share.
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

/// A vendor's folder without code.
pub(crate) struct FileVendor {
    /// The name of the folder, for messages.
    pub folder: &'static str,
    pub profile: &'static str,
    pub sample: &'static str,
    /// Signed deliveries for tests.
    #[cfg(test)]
    pub vectors: &'static str,
}

/// Vendors whose profile is a file, in display order.
pub(crate) static IN_FILES: &[FileVendor] = &[
    in_files!("bitbucket"),
    in_files!("gitea"),
    in_files!("meta"),
    in_files!("discord_interactions"),
    in_files!("zoom"),
    in_files!("twitch"),
    in_files!("paddle"),
    in_files!("grafana"),
    in_files!("alertmanager"),
    in_files!("uptime_kuma"),
    in_files!("jira"),
    in_files!("clickup"),
    in_files!("vercel"),
    in_files!("circleci"),
    in_files!("buildkite"),
    in_files!("terraform"),
    in_files!("sonarqube"),
    in_files!("launchdarkly"),
    in_files!("heroku"),
    in_files!("cloudflare"),
    in_files!("zendesk"),
    in_files!("discourse"),
    in_files!("ghost"),
    in_files!("typeform"),
    in_files!("tally"),
    in_files!("calendly"),
    in_files!("cal_com"),
    in_files!("resend"),
    in_files!("clerk"),
    in_files!("openai"),
    in_files!("square"),
    in_files!("razorpay"),
    in_files!("lemon_squeezy"),
    in_files!("btcpay"),
    in_files!("box"),
    in_files!("mux"),
];

#[cfg(test)]
mod tests;
