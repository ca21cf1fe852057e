//! Callers: what each may see and call, and the tokens by which a server knows them.

use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions};
use haft_registry::Executor;
use haft_workspace::{ANONYMOUS, Loaded, Trust};

use super::Folder;

const FILE: &str = "
[permissions]
allow = ['*']
deny = ['shop/c']
[permissions.sets.support]
allow = ['shop/a', 'shop/c', { tools = 'hash', when = \"'staff' in groups && caller == 'ana'\" }]
[permissions.sets.public]
allow = ['shop/a']

[callers.ana]
token = 'ana-token'
permissions = 'support'
groups = ['staff']
in-flight = 4
per-minute = 60
[callers.bob]
token = 'bob-token'
permissions = 'support'
[callers.root]
token = 'root-token'
[callers.anonymous]
permissions = 'public'

[secrets]
ana-token.file = 'ana.token'
bob-token.file = 'bob.token'
root-token.file = 'root.token'

[toolbox.shop.tool]
a = { kind = 'constant', text = 'a' }
b = { kind = 'constant', text = 'b' }
c = { kind = 'constant', text = 'c' }
";

fn folder(tokens: [&str; 3]) -> Folder {
    let folder = Folder::with(FILE);
    for (name, token) in ["ana", "bob", "root"].into_iter().zip(tokens) {
        folder.write(&format!("{name}.token"), token);
    }
    folder
}

fn executor(loaded: &Loaded) -> Executor {
    loaded.executor().build(loaded.registry().unwrap().build().unwrap())
}

fn listed(executor: &Executor, options: &RunOptions) -> Vec<String> {
    let standard = ["calculate", "date_", "text_", "json_", "hash", "uuid", "time"];
    let tools = executor.list(options).iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    tools.into_iter().filter(|name| name == "hash" || !standard.iter().any(|start| name.starts_with(start))).collect()
}

async fn outcome(executor: &Executor, options: RunOptions, tool: &str) -> String {
    let arguments = if tool == "hash" { r#"{"text": "x"}"# } else { "{}" };
    let calls = vec![ToolCall::new("c1", tool, arguments).into()];
    let results = executor.run_calls(calls, options).collect_results().await;
    results[0].failure().map_or("ok".to_owned(), |failure| failure.kind.to_string())
}

#[tokio::test]
async fn a_caller_sees_and_calls_what_the_file_and_its_set_allow() {
    let loaded = folder(["t1", "t2", "t3"]).load().await;
    let table = [
        ("ana", [("shop/a", "ok"), ("shop/b", "unknown_tool"), ("shop/c", "permission_denied"), ("hash", "ok")]),
        (
            "bob",
            [
                ("shop/a", "ok"),
                ("shop/b", "unknown_tool"),
                ("shop/c", "permission_denied"),
                ("hash", "permission_denied"),
            ],
        ),
        (
            ANONYMOUS,
            [("shop/a", "ok"), ("shop/b", "unknown_tool"), ("shop/c", "unknown_tool"), ("hash", "unknown_tool")],
        ),
        ("root", [("shop/a", "ok"), ("shop/b", "ok"), ("shop/c", "permission_denied"), ("hash", "ok")]),
    ];
    let shared = executor(&loaded);
    for (name, calls) in table {
        let caller = loaded.callers.get(name).unwrap();
        let own = caller.narrow(loaded.executor()).build(loaded.registry().unwrap().build().unwrap());
        for (tool, expected) in calls {
            assert_eq!(outcome(&shared, caller.options(), tool).await, expected, "{name} {tool}");
            assert_eq!(outcome(&own, own.options(), tool).await, expected, "{name} {tool}, alone");
        }
        assert_eq!(listed(&shared, &caller.options()), listed(&own, &own.options()), "{name}");
    }
    assert_eq!(listed(&shared, &loaded.callers.anonymous().unwrap().options()), ["shop/a"]);
    let ana = loaded.callers.get("ana").unwrap();
    assert_eq!((ana.in_flight.unwrap().get(), ana.per_minute.unwrap().get()), (4, 60));
    let error = loaded.callers.get("an").unwrap_err();
    assert_eq!(error.to_string(), "there is no caller `an`; did you mean `ana`?");
}

#[tokio::test]
async fn a_token_belongs_to_one_caller() {
    let folder = folder(["t-ana", "t-bob\n", "t-root"]);
    let loaded = folder.load().await;
    let tokens = loaded.callers.tokens(&loaded.secrets).unwrap();
    let name = |token: &str| tokens.find(token).map(|caller| caller.name.clone());
    assert_eq!(name("t-ana").unwrap(), "ana");
    assert_eq!(name("t-bob").unwrap(), "bob");
    for unknown in ["", "t-an", "t-ana ", "T-ANA", "t-ana\0"] {
        assert_eq!(name(unknown), None, "{unknown:?}");
    }
    assert_eq!(format!("{tokens:?}"), r#"["ana", "bob", "root"]"#);
}

#[tokio::test]
async fn tokens_that_can_not_be_used_are_faults_with_their_places() {
    for (tokens, expected) in [
        (
            ["same", "same", "x"],
            "haft.toml:17:9: callers.bob.token: the caller `ana` has the same token; put another one \
                                 into the secret `bob-token`",
        ),
        (
            ["", "b", "c"],
            "haft.toml:11:9: callers.ana.token: the secret `ana-token` can't be read: the file `ana.token` \
                          is empty",
        ),
        (
            ["a b", "b", "c"],
            "haft.toml:11:9: callers.ana.token: no client can send this token in a header; use letters, \
                             digits and `-._~+/=` in the secret `ana-token`",
        ),
    ] {
        let folder = folder(tokens);
        let loaded = folder.load().await;
        assert_eq!(folder.shown(&loaded.callers.tokens(&loaded.secrets).unwrap_err()), expected);
    }
    let folder = Folder::with("[callers.ana]\ntoken = 'ana-tokn'\n[secrets]\nana-token.env = 'X'\n");
    let loaded = folder.load().await;
    let remark = "haft.toml:2:1: callers.ana.token: the secret `ana-tokn` is not defined; did you mean `ana-token`?";
    assert_eq!(folder.remarks(&loaded), [remark]);
    let error = folder.shown(&loaded.callers.tokens(&loaded.secrets).unwrap_err());
    assert!(error.starts_with("haft.toml:2:9: callers.ana.token: the secret `ana-tokn` can't be read: "), "{error}");
}

#[tokio::test]
async fn the_tokens_of_an_untrusted_file_are_withheld() {
    let folder = folder(["t1", "t2", "t3"]);
    let loaded = folder.load_with(Trust::Never).await.unwrap();
    let error = folder.shown(&loaded.callers.tokens(&loaded.secrets).unwrap_err());
    assert_eq!(error.lines().count(), 3);
    assert!(error.contains("is not trusted; review the file, and trust it"), "{error}");
}

#[tokio::test]
async fn sets_that_only_callers_use_are_checked_as_well() {
    let folder = Folder::with(
        "[permissions.sets.a]\nallow = ['shop/*', { tools = 'hash', when = 'has(args.txt)' }]\n\
         [callers.ana]\npermissions = 'a'\n[callers.bob]\npermissions = 'a'\n",
    );
    let loaded = folder.load().await;
    let advice = "no rule here allows anything, so no caller may call anything: the sets of callers only narrow; add \
                  `allow = [\"*\"]`, or what all of them may call at most";
    let remarks = folder.remarks(&loaded);
    assert_eq!(remarks.len(), 2, "{remarks:#?}");
    assert!(remarks.iter().any(|remark| remark.ends_with(advice)), "{remarks:#?}");
    assert!(
        remarks.iter().any(|remark| remark.contains("permissions.sets.a.allow[0]: matches no tool")),
        "{remarks:#?}"
    );
    assert_eq!(loaded.rule_findings().len(), 1);
}

#[tokio::test]
async fn callers_of_an_organisation_do_not_count() {
    let folder = Folder::with("workspace.orgs = ['acme']\n");
    folder.write("acme/haft.toml", "[workspace]\norg = 'acme'\n[callers.ana]\n");
    let loaded = folder.load().await;
    assert!(loaded.callers.is_empty());
    assert_eq!(folder.remarks(&loaded).len(), 1);
}
