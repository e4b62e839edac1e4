//! Accounts and senders of messages, one file a type, and the inbox.
