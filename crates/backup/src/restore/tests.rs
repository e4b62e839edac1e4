//! Tests of the parent module.

use super::is_file_name;

#[test]
fn names_of_files_do_not_leave_the_directory() {
    for name in ["provider_keys.json.enc", "profiles/a.toml"] {
        assert!(is_file_name(name), "{name}");
    }
    for name in [
        "", ".", "..", "a/b/c", "a/../b", "../a", "./a", "/a", "a/", "a/..",
    ] {
        assert!(!is_file_name(name), "{name}");
    }
}
