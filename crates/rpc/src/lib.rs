//! JSON-RPC: the method table, dispatch, and the connection state machine. No sockets.
