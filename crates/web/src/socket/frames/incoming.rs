//! The results and errors of a decoder.

use gatehouse_rpc::memory_budget::Share;

/// The result of reading.
#[derive(Debug)]
pub(in super::super) enum Incoming {
    /// A complete text message and the bytes charged for it.
    Text(String, Share),
    /// A binary message has started, and binary messages are not accepted.
    Binary,
    /// A complete binary message and the bytes charged for it.
    #[cfg_attr(
        not(feature = "voice"),
        expect(dead_code, reason = "only `/ws/talk` accepts binary messages")
    )]
    Bytes(Vec<u8>, Share),
    /// A ping with its payload. Answer with a pong.
    Ping(Vec<u8>),
    Pong,
    /// The closing handshake, with the payload of the answer.
    Close(Vec<u8>),
}

/// Why the decoder cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Broken {
    /// The message exceeds the limit.
    TooLong,
    /// There is no memory for the message.
    NoRoom,
    /// A text message is not valid UTF-8.
    NotText,
    /// The input violates the protocol.
    Protocol,
}
