//! Tests for workspaces and the files that programs write in them.

use super::*;

#[tokio::test]
async fn workspaces_are_private_and_short_lived() {
    let place = ProgramDir::new();
    let work = place.path("work");
    let programs = with_directory(&patient(), &work);
    let directory = made(&programs, "sound").await;
    let path = directory.path().to_owned();
    assert_eq!(path.parent(), Some(&*work));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&work), mode(&path)), (0o700, 0o700));
    assert_eq!(mode(&path.join("audio.wav")), 0o600);
    assert_eq!(fs::read(path.join("audio.wav")).unwrap(), b"sound");
    drop(directory);
    assert!(!path.exists());
}

#[tokio::test]
async fn what_was_left_behind_is_removed() {
    let place = ProgramDir::new();
    let work = place.path("work");
    // The directory does not exist yet.
    empty(&work);
    let programs = with_directory(&patient(), &work);
    // Simulates a killed server.
    std::mem::forget(made(&programs, "sound").await);
    assert_eq!(fs::read_dir(&work).unwrap().count(), 1);
    empty(&work);
    assert!(!work.exists());
    assert!(made(&programs, "sound").await.path().exists());
}

#[tokio::test]
async fn only_files_are_read() {
    let place = ProgramDir::new();
    let file = place.file("file", "text", 0o600);
    let (link, fifo) = (place.path("link"), place.path("fifo"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut mkfifo = job("/usr/bin/mkfifo");
    mkfifo.args = vec![fifo.clone().into()];
    patient().run(mkfifo).await.unwrap();
    assert!(open_file(&file).await.is_ok() && open_own_file(&file).await.is_ok());
    assert!(open_file(&link).await.is_ok() && open_own_file(&link).await.is_err());
    for other in [&fifo, place.0.path(), Path::new("/dev/zero")] {
        assert!(open_file(other).await.is_err(), "{}", other.display());
        assert!(open_own_file(other).await.is_err(), "{}", other.display());
    }
}
