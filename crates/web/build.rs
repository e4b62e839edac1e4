//! Decides when cargo embeds the page's files again. Vite, not cargo, builds `ui/dist`.
//!
//! Only a release build embeds the files. A debug build reads them from the folder at run time, so a rebuild of the
//! page recompiles no Rust. This script creates the folder if it is missing. Otherwise, cargo would rerun the script
//! every time because of the missing path. A debug build also stores the folder's path.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo configures build scripts through the environment"
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
        println!("cargo::warning=cannot create ui/dist; a web UI built later is not picked up");
    }
}
