//! Tests only: a test server with actors, throw-away databases.
