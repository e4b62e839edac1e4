//! Facts about the APIs of vendors, for both senders and receivers.

/// Discord's HTTP API.
pub(crate) mod discord {
    pub(crate) const BASE_URL: &str = "https://discord.com/api/v10";
    /// The format that Discord requires of bots: `DiscordBot` (URL, version).
    pub(crate) const AGENT: &str =
        concat!("DiscordBot (Gatehouse, ", env!("CARGO_PKG_VERSION"), ")");
}

/// Slack's Web API.
pub(crate) mod slack {
    pub(crate) const BASE_URL: &str = "https://slack.com/api";
}

/// Telegram's Bot API.
pub(crate) mod telegram {
    use serde_json::Value;

    pub(crate) const BASE_URL: &str = "https://api.telegram.org";
    pub(crate) const NOT_THE_API: &str = "The server at Telegram's address is not the Bot API.";

    /// Returns a JSON number if the value is one; otherwise a string, such as a channel's `@name`.
    pub(crate) fn number_or_text(value: String) -> Value {
        value
            .parse::<i64>()
            .map_or_else(|_| Value::from(value), Value::from)
    }
}
