//! Tests of the parent module. One test, because the list of profiles is one per process.

use super::*;
use gatehouse_sources::profile::find;

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

fn name_of(id: &str) -> Option<&'static str> {
    find(id).map(|profile| profile.name)
}

#[test]
fn a_mistake_keeps_the_profile_before_it_and_affects_no_other_file() {
    let data = tempfile::tempdir().unwrap();
    let mut files = ProfileFiles::open(data.path());
    assert_eq!(files.report(), ProfileReport::default());
    assert!(!files.look());

    let folder = data.path().join(PROFILES_DIRECTORY);
    std::fs::create_dir(&folder).unwrap();
    put(&folder, "b.toml", &text("shop", "One"));
    put(&folder, "c.toml", "id = 5");
    assert!(files.look() && !files.look());
    assert_eq!(name_of("shop"), Some("One"));
    let report = files.report();
    assert_eq!((report.used, report.problems.len()), (1, 1));
    assert!(report.problems[0].starts_with("profiles/c.toml:1: "));

    put(&folder, "b.toml", "id = 'shop'");
    put(&folder, "c.toml", &text("other", "Other"));
    assert!(files.look());
    assert_eq!(
        (name_of("shop"), name_of("other")),
        (Some("One"), Some("Other"))
    );
    assert_eq!(files.report().problems.len(), 1);

    // A file that comes later does not take an ID, even if its name sorts first.
    put(&folder, "a.toml", &text("shop", "Thief"));
    put(&folder, "b.toml", &text("shop", "Two"));
    assert!(files.look());
    assert_eq!(name_of("shop"), Some("Two"));
    let taken = "profiles/a.toml: the profile `shop` already exists";
    assert_eq!(files.report().problems, [taken]);

    std::fs::remove_file(folder.join("b.toml")).unwrap();
    assert!(files.look());
    assert_eq!(name_of("shop"), Some("Thief"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(files.look());
    assert_eq!((name_of("shop"), name_of("other")), (None, None));

    // At most 64 files.
    std::fs::create_dir(&folder).unwrap();
    for number in 0..MAX_FILES {
        let id = format!("p{number}");
        put(&folder, &format!("m{number:02}.toml"), &text(&id, &id));
    }
    assert!(files.look());
    let report = files.report();
    assert_eq!((report.used, report.problems), (MAX_FILES, vec![]));
    put(&folder, "a.toml", &text("late", "Late"));
    assert!(files.look());
    assert_eq!((name_of("late"), name_of("p63")), (None, Some("p63")));
    let report = files.report();
    assert_eq!((report.used, report.problems.len()), (MAX_FILES, 1));

    // What is not a file is not read.
    std::fs::create_dir(folder.join("m00.toml.d")).unwrap();
    std::fs::remove_file(folder.join("a.toml")).unwrap();
    std::fs::remove_file(folder.join("m00.toml")).unwrap();
    std::fs::rename(folder.join("m00.toml.d"), folder.join("m00.toml")).unwrap();
    assert!(files.look());
    assert_eq!(files.report().problems, ["profiles/m00.toml is not a file"]);
    assert_eq!(name_of("p0"), Some("p0"));
}
