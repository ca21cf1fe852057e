//! Imports whose tools change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::FailureKind;
use haft_executor::{Changed, Services, SharedToolkit, Snapshot, Tool, ToolSource};
use haft_registry::{
    Building, Built, Closing, Entry, EntryFault, ImplementationKind, Kinds, LiveSource, Probe, Reach, Recipient,
    Refreshing, Yields,
};
use haft_workspace::{LoadOptions, Loaded, Trust, UntrustedAuthor, load};
use serde_json::{Value, json};

use super::Folder;

/// Yields the tools of a server that the test plays.
#[derive(Clone, Default)]
struct Server {
    tools: SharedToolkit,
    closed: Arc<AtomicUsize>,
    yields_one: bool,
}

impl ToolSource for Server {
    fn snapshot(&self) -> Snapshot {
        self.tools.snapshot()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.tools.changed(after)
    }
}

impl LiveSource for Server {
    fn refresh(&self, _: Services) -> Refreshing<'_> {
        Box::pin(async { self.tools.add(tool("fresh")).map_err(Into::into) })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(async {
            self.closed.fetch_add(1, Ordering::Relaxed);
        })
    }
}

impl ImplementationKind for Server {
    fn name(&self) -> &'static str {
        "server"
    }

    fn yields(&self) -> Yields {
        if self.yields_one { Yields::OneTool } else { Yields::ManyTools }
    }

    fn settings_schema(&self) -> Value {
        json!({"type": "object", "properties": {"url": {"type": "string"}}})
    }

    fn build(&self, entry: Entry) -> Building {
        let server = self.clone();
        Box::pin(async move {
            let reach = match entry.settings["url"].as_str() {
                Some(url) => Reach::nothing().with(Recipient::Host(url.to_owned()), []),
                None => Reach::nothing(),
            };
            Ok(Built::live(server, reach).with_probe(Probe::new(|| vec![EntryFault::at("/url", "not listed yet")])))
        })
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(|(), _cx| async { "done" }).unwrap()
}

fn options(server: &Server) -> LoadOptions {
    LoadOptions::new(Kinds::empty().with(server.clone()).unwrap()).unwrap()
}

async fn loaded(folder: &Folder, server: &Server, trust: Trust) -> Loaded {
    load(folder.file(), &options(server).trust(trust)).await.unwrap()
}

const SERVER: &str = "workspace.standard = false\n[toolbox.shop.import.server]\nkind = 'server'\n\
                      url = 'https://shop.example'\n";

#[tokio::test]
async fn an_executor_follows_an_import_with_the_settings_of_its_entry() {
    let (folder, server) = (Folder::with(format!("{SERVER}approval = 'always'\ntimeout = 3\n")), Server::default());
    server.tools.add(tool("known")).unwrap();
    let loaded = loaded(&folder, &server, Trust::Always).await;
    assert_eq!(loaded.entries[0].tools[0].to_string(), "shop/known");
    let executor = loaded.executor().build(loaded.registry().unwrap().build().unwrap());

    loaded.entries[0].live.as_ref().unwrap().refresh(Services::new()).await.unwrap();
    let found = executor.find("shop/fresh").unwrap();
    assert_eq!(found.tool.limits().timeout.unwrap().as_secs(), 3);
    assert!(loaded.entries[0].has_tool(&found.name));
    assert!(!loaded.entries[0].has_tool(&"other/fresh".parse().unwrap()));
    assert!(found.tool.id().as_str().starts_with("server."), "{}", found.tool.id());
    // No approver: a call that requires approval is denied.
    let error = executor.run("shop/fresh", json!({})).await.unwrap_err();
    assert_eq!(*error.kind(), FailureKind::Denied);

    server.tools.remove("known");
    assert!(executor.find("shop/known").is_err());
}

#[tokio::test]
async fn an_untrusted_import_that_reaches_something_is_left_out_for_good() {
    let (folder, server) = (Folder::with(SERVER), Server::default());
    server.tools.add(tool("known")).unwrap();
    let loaded = loaded(&folder, &server, Trust::Never).await;
    assert!(loaded.entries[0].is_left_out && loaded.needs_trust());
    assert_eq!(loaded.left_out().map(ToString::to_string).collect::<Vec<_>>(), ["shop/known"]);
    let registry = loaded.registry().unwrap().build().unwrap();
    server.tools.add(tool("later")).unwrap();
    assert!(registry.list().is_empty());
}

#[tokio::test]
async fn an_untrusted_import_that_reaches_nothing_marks_tools_that_come_later() {
    let folder = Folder::with("workspace.standard = false\n[toolbox.shop.import.server]\nkind = 'server'\n");
    let server = Server::default();
    let registry = loaded(&folder, &server, Trust::Never).await.registry().unwrap().build().unwrap();
    server.tools.add(tool("later")).unwrap();
    let found = registry.find("shop/later").unwrap();
    assert!(found.tool.annotations().get::<UntrustedAuthor>().is_some());
}

#[tokio::test]
async fn tools_that_may_change_are_not_exported() {
    let folder = Folder::with(format!("{SERVER}export = true\n"));
    let error = load(folder.file(), &options(&Server::default()).trust(Trust::Always)).await.unwrap_err();
    let text = folder.shown(&error);
    let fault = "haft.toml:5:10: toolbox.shop.import.server.export: tools that may change can't be exported; \
                 remove `export`, and call them by full names";
    assert!(text.contains(fault), "{text}");
}

#[tokio::test]
async fn a_kind_for_one_tool_yields_no_source() {
    let folder = Folder::with("[toolbox.shop.tool.server]\nkind = 'server'\n");
    let server = Server { yields_one: true, ..Server::default() };
    let loaded = loaded(&folder, &server, Trust::Always).await;
    let fault = &loaded.set_aside[0].faults[0].message;
    assert_eq!(fault, "the kind `server` did not build one tool with the name of the entry");
}

#[tokio::test]
async fn rules_about_tools_that_may_come_get_no_remark() {
    let rules = "[permissions]\nallow = ['shop/buy', 'shop/sell_*', 'mail/send']\n";
    let folder = Folder::with(format!("{SERVER}{rules}"));
    let loaded = loaded(&folder, &Server::default(), Trust::Always).await;
    let remarks = folder.remarks(&loaded);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("allow[2]"), "{remarks:?}");
}

#[tokio::test]
async fn closing_a_workspace_closes_its_sources() {
    let (folder, server) = (Folder::with(SERVER), Server::default());
    loaded(&folder, &server, Trust::Always).await.close().await;
    assert_eq!(server.closed.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_entry_has_the_probe_of_its_kind() {
    let loaded = loaded(&Folder::with(SERVER), &Server::default(), Trust::Always).await;
    let faults = loaded.entries[0].probe.as_ref().unwrap().faults();
    assert_eq!((faults[0].pointer.as_str(), faults[0].message.as_str()), ("/url", "not listed yet"));
}
