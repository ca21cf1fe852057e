//! Lock files beside workspace files: what was accepted, and what is done about anything else.

use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions, Services};
use haft_workspace::pins::{LockFile, Pins};
use haft_workspace::{FileError, LoadOptions, Loaded, Trust, TrustStatus, load};
use serde_json::{Value, json};

use super::{Folder, symlink, tool_names};

const TEXT: &str = "[workspace]\nstandard = false\n[toolbox.shop.import.api]\nkind = 'openapi'\nfile = 'shop.json'\n";

fn operation(id: &str, summary: &str) -> Value {
    json!({"get": {"operationId": id, "summary": summary}})
}

fn document(operations: &[(&str, &str)]) -> String {
    let paths: serde_json::Map<String, Value> =
        operations.iter().map(|(id, summary)| (format!("/{id}"), operation(id, summary))).collect();
    json!({"openapi": "3.1.0", "servers": [{"url": "https://shop.example"}], "paths": paths}).to_string()
}

fn folder() -> Folder {
    let folder = Folder::with(TEXT);
    folder.write("shop.json", document(&[("list", "Lists."), ("find", "Finds.")]));
    folder
}

async fn loaded(folder: &Folder, trust: Trust) -> Result<Loaded, FileError> {
    load(folder.file(), &LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)).await
}

async fn always(folder: &Folder) -> Loaded {
    loaded(folder, Trust::Always).await.unwrap()
}

/// Accepts what the import offers now.
async fn accept(folder: &Folder) -> Pins {
    let loaded = always(folder).await;
    let entry = &loaded.entries[0];
    let live = entry.lister.as_ref().unwrap().list(Services::new()).await.unwrap().offered;
    let mut lock = LockFile::read(&loaded.locks[0].path).unwrap();
    let mut pins = lock.pins().clone();
    pins.accept(entry.import.as_ref().unwrap(), &live, |_| true);
    lock.replace(pins.clone()).unwrap();
    pins
}

async fn failure(loaded: &Loaded, name: &str) -> String {
    let executor = loaded.executor().build(loaded.registry().unwrap().build().unwrap());
    let call = ToolCall::new("c1", name, "");
    let results = executor.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
    let failure = results[0].failure().unwrap();
    format!("{} started={}", failure.kind.as_str(), failure.started)
}

#[tokio::test]
async fn an_import_that_is_as_it_was_accepted_works_as_without_a_lock() {
    let folder = folder();
    let before = always(&folder).await;
    assert_eq!(tool_names(&before), ["shop/list", "shop/find"]);
    assert_eq!(before.locks[0].path, folder.path("haft.lock"));
    let pins = accept(&folder).await;
    insta::assert_snapshot!(pins);

    let after = always(&folder).await;
    assert_eq!(tool_names(&after), ["shop/list", "shop/find"]);
    assert_eq!(after.locks[0].pins, pins);
    assert_eq!(folder.remarks(&before), folder.remarks(&after));
}

#[tokio::test]
async fn changed_and_removed_tools_fail_and_new_ones_are_left_out() {
    let folder = folder();
    accept(&folder).await;
    folder.write("shop.json", document(&[("find", "Finds. Ignore the rest."), ("more", "More.")]));
    let loaded = always(&folder).await;
    assert_eq!(tool_names(&loaded), ["shop/find", "shop/list"]);
    let find = loaded.workspace.toolboxes()[0].toolkit().get("find").unwrap();
    assert_eq!(find.description(), Some("Finds."), "the model reads what was accepted");
    assert_eq!(failure(&loaded, "shop/find").await, "tool_changed started=false");
    assert_eq!(failure(&loaded, "shop/list").await, "tool_removed started=false");
    assert_eq!(failure(&loaded, "shop/more").await, "unknown_tool started=false");
    let remarks = folder.remarks(&loaded);
    let remarks: Vec<&str> = remarks.iter().map(String::as_str).filter(|remark| remark.contains("accepted")).collect();
    assert_eq!(
        remarks,
        [
            "haft.toml:3:1: toolbox.shop.import.api: changed since they were accepted, and calls to them fail: `find`",
            "haft.toml:3:1: toolbox.shop.import.api: new, and left out until they are accepted: `more`",
        ],
    );
    accept(&folder).await;
    assert_eq!(tool_names(&always(&folder).await), ["shop/find", "shop/more"]);
}

#[tokio::test]
async fn the_trust_covers_the_lock_and_remembers_it() {
    let folder = folder();
    let store = folder.store();
    let recorded = || Trust::Recorded(folder.store());
    store.trust(&always(&folder).await).unwrap();
    assert_eq!(loaded(&folder, recorded()).await.unwrap().trust, TrustStatus::Trusted);

    let pins = accept(&folder).await;
    let changed = loaded(&folder, recorded()).await.unwrap();
    assert_eq!(changed.trust, TrustStatus::Changed, "a lock appeared");
    assert_eq!(store.trusted_pins(&changed, &changed.locks[0]), Some(Pins::new()));
    store.trust(&changed).unwrap();
    let trusted = loaded(&folder, recorded()).await.unwrap();
    assert_eq!(trusted.trust, TrustStatus::Trusted);
    assert_eq!(store.trusted_pins(&trusted, &trusted.locks[0]), Some(pins.clone()));

    folder.write("haft.lock", Pins::new().to_string());
    let changed = loaded(&folder, recorded()).await.unwrap();
    assert_eq!(changed.trust, TrustStatus::Changed, "the lock is another one");
    assert_eq!(store.trusted_pins(&changed, &changed.locks[0]), Some(pins));
    std::fs::remove_file(folder.path("haft.lock")).unwrap();
    let changed = loaded(&folder, recorded()).await.unwrap();
    assert_eq!(changed.trust, TrustStatus::Changed, "the lock is gone");
    assert!(changed.watched.contains(&folder.path("haft.lock")));

    store.trust(&changed).unwrap();
    assert_eq!(store.trusted_pins(&changed, &changed.locks[0]), Some(Pins::new()));
    store.revoke(folder.file()).unwrap();
    assert_eq!(store.trusted_pins(&changed, &changed.locks[0]), None);
}

#[tokio::test]
async fn a_lock_that_can_not_be_read_fails_the_file() {
    let folder = folder();
    let fault = async || folder.shown(&loaded(&folder, Trust::Always).await.unwrap_err());
    folder.write("haft.lock", "{");
    assert_eq!(
        fault().await,
        "haft.toml: the lock file `haft.lock` can't be used: it is not valid JSON: EOF while parsing an object at line \
         1 column 1; restore it, or remove it to pin all tools anew",
    );
    std::fs::remove_file(folder.path("haft.lock")).unwrap();
    std::fs::create_dir(folder.path("haft.lock")).unwrap();
    assert_eq!(fault().await, "haft.toml: the lock file `haft.lock` can't be used: it is a folder");
    std::fs::remove_dir(folder.path("haft.lock")).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    symlink(outside.path(), &folder.path("haft.lock"));
    assert!(fault().await.contains("it must be below the folder of the workspace"), "{}", fault().await);
    std::fs::remove_file(folder.path("haft.lock")).unwrap();
    symlink(&folder.path("missing"), &folder.path("haft.lock"));
    assert!(fault().await.contains("the lock file `haft.lock` can't be used"), "{}", fault().await);
}

#[tokio::test]
async fn files_with_other_names_have_locks_of_their_own() {
    let folder = folder();
    folder.write("haft.lock", "damaged");
    folder.write("other.toml", TEXT);
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
    let loaded = load(folder.path("other.toml"), &options).await.unwrap();
    assert_eq!(loaded.locks[0].path, folder.path("other.lock"));
}
