//! `POST /api/rpc` and its methods.

mod audit;
mod audit_export;
mod audit_remote;
mod backup_drill;
mod backup_encrypted;
mod backup_place;
mod backup_schedule;
mod config;
mod discover;
mod env;
mod envelope;
pub mod mcp;
mod mcp_oauth;
mod mcp_offers;
mod mcp_tools;
mod pairing;
mod preferences;
mod providers;
mod reach;
mod ssh_keys;
mod system;
mod tools;
