//! Tests of the parent module. They are one test, because a process has only one list of profiles.

use super::*;
use gatehouse_sources::profile::find;
use gatehouse_sources::profile_file::MAX_FILE_BYTES;
use std::os::unix::fs::PermissionsExt as _;

fn text(id: &str, name: &str) -> String {
    format!(
        "id = '{id}'\nname = '{name}'\nabout = 'A'\n\
         verify = {{ headers = ['x-sig'], algorithm = 'hmac-sha256' }}\n"
    )
}

/// Replaces a file as editors do, so that its inode changes.
fn put(folder: &Path, file: &str, text: &str) {
    let new = folder.join(format!("{file}.new"));
    let mut made = std::fs::File::create(&new).unwrap();
    std::io::Write::write_all(&mut made, text.as_bytes()).unwrap();
    std::fs::rename(new, folder.join(file)).unwrap();
}

/// Returns whether a change is read at the second check that finds it.
fn reads(files: &mut ProfileFiles) -> bool {
    !files.look() && files.look()
}

fn name_of(id: &str) -> Option<&'static str> {
    find(id).map(|profile| profile.name)
}

#[test]
fn a_mistake_keeps_the_profile_before_it_and_affects_no_other_file() {
    let data = tempfile::tempdir().unwrap();
    let mut files = ProfileFiles::open(data.path());
    let folder = data.path().join(PROFILES_DIRECTORY);
    changes_are_read(&folder, &mut files);
    a_file_keeps_its_id(&folder, &mut files);

    std::fs::remove_dir_all(&folder).unwrap();
    assert!(reads(&mut files));
    assert_eq!((name_of("shop"), name_of("other")), (None, None));

    std::fs::create_dir(&folder).unwrap();
    at_most_64_files_are_read(&folder, &mut files);
    a_file_that_is_being_written_is_not_read(&folder, &mut files);
    at_most_64_kib_are_read(&folder, &mut files);
}

fn changes_are_read(folder: &Path, files: &mut ProfileFiles) {
    assert_eq!(files.report(), ProfileReport::default());
    assert!(!files.look());

    std::fs::create_dir(folder).unwrap();
    put(folder, "b.toml", &text("shop", "One"));
    put(folder, "c.toml", "id = 5");
    assert!(reads(files) && !files.look());
    assert_eq!(name_of("shop"), Some("One"));
    let report = files.report();
    assert_eq!((report.used, report.problems.len()), (1, 1));
    assert!(report.problems[0].starts_with("profiles/c.toml:1: "));

    put(folder, "b.toml", "id = 'shop'");
    put(folder, "c.toml", &text("other", "Other"));
    assert!(reads(files));
    assert_eq!(
        (name_of("shop"), name_of("other")),
        (Some("One"), Some("Other"))
    );
    assert_eq!(files.report().problems.len(), 1);
}

/// `shop` is in b.toml and `other` in c.toml.
fn a_file_keeps_its_id(folder: &Path, files: &mut ProfileFiles) {
    // A new file does not take a used ID, even if its name sorts first.
    put(folder, "a.toml", &text("shop", "Thief"));
    put(folder, "b.toml", &text("shop", "Two"));
    assert!(reads(files));
    assert_eq!(name_of("shop"), Some("Two"));
    let taken = "profiles/a.toml: the profile `shop` already exists";
    assert_eq!(files.report().problems, [taken]);

    // A file that changes its ID does not take the ID of another file, even if its name sorts first.
    put(folder, "b.toml", &text("other", "Thief"));
    assert!(reads(files));
    assert_eq!(
        (name_of("shop"), name_of("other")),
        (Some("Two"), Some("Other"))
    );
    let taken_by_b = "profiles/b.toml: the profile `other` already exists";
    assert_eq!(files.report().problems, [taken, taken_by_b]);
    put(folder, "c.toml", "id = 'other'");
    assert!(reads(files));
    assert_eq!(name_of("other"), Some("Other"));
    // Both files change their IDs at the same time.
    put(folder, "b.toml", &text("other", "Swapped"));
    put(folder, "c.toml", &text("shop", "Swapped"));
    std::fs::remove_file(folder.join("a.toml")).unwrap();
    assert!(reads(files));
    assert_eq!(
        (name_of("shop"), name_of("other")),
        (Some("Swapped"), Some("Swapped"))
    );
    put(folder, "b.toml", &text("shop", "Two"));
    put(folder, "c.toml", &text("other", "Other"));
    assert!(reads(files));
    put(folder, "a.toml", &text("shop", "Thief"));
    assert!(reads(files));
    assert_eq!(
        (name_of("shop"), name_of("other")),
        (Some("Two"), Some("Other"))
    );

    std::fs::remove_file(folder.join("b.toml")).unwrap();
    assert!(reads(files));
    assert_eq!(name_of("shop"), Some("Thief"));

    // Of two new files with one ID, neither is used until one is removed.
    put(folder, "d.toml", &text("new", "One"));
    put(folder, "e.toml", &text("new", "Two"));
    assert!(reads(files));
    assert_eq!(name_of("new"), None);
    let several =
        ["d", "e"].map(|it| format!("profiles/{it}.toml: several files have the profile `new`"));
    assert_eq!(files.report().problems, several);
    std::fs::remove_file(folder.join("d.toml")).unwrap();
    assert!(reads(files));
    assert_eq!(name_of("new"), Some("Two"));
}

fn at_most_64_files_are_read(folder: &Path, files: &mut ProfileFiles) {
    for number in 0..MAX_FILES {
        let id = format!("p{number}");
        put(folder, &format!("m{number:02}.toml"), &text(&id, &id));
    }
    assert!(reads(files));
    let report = files.report();
    assert_eq!((report.used, report.problems), (MAX_FILES, vec![]));
    put(folder, "a.toml", &text("late", "Late"));
    assert!(reads(files));
    assert_eq!((name_of("late"), name_of("p63")), (None, Some("p63")));
    let report = files.report();
    assert_eq!((report.used, report.problems.len()), (MAX_FILES, 1));
    std::fs::remove_file(folder.join("a.toml")).unwrap();
    assert!(reads(files));
}

fn a_file_that_is_being_written_is_not_read(folder: &Path, files: &mut ProfileFiles) {
    put(folder, "m00.toml", &text("p0", "Begun"));
    assert!(!files.look());
    put(folder, "m00.toml", &text("p0", "Written in full"));
    assert!(!files.look());
    assert_eq!(name_of("p0"), Some("p0"));
    assert!(files.look());
    assert_eq!(name_of("p0"), Some("Written in full"));

    // A change of permissions is noticed although the content is the same. The clock of a file system can be slow, so
    // this takes several changes.
    let has_changed = (0..10_000_u32).any(|turn| {
        let mode = std::fs::Permissions::from_mode(0o600 + (turn % 2) * 0o40);
        std::fs::set_permissions(folder.join("m01.toml"), mode).unwrap();
        files.look() || files.look()
    });
    assert!(has_changed);
}

fn at_most_64_kib_are_read(folder: &Path, files: &mut ProfileFiles) {
    let padded = |bytes: usize| {
        let start = format!("{}#", text("p0", "Padded"));
        format!("{start}{}", "x".repeat(bytes - start.len()))
    };
    put(folder, "m00.toml", &padded(MAX_FILE_BYTES));
    assert!(reads(files));
    assert_eq!(name_of("p0"), Some("Padded"));
    put(folder, "m00.toml", &padded(MAX_FILE_BYTES + 1));
    assert!(reads(files));
    let problems = files.report().problems;
    let larger = "profiles/m00.toml:1: larger than 65536 bytes";
    assert!(
        problems.iter().any(|problem| problem == larger),
        "{problems:?}"
    );
    assert_eq!(name_of("p0"), Some("Padded"));

    // Only regular files are read.
    std::fs::create_dir(folder.join("m00.toml.d")).unwrap();
    std::fs::remove_file(folder.join("m00.toml")).unwrap();
    std::fs::rename(folder.join("m00.toml.d"), folder.join("m00.toml")).unwrap();
    assert!(reads(files));
    assert_eq!(files.report().problems, ["profiles/m00.toml is not a file"]);
    assert_eq!(name_of("p0"), Some("Padded"));
}
