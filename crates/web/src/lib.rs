//! axum: the route table, the gate before it, extractors, error mapping, the socket loop, the page.
