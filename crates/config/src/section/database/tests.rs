//! Tests of the parent module.

use super::*;

#[test]
fn passwords_are_never_shown() {
    for (text, shown) in [
        (
            "postgres://u:hunter2@h:5433/db",
            "postgres://u:••••@h:5433/db",
        ),
        (
            "postgresql://u@h/db?password=hunter2&sslmode=disable",
            "postgresql://u@h/db?password=••••&sslmode=disable",
        ),
        (
            "postgres://h/db?p%61ssword=hunter2",
            "postgres://h/db?p%61ssword=••••",
        ),
        (
            "postgres:///db?host=/run/postgresql",
            "postgres:///db?host=/run/postgresql",
        ),
    ] {
        let url: DatabaseUrl = text.parse().unwrap();
        assert_eq!(url.to_string(), shown);
        assert!(!format!("{url:?}").contains("hunter2"));
    }
    let error = "postgres://u:hunter2@h:port/db"
        .parse::<DatabaseUrl>()
        .unwrap_err();
    assert!(!error.to_string().contains("hunter2"));
}

#[test]
fn sqlite_is_a_path() {
    for (text, path) in [
        ("sqlite:///var/lib/g.db", "/var/lib/g.db"),
        ("sqlite://g.db?mode=rwc", "g.db"),
        ("sqlite:/a%3Fb%25.db", "/a?b%.db"),
    ] {
        let DatabaseUrl::Sqlite { path: got } = text.parse().unwrap() else {
            panic!("{text}")
        };
        assert_eq!(got, Path::new(path));
    }
    for text in [
        "",
        "sqlite://",
        "sqlite::memory:",
        "sqlite://a?mode=ro",
        "sqlite://a%f",
        "sqlite://%00",
        "sqlite://%+1",
        "mysql://h/db",
        "/var/lib/g.db",
    ] {
        assert!(text.parse::<DatabaseUrl>().is_err(), "{text}");
    }
}
