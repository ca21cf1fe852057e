//! Workspaces of organisations, by path.

use haft_executor::ToolSource;
use haft_workspace::{Trust, TrustStatus};

use super::{Folder, tool_names};

fn org(name: &str, tool: &str) -> String {
    format!("[workspace]\norg = '{name}'\n[toolbox.geo.tool.{tool}]\nkind = 'constant'\ntext = '{name}'\n")
}

#[tokio::test]
async fn organisations_are_read_from_folders_and_files() {
    let folder = Folder::with("workspace.orgs = ['../acme', 'vendor/zeta.toml']\n");
    let parent = Folder::new();
    let project = parent.path("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::copy(folder.file(), project.join("haft.toml")).unwrap();
    parent.write("acme/haft.toml", org("acme", "area"));
    parent.write("project/vendor/zeta.toml", org("zeta", "area"));
    let loaded = haft_workspace::load(project.join("haft.toml"), &super::options().trust(Trust::Always)).await.unwrap();
    assert_eq!(tool_names(&loaded), ["geo/area", "geo/area"]);
    assert_eq!(loaded.orgs[0].org().unwrap().as_str(), "acme");
    let registry = loaded.registry().unwrap().build().unwrap();
    let names: Vec<String> =
        registry.snapshot().toolkit().names().filter(|name| name.contains('/')).map(str::to_owned).collect();
    assert_eq!(names, ["acme/geo/area", "zeta/geo/area"]);
    assert!(registry.find("geo/area").unwrap_err().to_string().contains("may mean"));
    assert_eq!(loaded.files.len(), 3);
}

#[tokio::test]
async fn a_file_of_an_organisation_is_loaded_by_itself() {
    let folder = Folder::with(org("acme", "area") + "[limits]\nconcurrency = 2\n");
    let loaded = folder.load().await;
    assert_eq!(loaded.workspace.org().unwrap().as_str(), "acme");
    assert_eq!(loaded.limits.concurrency.unwrap().get(), 2);
}

#[tokio::test]
async fn settings_of_organisations() {
    let folder = Folder::with(
        "workspace.orgs = ['acme']\n[secrets]\nmail = { file = 'mail' }\n[http]\nallow-hosts = ['a']\nonly-hosts = ['c']\n[limits]\nconcurrency = 1\n",
    );
    folder.write(
        "acme/haft.toml",
        "[workspace]\norg = 'acme'\nstandard = false\n[secrets]\nmail = { file = 'mail' }\ncrm = { file = 'crm' }\n\
         [http]\nallow-hosts = ['b']\nonly-hosts = ['d']\n[limits]\nconcurrency = 9\n",
    );
    folder.write("mail", "ours");
    folder.write("acme/mail", "theirs");
    folder.write("acme/crm", "crm");
    let loaded = folder.load().await;
    assert_eq!(loaded.secrets.get("mail").unwrap().expose(), "ours");
    assert_eq!(loaded.secrets.get("crm").unwrap().expose(), "crm");
    assert_eq!(loaded.http.allow_hosts, ["a", "b"]);
    assert_eq!(loaded.http.only_hosts.as_ref().unwrap(), &["c", "d"]);
    assert_eq!(loaded.limits.concurrency.unwrap().get(), 1);
    assert!(loaded.standard.is_some());
    let left_out = "left out: this counts only in the file that is loaded itself, not in that of an organisation";
    assert_eq!(
        folder.remarks(&loaded),
        [
            format!("acme/haft.toml:3:1: workspace.standard: {left_out}"),
            "acme/haft.toml:5:1: secrets.mail: left out: another file defines the secret `mail` already".to_owned(),
            format!("acme/haft.toml:10:2: limits: {left_out}"),
        ],
    );
}

#[tokio::test]
async fn faults() {
    for (orgs, files, expected) in [
        (
            "['nowhere', 'none.toml']",
            vec![],
            "haft.toml:1:19: workspace.orgs[0]: nowhere: there is no such file\n\
             haft.toml:1:30: workspace.orgs[1]: none.toml: there is no such file",
        ),
        (
            "['a']",
            vec![("a/haft.toml", "[limits]\n".to_owned())],
            "haft.toml:1:19: workspace.orgs[0]: `a/haft.toml` belongs to no organisation: it must be TOML that sets \
             `org` in its `[workspace]`; load it by itself to see its faults",
        ),
        (
            "['a', 'b']",
            vec![("a/haft.toml", org("acme", "x")), ("b/haft.toml", org("ACME", "y"))],
            "haft.toml:1:24: workspace.orgs[1]: `b/haft.toml` and `a/haft.toml` both belong to the organisation `ACME`; \
             put their toolboxes in one",
        ),
        (
            "['a', 'b/../a/haft.toml']",
            vec![("a/haft.toml", org("acme", "x")), ("b/x", String::new())],
            "haft.toml:1:24: workspace.orgs[1]: `b/../a/haft.toml` is listed twice; remove one",
        ),
        (
            "['.']",
            vec![],
            "haft.toml:1:19: workspace.orgs[0]: `./haft.toml` is this file, or names it in turn; remove one of them",
        ),
        (
            "['a']",
            vec![
                ("a/haft.toml", "[workspace]\norg = 'a'\norgs = ['../b']\n".to_owned()),
                ("b/haft.toml", "[workspace]\norg = 'b'\norgs = ['../a']\n".to_owned()),
            ],
            "a/../b/haft.toml:3:9: workspace.orgs[0]: `a/../b/../a/haft.toml` is this file, or names it in turn; remove \
             one of them",
        ),
        (
            "['a']",
            vec![("a/haft.toml", "[workspace]\norg = 'a'\n[toolbox.x.tool.y]\nkind = 'constnt'\n[limts]\n".to_owned())],
            "a/haft.toml:4:8: toolbox.x.tool.y.kind: there is no kind `constnt`; did you mean `constant`?\n\
             a/haft.toml:5:2: limts: the key \"limts\" is not allowed; did you mean \"limits\"?",
        ),
    ] {
        let folder = Folder::with(format!("workspace.orgs = {orgs}\n"));
        for (path, text) in files {
            folder.write(path, text);
        }
        assert_eq!(folder.faults().await, expected);
    }
}

#[tokio::test]
async fn an_organisation_that_two_others_name_is_read_once() {
    let folder = Folder::with("workspace.orgs = ['a', 'b']\n");
    folder.write("a/haft.toml", "[workspace]\norg = 'a'\norgs = ['../c']\n");
    folder.write("b/haft.toml", "[workspace]\norg = 'b'\norgs = ['../c']\n");
    folder.write("c/haft.toml", org("c", "area"));
    let names: Vec<_> = folder.load().await.orgs.iter().map(|org| org.org().unwrap().to_string()).collect();
    assert_eq!(names, ["a", "c", "b"]);
}

#[tokio::test]
async fn trust_covers_organisations() {
    let folder = Folder::with("workspace.orgs = ['acme']\n");
    let program = "[workspace]\norg = 'acme'\n[toolbox.sh.tool.ls]\nkind = 'program'\nrun = ['ls']\n";
    folder.write("acme/haft.toml", program);
    let trust = || Trust::Recorded(folder.store());
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, tool_names(&loaded).len()), (TrustStatus::Unknown, 0));
    assert_eq!(
        folder.remarks(&loaded),
        ["acme/haft.toml:3:18: toolbox.sh.tool.ls: left out: starting commands requires that this file is trusted"],
    );
    folder.store().trust(&loaded).unwrap();
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, tool_names(&loaded).len()), (TrustStatus::Trusted, 1));

    folder.write("acme/haft.toml", program.replace("'ls']", "'rm', '-rf', '/']"));
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, tool_names(&loaded).len()), (TrustStatus::Changed, 0));
}
