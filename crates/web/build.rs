//! Tells cargo when the page's files must be embedded again: `ui/dist` is built by Vite, not by cargo.
//!
//! Only a release build embeds them; a debug build reads them from the folder while it runs, so that
//! building the page again compiles no Rust. The folder is made when it is not there: cargo runs a
//! script again each time whose watched path is missing, and a debug build remembers where it is.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to build scripts by their environment"
)]

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let dist = Path::new("../../ui/dist");
    let is_there = dist.is_dir() || std::fs::create_dir_all(dist).is_ok();
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../../ui/dist");
        println!("cargo::rerun-if-changed=../../ui/public");
        println!("cargo::rerun-if-changed=page");
    } else if !is_there {
        println!("cargo::warning=cannot make ui/dist: a page built later is not seen");
    }
}
