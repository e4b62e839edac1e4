//! Agents, sessions, turns; the Tool trait, its registry and policy; approvals; shared snapshots.
