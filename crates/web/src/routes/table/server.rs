//! Routes for the page, server information, API documents, RPC and WebSockets.

use super::{ADMIN, PUBLIC, READ, WRITE, row};
use crate::route::{Access, Route, StepUp, Verb};
use crate::routes::endpoint::{delete, get, post};
use crate::routes::{
    approve, attachments, backup, documents, health, mcp, mcp_callback, rpc, sessions, share,
    status,
};
use crate::{manual, pages, socket};

use Access::Identity;
use Verb::{Delete, Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "health",
        (Get, "/health"),
        PUBLIC,
        || get(status::health),
        "Reports that the server is running",
    )
    .gives::<status::Health>(),
    row(
        "health.live",
        (Get, "/health/live"),
        PUBLIC,
        || get(health::live),
        "Reports that the server does not need a restart",
    )
    .gives::<health::Probe>(),
    row(
        "health.ready",
        (Get, "/health/ready"),
        PUBLIC,
        || get(health::ready),
        "Reports that the server can take requests",
    )
    .gives::<health::Probe>(),
    row(
        "livez",
        (Get, "/livez"),
        PUBLIC,
        || get(health::live),
        "The same as /health/live",
    )
    .gives::<health::Probe>(),
    row(
        "readyz",
        (Get, "/readyz"),
        PUBLIC,
        || get(health::ready),
        "The same as /health/ready",
    )
    .gives::<health::Probe>(),
    row(
        "healthz",
        (Get, "/healthz"),
        PUBLIC,
        || get(health::live),
        "The same as /health/live",
    )
    .gives::<health::Probe>(),
    row(
        "metrics",
        (Get, "/metrics"),
        READ,
        || get(status::metrics),
        "Metrics for Prometheus",
    ),
    row(
        "backup.stream",
        (Post, "/api/backup/stream"),
        ADMIN,
        || post(backup::stream),
        "Makes a backup and sends it as the answer",
    )
    .takes::<gatehouse_rpc::methods::backup::StreamParams>()
    .gives_bytes("application/octet-stream")
    .confirmed(StepUp::Always),
    row(
        "page.home",
        (Get, "/"),
        Identity,
        || get(pages::home),
        "The page",
    ),
    row(
        "page.onboarding",
        (Get, "/onboarding"),
        Identity,
        || get(pages::page),
        "The page",
    ),
    row(
        "docs.contents",
        (Get, "/docs"),
        Identity,
        || get(manual::contents),
        "The contents of the documentation",
    ),
    row(
        "docs.chapter",
        (Get, "/docs/{*path}"),
        Identity,
        || get(manual::chapter),
        "A document",
    ),
    row(
        "page.asset",
        (Get, "/assets/{*path}"),
        PUBLIC,
        || get(pages::asset),
        "Page files",
    ),
    row(
        "page.icon",
        (Get, "/icons/{*path}"),
        PUBLIC,
        || get(pages::icon),
        "Page icons",
    ),
    row(
        "page.favicon",
        (Get, "/favicon.ico"),
        PUBLIC,
        || get(pages::favicon),
        "Page icon",
    ),
    row(
        "page.manifest",
        (Get, "/manifest.json"),
        PUBLIC,
        || get(pages::manifest),
        "Web app manifest",
    ),
    row(
        "page.worker",
        (Get, "/sw.js"),
        PUBLIC,
        || get(pages::service_worker),
        "Service worker",
    ),
    row(
        "auth.callback",
        (Get, "/auth/callback"),
        PUBLIC,
        || get(status::oauth_callback),
        "OAuth callback",
    ),
    row(
        "auth.callback.mcp",
        (Get, "/auth/callback/{server}"),
        PUBLIC,
        || get(mcp_callback::get),
        "The redirect URL of authorization servers, for connecting an MCP server",
    ),
    row(
        "approve.get",
        (Get, "/approve/{token}"),
        PUBLIC,
        || get(approve::get),
        "A tool call that waits for approval, for a person with the link",
    ),
    row(
        "approve.post",
        (Post, "/approve/{token}"),
        PUBLIC,
        || post(approve::post),
        "Answers the tool call of a link, if approvals.links is bearer",
    ),
    row(
        "share.get",
        (Get, "/share/{id}"),
        PUBLIC,
        || get(share::get),
        "A shared session",
    ),
    row(
        "gon",
        (Get, "/api/gon"),
        READ,
        || get(status::first_facts),
        "The data that the web UI needs first",
    )
    .gives::<gatehouse_services::bootstrap::Gon>(),
    row(
        "bootstrap",
        (Get, "/api/bootstrap"),
        READ,
        || get(status::bootstrap),
        "The data that the web UI needs next",
    )
    .gives::<gatehouse_services::bootstrap::Bootstrap>(),
    row(
        "sessions.list",
        (Get, "/api/sessions"),
        READ,
        || get(sessions::list),
        "Chat sessions",
    )
    .gives::<gatehouse_rpc::methods::sessions::ListResult>(),
    row(
        "sessions.get",
        (Get, "/api/sessions/{id}"),
        READ,
        || get(sessions::get),
        "A chat session",
    )
    .gives::<gatehouse_agents::Session>(),
    row(
        "sessions.messages",
        (Get, "/api/sessions/{id}/messages"),
        READ,
        || get(sessions::messages),
        "The messages of a chat session",
    )
    .gives::<gatehouse_rpc::methods::chat::HistoryResult>(),
    row(
        "sessions.attachments.create",
        (Post, "/api/sessions/{id}/attachments"),
        WRITE,
        || post(attachments::post),
        "Stores a file with the session; the body is the file, and the query parameter `name` its name",
    )
    .takes_bytes::<attachments::FileBody>("application/octet-stream")
    .gives::<gatehouse_agents::Attachment>(),
    row(
        "sessions.attachments.get",
        (Get, "/api/sessions/{id}/attachments/{attachment_id}"),
        READ,
        || get(attachments::get),
        "A file of a session",
    )
    .gives_bytes("application/octet-stream"),
    row(
        "sessions.attachments.delete",
        (Delete, "/api/sessions/{id}/attachments/{attachment_id}"),
        WRITE,
        || delete(attachments::delete),
        "Deletes a file that was not sent",
    )
    .gives::<gatehouse_rpc::method_entry::Done>(),
    row(
        "openapi",
        (Get, "/api/openapi.json"),
        READ,
        || get(documents::openapi),
        "This document",
    ),
    row(
        "openrpc",
        (Get, "/api/openrpc.json"),
        READ,
        || get(documents::openrpc),
        "The RPC methods",
    ),
    row(
        "rpc",
        (Post, "/api/rpc"),
        Identity,
        || post(rpc::call),
        "JSON-RPC 2.0, single or batch",
    )
    .carries_calls(),
    row(
        "mcp",
        (Post, "/mcp"),
        Identity,
        || post(mcp::post),
        "The gateway as an MCP server (streamable HTTP)",
    )
    .carries_calls(),
    row(
        "ws",
        (Get, "/ws"),
        PUBLIC,
        || get(socket::node),
        "JSON-RPC over a WebSocket; `connect` authenticates",
    )
    .carries_calls(),
    row(
        "ws.chat",
        (Get, "/ws/chat"),
        Identity,
        || get(socket::chat),
        "JSON-RPC over a WebSocket",
    )
    .carries_calls(),
];
