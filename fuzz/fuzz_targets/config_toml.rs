//! The settings file: it is parsed or rejected with a position, and a secret in it is never shown.
#![no_main]

use gatehouse_config::{Environment, Invocation, Layers, MASK};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    let directory = std::env::temp_dir().join(format!("gatehouse-fuzz-{}", std::process::id()));
    let file = directory.join("gatehouse.toml");
    std::fs::create_dir_all(&directory).expect("a folder");
    std::fs::write(&file, text).expect("a file");
    let environment = Environment::from_pairs::<&str, &str>([]);
    let invocation = Invocation {
        data_dir: Some(directory),
        ..Invocation::default()
    };
    let Ok(layers) = Layers::load(&environment, &invocation) else {
        return;
    };
    let resolved = layers
        .resolve(&BTreeMap::new())
        .expect("what loads, resolves");
    for setting in resolved.values(None) {
        assert!(!setting.secret || setting.value.is_null() || setting.value == MASK);
    }
});
