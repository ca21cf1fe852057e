//! Conversations in files: what they look like, and what happens when they are damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::*;

/// Saves one state, and returns the store and the paths of its files.
async fn saved(folder: &tempfile::TempDir) -> (FileStore, Claim, PathBuf) {
    let store = open(folder);
    let claim = store.claim("acme/42", LEASE).await.unwrap();
    assert_eq!(store.save(&claim, 0, &state("first")).await.unwrap(), 1);
    let files = fs::read_dir(folder.path().join("chats")).unwrap().map(|entry| entry.unwrap().path());
    let json = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    (store, claim, json)
}

#[tokio::test]
async fn only_the_user_can_read_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, json) = saved(&folder).await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(json.parent().unwrap()), 0o700);
    for entry in fs::read_dir(json.parent().unwrap()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[tokio::test]
async fn another_store_in_the_folder_finds_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, _) = saved(&folder).await;
    let other = open(&folder);
    assert_eq!(other.load("acme/42").await.unwrap(), Some(StoredConversation::new(state("first"), 1)));
    assert!(matches!(other.claim("acme/42", LEASE).await, Err(StoreError::Busy { .. })));
    store.release(&claim).await.unwrap();
    assert!(other.claim("acme/42", LEASE).await.is_ok());
    assert_eq!(other.load("acme/4").await.unwrap(), None);
}

/// A save that was interrupted leaves a file beside the state, which means nothing.
#[tokio::test]
async fn what_a_crash_left_behind_is_ignored_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, json) = saved(&folder).await;
    let fresh = json.with_extension("new");
    for left in ["", "{\"haft_conversation\":1,\"id\":\"acme/42\",\"version\":9", "nonsense"] {
        fs::write(&fresh, left).unwrap();
        let loaded = open(&folder).load("acme/42").await.unwrap().unwrap();
        let version = store.save(&claim, loaded.version, &state(left)).await.unwrap();
        assert_eq!(open(&folder).load("acme/42").await.unwrap(), Some(StoredConversation::new(state(left), version)));
        assert!(!fresh.exists());
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_the_next_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, json) = saved(&folder).await;
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, json.with_extension("new")).unwrap();
    store.save(&claim, 1, &state("second")).await.unwrap();
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[tokio::test]
async fn a_damaged_conversation_is_an_error_and_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, json) = saved(&folder).await;
    let whole = fs::read_to_string(&json).unwrap();
    let foreign = store.claim("acme/43", LEASE).await.unwrap();
    store.save(&foreign, 0, &state("foreign")).await.unwrap();
    let damages = [
        (String::new(), "its first line"),
        ("\n".to_owned(), "its first line"),
        (whole[..40].to_owned(), "its first line"),
        (whole[..whole.len() - 9].to_owned(), "checksum"),
        (whole.replace("first", "frist"), "checksum"),
        (format!("{whole}\n"), "checksum"),
        (whole.replace("acme/42", "acme/43"), "another conversation"),
    ];
    for (damage, reason) in damages {
        fs::write(&json, &damage).unwrap();
        let error = store.load("acme/42").await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(reason) && message.contains(json.to_str().unwrap()), "{message}");
        assert!(!message.contains("frist"), "nothing of the conversation is in the message: {message}");
        for expected in [0, 1] {
            let saved = store.save(&claim, expected, &state("second")).await;
            // A writer that has loaded the state before it was damaged replaces it with a whole one.
            if expected == 0 || reason != "checksum" {
                saved.unwrap_err();
                assert_eq!(fs::read_to_string(&json).unwrap(), damage);
            }
        }
        fs::write(&json, &whole).unwrap();
    }
}

#[tokio::test]
async fn a_newer_version_is_refused_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, json) = saved(&folder).await;
    let newer = "{\"haft_conversation\":2,\"whatever\":[]}\n{}";
    fs::write(&json, newer).unwrap();
    let error = store.load("acme/42").await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
    for expected in [0, 1] {
        let error = store.save(&claim, expected, &state("second")).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    }
    assert_eq!(fs::read_to_string(&json).unwrap(), newer);
}

/// A state of a later version of the library, in a file of this version.
#[tokio::test]
async fn a_newer_state_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, json) = saved(&folder).await;
    let whole = fs::read_to_string(&json).unwrap();
    let (header, text) = whole.split_once('\n').unwrap();
    let newer = text.replacen("{\"v\":1", "{\"v\":2", 1);
    assert_ne!(newer, text);
    let hash = |text: &str| {
        use sha2::Digest as _;
        sha2::Sha256::digest(text).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    fs::write(&json, format!("{}\n{newer}", header.replace(&hash(text), &hash(&newer)))).unwrap();
    let error = store.load("acme/42").await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
}

/// The claim of nobody: no old claim matches it either.
#[tokio::test]
async fn a_damaged_claim_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let (store, claim, json) = saved(&folder).await;
    fs::write(json.with_extension("claim"), "{\"token\":").unwrap();
    assert!(matches!(store.save(&claim, 1, &state("second")).await, Err(StoreError::ClaimLost)));
    let next = store.claim("acme/42", LEASE).await.unwrap();
    assert_eq!(store.save(&next, 1, &state("second")).await.unwrap(), 2);
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    let error = FileStore::open(&path).unwrap_err();
    assert!(
        matches!(error, StoreError::Failed { .. }) && error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );

    let store = FileStore::open(folder.path().join("gone")).unwrap();
    fs::remove_dir(folder.path().join("gone")).unwrap();
    assert!(matches!(store.claim("a", LEASE).await, Err(StoreError::Failed { .. })));
    assert_eq!(store.load("a").await.unwrap(), None);
}
