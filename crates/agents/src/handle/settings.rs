//! Settings of the agents that can change while the process runs.

use gatehouse_domain::Zone;
use std::time::Duration;

/// The settings of the agents crate.
#[derive(Clone, Debug)]
pub struct AgentsSettings {
    /// Tools that need approval. Names have the same form as in a [`crate::ToolPolicy`].
    pub require_approval: Vec<String>,
    /// `tools.taint`: whether calls with an effect need approval in a session that contains untrusted text.
    pub taint: bool,
    /// `tools.trust`: calls that need no approval in such a session, as `tool`, `tool:target` or
    /// `tool:*`.
    pub trust: Vec<String>,
    /// `approvals.timeout_seconds`: how long a call waits for approval.
    pub approval_wait: Duration,
    /// `agents.turn_timeout_seconds`: how long a turn may take, including all waiting.
    pub turn_timeout: Duration,
    /// `agents.timezone`: the zone of the date in the system prompt.
    pub zone: Zone,
    /// `agents.retention_days`: how long a conversation is kept after its last message. `None` keeps it forever.
    pub retention: Option<Duration>,
    /// `agents.audio_retention_days`: how long audio of a conversation is kept.
    pub audio_retention: Option<Duration>,
    /// `agents.attachment_max_bytes`: the largest file.
    pub attachment_max_bytes: u64,
    /// `agents.attachments_total_bytes`: the maximum total size of the stored files of all
    /// conversations.
    pub attachments_total_bytes: u64,
    /// `agents.attachment_retention_days`: how long files of a conversation are kept.
    pub attachment_retention: Option<Duration>,
    /// `agents.usage_retention_days`: how long the daily usage of models is kept. At least 31 days, for budgets of a
    /// month.
    pub usage_retention: Duration,
}

impl Default for AgentsSettings {
    fn default() -> Self {
        Self {
            require_approval: Vec::new(),
            taint: true,
            trust: Vec::new(),
            approval_wait: Duration::from_mins(5),
            turn_timeout: Duration::from_mins(10),
            zone: Zone::utc(),
            retention: None,
            audio_retention: None,
            attachment_max_bytes: 10 << 20,
            attachments_total_bytes: 1 << 30,
            attachment_retention: None,
            usage_retention: Duration::from_hours(400 * 24),
        }
    }
}
