//! `[network]`: the addresses to which the service may connect.

use super::declare::settings;
use crate::key::Change::Live;

settings! {
    /// The section `[network]`.
    network Network {
        /// Let tools fetch from private and loopback addresses.
        allow_private: bool = flag(false), StepUp, Live;
    }
}
