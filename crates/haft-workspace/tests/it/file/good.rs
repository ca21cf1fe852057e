//! Files without faults: every setting has its effect.

use std::time::Duration;

use haft_core::ToolCall;
use haft_executor::{Concurrency, RunOptions, Tool, Toolkit};
use haft_registry::SecretFault;
use haft_workspace::{LoadOptions, Trust, TrustStatus, load};

use super::{Folder, answer, tool_names};

#[tokio::test]
async fn an_empty_file_is_a_workspace_with_the_standard_toolbox() {
    let loaded = Folder::with("").load().await;
    assert!(loaded.workspace.toolboxes().is_empty() && loaded.orgs.is_empty());
    assert!(loaded.standard.is_some());
    assert_eq!(loaded.files.len(), 1);
    assert!(Folder::with("workspace.standard = false").load().await.standard.is_none());
}

#[tokio::test]
async fn entries_keep_their_order_and_their_settings() {
    let folder = Folder::with(
        "
        [toolbox.z]
        description = 'Last letter.'
        [toolbox.z.tool.two]
        kind = 'constant'
        text = 'II'
        title = 'Two'
        description = 'Returns two.'
        version = '2.0'
        parameters = { type = 'object', properties = { q = { type = 'string' }, a = {} }, required = ['q'] }
        output = { type = 'string' }
        examples = [{ q = 'x' }]
        readonly = true
        destructive = false
        idempotent = true
        open-world = false
        timeout = 1.5
        idle-timeout = 1
        max-output = 100
        concurrency = { key = 'db' }
        approval = 'always'
        [toolbox.z.tool.one]
        kind = 'constant'
        text = 'I'
        concurrency = 3
        [toolbox.a.tool.three]
        kind = 'constant'
        text = 'III'
        concurrency = 'exclusive'
        ",
    );
    let loaded = folder.load().await;
    assert_eq!(tool_names(&loaded), ["z/two", "z/one", "a/three"]);
    assert_eq!(loaded.workspace.toolbox("z").unwrap().description(), Some("Last letter."));

    let kit = loaded.workspace.toolbox("z").unwrap().toolkit();
    let two = kit.get("two").unwrap();
    let descriptor = serde_json::to_value(two.descriptor()).unwrap();
    insta::assert_json_snapshot!("descriptor", descriptor);
    assert_eq!(two.limits().timeout, Some(Duration::from_millis(1500)));
    assert_eq!(two.limits().idle_timeout, Some(Duration::from_secs(1)));
    assert_eq!(two.limits().output_cap.unwrap().bytes.get(), 100);
    assert_eq!(two.limits().concurrency, Concurrency::Keyed("db".to_owned()));
    assert!(!two.approval().is_never());
    let one = kit.get("one").unwrap();
    assert_eq!(one.limits().concurrency, Concurrency::Max(3.try_into().unwrap()));
    assert!(one.approval().is_never());
    let three = loaded.workspace.toolbox("a").unwrap().toolkit().get("three").unwrap();
    assert_eq!(three.limits().concurrency, Concurrency::Exclusive);
}

#[tokio::test]
async fn exports_replace_standard_tools() {
    let folder = Folder::with(
        "
        [toolbox.math.tool.calculate]
        kind = 'constant'
        text = 'ours'
        export = true
        [toolbox.math.import.more]
        kind = 'lines'
        file = 'more.txt'
        export = true
        approval = 'always'
        ",
    );
    folder.write("more.txt", "sub\n# mul\ndiv\n");
    let loaded = folder.load().await;
    let registry = loaded.registry().unwrap().build().unwrap();
    let found = |name: &str| registry.find(name).unwrap().name.to_string();
    assert_eq!([found("calculate"), found("hash"), found("div")], ["math/calculate", "hash", "math/div"]);
    assert_eq!(answer(&registry, "math/calculate").await, "ours");
    assert!(!registry.find("sub").unwrap().tool.approval().is_never());
    assert_eq!(
        folder.remarks(&loaded),
        ["haft.toml:8:16: toolbox.math.import.more.file: the line `# mul` is left out"]
    );
    assert_eq!(loaded.files[1].path, folder.path("more.txt"));
}

#[tokio::test]
async fn secrets_are_read_when_they_are_needed() {
    let folder =
        Folder::with("[secrets]\nmail = { file = 'secrets/mail' }\nother = { env = 'HAFT_NO_SUCH_VARIABLE' }\n");
    let secrets = folder.load().await.secrets;
    assert!(matches!(secrets.get("mail").unwrap_err().fault, SecretFault::File { .. }));
    folder.write("secrets/mail", "hunter2\n");
    assert_eq!(secrets.get("mail").unwrap().expose(), "hunter2");
    assert!(matches!(secrets.get("other").unwrap_err().fault, SecretFault::Env(_)));
    assert!(matches!(secrets.get("absent").unwrap_err().fault, SecretFault::Undefined));
}

#[tokio::test]
async fn settings_of_runs_and_requests() {
    let folder = Folder::with(
        "
        [workspace]
        standard = { files = 'data', fetch = true, only = ['file_read', 'fetch', 'hash'] }
        [http]
        allow-hosts = ['localhost:8080']
        allow-nets = ['10.0.0.0/8']
        [limits]
        concurrency = 8
        timeout = 60
        call-timeout = 0.5
        call-idle-timeout = 1
        max-output = 1000
        ",
    );
    folder.write("data/a.txt", "");
    let loaded = folder.load().await;
    let standard = loaded.standard.as_ref().unwrap();
    assert_eq!(standard.files, Some(folder.path("data")));
    assert!(standard.fetch);
    assert_eq!(standard.only.as_ref().unwrap(), &["file_read", "fetch", "hash"]);
    assert_eq!(loaded.http.allow_hosts, ["localhost:8080"]);
    assert_eq!(loaded.http.allow_nets, ["10.0.0.0/8"]);
    assert_eq!(loaded.limits.timeout.map(Duration::from), Some(Duration::from_secs(60)));
    let options = format!("{:?}", loaded.limits.apply(RunOptions::new()));
    assert!(options.contains("concurrency: Some(8), call_timeout: Some(500ms)"), "{options}");
    let kit: Toolkit = [Tool::new("long").handler(|(), _cx| async { "x".repeat(2000) }).unwrap()].into_iter().collect();
    let options = loaded.limits.apply(RunOptions::new());
    let result = kit.run_call_with(&ToolCall::new("c1", "long", ""), &options).await;
    assert!(result.to_model_text().ends_with("[truncated: the first 1000 of 2000 bytes are shown]"));
    assert_eq!(loaded.trust, TrustStatus::Trusted);
}

#[tokio::test]
async fn the_digest_is_that_of_all_files() {
    let folder = Folder::with("[toolbox.a.import.b]\nkind = 'lines'\nfile = 'more.txt'\n");
    folder.write("more.txt", "x\n");
    let first = folder.load().await.digest;
    assert_eq!(folder.load_with(Trust::Never).await.unwrap().digest, first);
    folder.write("more.txt", "y\n");
    assert_ne!(folder.load().await.digest, first);
}

#[tokio::test]
async fn permissions_and_approval_rules() {
    let folder = Folder::with(
        "
        [permissions]
        allow = ['math/*', { tools = 'github/*', readonly = true }]
        deny = ['math/sub']
        [[approval]]
        ask = 'math/add'
        when = 'args.amount > 100'
        [toolbox.math.tool.add]
        kind = 'constant'
        text = 'sum'
        [toolbox.math.tool.sub]
        kind = 'constant'
        text = 'difference'
        ",
    );
    let loaded = folder.load().await;
    let executor = loaded.executor().build(loaded.registry().unwrap().build().unwrap());
    let error = executor.run("math/sub", serde_json::json!({})).await.unwrap_err();
    assert!(error.to_string().contains("math/sub"), "{error}");
    let rule = loaded.ask_rules.unmatched_rules(&["math/sub".parse().unwrap()]).len();
    assert_eq!(rule, 1);
    assert!(Folder::with("").load().await.permissions.is_none());
}

#[tokio::test]
async fn rules_that_match_no_tool_are_remarked() {
    let folder = Folder::with(
        "
[workspace]
orgs = ['acme']
[permissions]
use = ['used']
allow = ['shp/*', 'shop/order', 'calculate', 'calclate', 'acme/crm/find', 'nothing-like-it']
deny = ['shop', { tools = ['shop/oder'] }, 'SHOP/ORDER', 'shop/run', '/shop', 'acme']
[permissions.sets.used]
deny = ['shop/odrer']
[permissions.sets.unused]
deny = ['shop/odrer']
[[approval]]
ask = 'shop/order'
[[approval]]
ask = 'shop/oder'
[toolbox.shop.tool.order]
kind = 'constant'
text = 'ordered'
[toolbox.shop.tool.run]
kind = 'program'
run = ['ls']
",
    );
    folder.write(
        "acme/haft.toml",
        "[workspace]\norg = 'acme'\n[[approval]]\nask = 'acme/crm/fnd'\n[[approval]]\nask = 'shop/order'\n\
         [toolbox.crm.tool.find]\nkind = 'constant'\ntext = 'x'\n",
    );
    for trust in [Trust::Always, Trust::Never] {
        let loaded = folder.load_with(trust).await.unwrap();
        let mut remarks = folder.remarks(&loaded);
        remarks.retain(|remark| remark.contains("matches no tool"));
        assert_eq!(
            remarks,
            [
                "haft.toml:6:10: permissions.allow[0]: matches no tool; did you mean `shop/*`?",
                "haft.toml:6:46: permissions.allow[3]: matches no tool; did you mean `calculate`?",
                "haft.toml:6:75: permissions.allow[5]: matches no tool; check its patterns, or remove it",
                "haft.toml:7:9: permissions.deny[0]: matches no tool; did you mean `shop/*`?",
                "haft.toml:7:17: permissions.deny[1]: matches no tool; did you mean `shop/order`?",
                "haft.toml:7:70: permissions.deny[4]: matches no tool; did you mean `shop/*`?",
                "haft.toml:7:79: permissions.deny[5]: matches no tool; did you mean `acme/*/*`?",
                "haft.toml:9:9: permissions.sets.used.deny[0]: matches no tool; did you mean `shop/order`?",
                "haft.toml:14:1: approval[1]: matches no tool; did you mean `shop/order`?",
                "acme/haft.toml:3:1: approval[0]: matches no tool; did you mean `acme/crm/find`?",
            ],
        );
    }
}

#[tokio::test]
async fn secrets_that_no_file_defines_are_remarked() {
    let folder = Folder::with(
        "
        [secrets]
        github = { env = 'GITHUB_TOKEN' }
        [toolbox.a.tool.b]
        kind = 'http'
        url = 'https://api.example.com/b'
        auth = { bearer = 'githb' }
        [toolbox.a.tool.c]
        kind = 'http'
        url = 'https://api.example.com/c'
        auth = { bearer = 'gitlab' }
        [toolbox.a.tool.d]
        kind = 'http'
        url = 'https://api.example.com/d'
        auth = { bearer = 'github' }
        ",
    );
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
    let loaded = load(folder.file(), &options).await.unwrap();
    assert_eq!(
        folder.remarks(&loaded),
        [
            "haft.toml:4:25: toolbox.a.tool.b: the secret `githb` is not defined; did you mean `github`?",
            "haft.toml:8:25: toolbox.a.tool.c: the secret `gitlab` is not defined; did you mean `github`?",
        ],
    );
}

#[tokio::test]
async fn changes_of_openapi_documents_are_noticed() {
    let folder = Folder::with("[toolbox.pets.import.api]\nkind = 'openapi'\nfile = 'api.yaml'\ntimeout = 5\n");
    let document = "openapi: 3.1.0\ninfo: { title: Pets, version: '1' }\nservers: [{ url: 'https://pets.example' }]\n\
                    paths:\n  /pets:\n    get:\n      operationId: listPets\n      responses: { '200': { description: ok } }\n";
    folder.write("api.yaml", document);
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Recorded(folder.store()));
    folder.store().trust(&load(folder.file(), &options).await.unwrap()).unwrap();
    let loaded = load(folder.file(), &options).await.unwrap();
    assert_eq!((tool_names(&loaded), loaded.trust), (vec!["pets/listPets".to_owned()], TrustStatus::Trusted));
    assert!(loaded.watched.contains(&folder.path("api.yaml")));
    let tool = loaded.workspace.toolbox("pets").unwrap().toolkit().get("listPets").unwrap().clone();
    assert_eq!(tool.limits().timeout, Some(Duration::from_secs(5)));

    folder.write("api.yaml", document.replace("pets.example", "evil.example"));
    assert_eq!(load(folder.file(), &options).await.unwrap().trust, TrustStatus::Changed);
}
