//! The subcommands of `gatehouse webhooks` and their arguments.

use super::{
    check_profile,
    fields::Fields,
    forward,
    replay::{ReplayEdit, ReplayMany},
};

/// `gatehouse webhooks …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the webhooks
    List,
    /// Create a webhook; its secret is shown only once
    Create {
        /// The display name
        #[arg(long)]
        name: String,
        #[arg(
            long,
            value_name = "PROFILE",
            help = "The source profile: generic, codehost_a (github), codehost_b (gitlab), \
                    payments (stripe), …; schedule with --schedule, --every or --at"
        )]
        source_profile: Option<String>,
        #[command(flatten)]
        fields: Box<Fields>,
    },
    /// Show a webhook
    Show {
        /// The ID or public ID
        id: String,
    },
    /// Change a webhook; omitted fields stay as they are, and "" clears a field
    Update {
        /// The ID or public ID
        id: String,
        /// The display name
        #[arg(long)]
        name: Option<String>,
        #[arg(
            long,
            value_name = "PROFILE",
            help = "The source profile; sets its own auth mode too, if the old mode was the default \
                    of the old profile"
        )]
        source_profile: Option<String>,
        #[command(flatten)]
        fields: Box<Fields>,
    },
    /// Delete a webhook with all its deliveries; sessions are kept
    Delete {
        /// The ID or public ID
        id: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Accept deliveries again
    Enable {
        /// The ID or public ID
        id: String,
    },
    /// Answer 404 to deliveries; the configuration and the history are kept
    Disable {
        /// The ID or public ID
        id: String,
    },
    /// Accept and keep deliveries, but do not work on them; attempts that have begun continue
    Pause {
        /// The ID or public ID
        id: String,
    },
    /// Resume a paused webhook; its waiting deliveries are processed
    Resume {
        /// The ID or public ID
        id: String,
    },
    /// Generate a new secret; the old one stays valid for a while
    RotateSecret {
        /// The ID or public ID
        id: String,
        /// How long the old secret stays valid
        #[arg(long, value_name = "SECONDS")]
        overlap_seconds: Option<u64>,
    },
    /// List deliveries, newest first
    Deliveries {
        /// Only deliveries of this webhook
        id: Option<String>,
        /// Only deliveries with this status
        #[arg(long, value_parser = STATUSES)]
        status: Option<String>,
        /// Only deliveries of this event type; a trailing * matches every type with that prefix
        #[arg(long)]
        event: Option<String>,
        /// Maximum number of deliveries
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Show a delivery
    ShowDelivery {
        /// The delivery's ID
        id: String,
        /// Print only the payload
        #[arg(long)]
        payload: bool,
    },
    /// Process a delivery again, or all completed and failed ones that match
    Replay {
        /// The delivery's ID
        #[arg(required_unless_present = "limit")]
        id: Option<String>,
        #[command(flatten)]
        edit: ReplayEdit,
        #[command(flatten)]
        many: ReplayMany,
    },
    /// Cancel a waiting or running delivery; it ends as failed
    Cancel {
        /// The delivery's ID
        id: String,
    },
    /// Retry a waiting delivery now
    Retry {
        /// The delivery's ID
        id: String,
    },
    /// Run the deliveries that are held after the restore of a backup
    Release,
    /// Send a realistic, signed sample through the whole pipeline
    Test {
        /// The webhook's ID or public ID
        id: String,
        /// The event type
        #[arg(long, value_name = "TYPE")]
        event: Option<String>,
    },
    /// Show deliveries as they arrive, until interrupted
    Tail {
        /// Only deliveries of this webhook
        id: Option<String>,
    },
    /// Forward deliveries to a program on this machine as they arrive, until interrupted
    Forward(forward::Flags),
    /// Check the file of a profile, and how it verifies and reads a delivery
    CheckProfile(check_profile::Flags),
}

const STATUSES: [&str; 8] = [
    "received",
    "filtered",
    "deduplicated",
    "rejected",
    "queued",
    "processing",
    "completed",
    "failed",
];
