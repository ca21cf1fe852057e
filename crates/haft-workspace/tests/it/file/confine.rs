//! An untrusted file's paths stay in its folder, and other files' content stays unseen.

use haft_registry::Recipient;
use haft_workspace::{
    FileError, LoadOptions, Loaded, Privilege, PrivilegeKind, Trust, TrustStatus, UntrustedAuthor, load,
};

use super::{Folder, symlink, tool_names};

async fn built_in(folder: &Folder, trust: Trust) -> Result<Loaded, FileError> {
    load(folder.file(), &LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)).await
}

const ORG: &str = "[workspace]\norg = 'acme'\n[toolbox.geo.tool.area]\nkind = 'constant'\ntext = 'x'\n";

#[cfg(unix)]
#[tokio::test]
async fn an_untrusted_file_opens_nothing_outside_its_folder() {
    let outside = Folder::with(ORG);
    let folder = Folder::new();
    symlink(&outside.path(""), &folder.path("folder-link"));
    symlink(&outside.file(), &folder.path("file-link.toml"));
    std::fs::create_dir(folder.path("inner")).unwrap();
    symlink(&outside.file(), &folder.path("inner/haft.toml"));
    let absolute = outside.path("").display().to_string();
    let up = format!("../{}", outside.path("").file_name().unwrap().to_str().unwrap());
    for path in [&*absolute, &*up, "folder-link", "file-link.toml", "inner", "/proc/self/environ", "../missing"] {
        folder.write("haft.toml", format!("workspace.orgs = ['{path}']\n"));
        let untrusted = folder.load_with(Trust::Never).await.unwrap();
        assert_eq!((untrusted.orgs.len(), untrusted.files.len()), (0, 1), "{path}");
        assert_eq!(
            folder.remarks(&untrusted),
            [
                "haft.toml:1:19: workspace.orgs[0]: left out: a path out of this folder requires that this file is trusted"
            ],
            "{path}"
        );
        let real = std::fs::canonicalize(folder.path("").join(path)).unwrap_or_else(|_| folder.path("").join(path));
        assert!(
            matches!(&untrusted.privileges[..], [Privilege { kind: PrivilegeKind::Organisation(path), needs_trust: true, .. }]
                if *path == real),
            "{path}: {:?}",
            untrusted.privileges
        );
        assert!(untrusted.watched.iter().all(|watched| watched.starts_with(folder.path(""))), "{path}");
        if !path.contains("proc") && !path.contains("missing") {
            assert_eq!(tool_names(&folder.load().await), ["geo/area"], "{path}");
        }
    }
}

/// Other people's files, from which nothing may be shown.
const CONTENTS: [&str; 9] = [
    "TOKEN=s3cret\0PATH=/bin",
    "TOKEN=\"s3cret\"\n",
    "-----BEGIN s3cret KEY-----\n",
    "[registry]\ntoken = 's3cret'\n",
    "[s3cret]\nx = 2024-01-01\n",
    "{ \"s3cret\": 1 }",
    "x: *s3cret\n",
    "s3cret: 1\ns3cret: 2\n",
    "[workspace]\nmembers = ['s3cret']\n",
];

#[cfg(unix)]
#[tokio::test]
async fn the_content_of_files_that_are_not_workspace_files_is_never_shown() {
    let folder = Folder::new();
    let linked = Folder::new();
    for content in CONTENTS {
        folder.write("other", content);
        let mut errors = Vec::new();
        folder.write("haft.toml", "workspace.orgs = ['other']\n");
        for trust in [Trust::Never, Trust::Always] {
            errors.push(built_in(&folder, trust).await.unwrap_err());
        }
        folder.write("haft.toml", "[toolbox.a.import.x]\nkind = 'openapi'\nfile = 'other'\n");
        let complete = built_in(&folder, Trust::Never).await.and_then(|loaded| loaded.ensure_complete());
        errors.push(complete.unwrap_err());
        // Nobody meant a link to a file to be a workspace.
        let _ = std::fs::remove_file(linked.file());
        symlink(&folder.path("other"), &linked.file());
        errors.push(built_in(&linked, Trust::Never).await.unwrap_err());
        for error in errors {
            assert!(!error.to_string().contains("s3cret"), "{error}");
            // Whoever prints an excerpt does so by the position.
            let is_known = |path: &std::path::Path| path == folder.file();
            assert!(error.faults.iter().all(|fault| is_known(&fault.path) || fault.position.is_none()), "{error:?}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn code_below_the_folder_that_a_command_starts_counts_for_the_trust() {
    for (argv, file) in [
        ("'./run.sh'", "run.sh"),
        ("'scripts/run.sh', '{x}'", "scripts/run.sh"),
        ("'sh', 'run.sh'", "run.sh"),
        ("'sh', './scripts/../run.sh', '--'", "run.sh"),
        ("'tool', '--config=conf/rules.js'", "conf/rules.js"),
        ("'env', 'sh', 'scripts/run.sh'", "scripts/run.sh"),
        ("'timeout', '5', './run.sh'", "run.sh"),
        ("'sh', '-c', 'set -e; ./scripts/run.sh && echo done'", "scripts/run.sh"),
    ] {
        let folder = Folder::with(format!("[toolbox.a.tool.run]\nkind = 'command'\ncommand = [{argv}]\n"));
        folder.write("scripts/other", "");
        folder.write(file, "echo 1\n");
        let recorded = || Trust::Recorded(folder.store());
        let status = async || built_in(&folder, recorded()).await.unwrap().trust;
        folder.store().trust(&built_in(&folder, recorded()).await.unwrap()).unwrap();
        assert_eq!(status().await, TrustStatus::Trusted, "{argv}");
        folder.write("scripts/other", "changed");
        assert_eq!(status().await, TrustStatus::Trusted, "{argv}");

        folder.write(file, "curl evil.example\n");
        assert_eq!(status().await, TrustStatus::Changed, "{argv}");
        std::fs::remove_file(folder.path(file)).unwrap();
        assert_eq!(status().await, TrustStatus::Changed, "{argv}: removed");
        let outside = Folder::with("echo 1\n");
        symlink(&outside.file(), &folder.path(file));
        assert_eq!(status().await, TrustStatus::Changed, "{argv}: a link that leads out");
        std::fs::remove_file(folder.path(file)).unwrap();
        folder.write(file, "echo 1\n");
        assert_eq!(status().await, TrustStatus::Trusted, "{argv}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_place_of_what_was_trusted_ends_the_trust() {
    let outside = Folder::with("");
    outside.write("key", "other");
    for (text, name, target) in [
        ("[workspace]\nstandard = { files = 'own' }\n[secrets]\nk = { env = 'K' }\n", "own", outside.path("")),
        ("[secrets]\nk = { file = 'own/key' }\n", "own", outside.path("")),
        ("[secrets]\nk = { file = 'key' }\n", "key", outside.path("key")),
        ("[secrets]\nk = { file = 'sub/../key' }\n", "key", outside.path("key")),
        ("[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['ls']\nfolder = 'own'\n", "own", outside.path("")),
    ] {
        let folder = Folder::with(text);
        for (file, content) in [("own/key", "mine"), ("key", "mine"), ("sub/x", "")] {
            folder.write(file, content);
        }
        let load = async || built_in(&folder, Trust::Recorded(folder.store())).await.unwrap();
        folder.store().trust(&load().await).unwrap();
        assert_eq!(load().await.trust, TrustStatus::Trusted, "{text}");
        let own = folder.path(name);
        std::fs::rename(&own, folder.path("before")).unwrap();
        symlink(&target, &own);
        let loaded = load().await;
        assert_eq!(loaded.trust, TrustStatus::Changed, "{text}");
        assert!(loaded.standard.as_ref().is_none_or(|choice| choice.files.is_none()), "{text}");
        assert!(loaded.entries.iter().all(|entry| entry.is_left_out), "{text}");
        // A person who reviews it sees where it leads.
        let target = target.canonicalize().unwrap();
        if text.contains("file") {
            assert!(format!("{:?}", loaded.privileges).contains(&*target.to_string_lossy()), "{text}");
        }
        std::fs::remove_file(&own).unwrap();
        std::fs::rename(folder.path("before"), &own).unwrap();
        assert_eq!(load().await.trust, TrustStatus::Trusted, "{text}");
    }
}

#[tokio::test]
async fn what_a_script_writes_does_not_count_for_the_trust() {
    let script = "echo x >>log.txt; ls 2> 'err.txt'; ./run.sh >out.txt";
    let text = format!("[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['sh', '-c', {script:?}]\n");
    let folder = Folder::with(text);
    folder.write("run.sh", "echo 1\n");
    let load = async || built_in(&folder, Trust::Recorded(folder.store())).await.unwrap();
    folder.store().trust(&load().await).unwrap();
    for name in ["log.txt", "err.txt", "out.txt"] {
        folder.write(name, "written");
        assert_eq!(load().await.trust, TrustStatus::Trusted, "{name}");
    }
    folder.write("run.sh", "echo 2\n");
    assert_eq!(load().await.trust, TrustStatus::Changed);
}

#[tokio::test]
async fn files_of_organisations_elsewhere_are_reviewed_and_trusted_together() {
    let outside = Folder::with(ORG.replace("'constant'\ntext = 'x'", "'program'\nrun = ['ls']"));
    let folder = Folder::with(format!("workspace.orgs = ['{}']\n", outside.path("").display()));
    let options = || super::options().trust(Trust::Recorded(folder.store()));
    let reviewed = load(folder.file(), &options().review()).await.unwrap();
    assert_eq!((reviewed.trust, reviewed.files.len(), tool_names(&reviewed).len()), (TrustStatus::Unknown, 2, 0));
    let is_org = |privilege: &&Privilege| matches!(privilege.kind, PrivilegeKind::Organisation(_));
    assert_eq!((reviewed.privileges.len(), reviewed.privileges.iter().filter(is_org).count()), (2, 1));

    folder.store().trust(&reviewed).unwrap();
    let trusted = load(folder.file(), &options()).await.unwrap();
    assert_eq!((trusted.trust, tool_names(&trusted)), (TrustStatus::Trusted, vec!["geo/area".to_owned()]));

    // An organisation's changed file is no longer trusted, so its own paths stay in its folder.
    outside.write("haft.toml", "[workspace]\norg = 'acme'\norgs = ['/proc/self/environ']\n");
    let changed = load(folder.file(), &options()).await.unwrap();
    assert_eq!((changed.trust, changed.files.len()), (TrustStatus::Changed, 2));
    assert!(changed.remarks[0].message.starts_with("left out: a path out of this folder"), "{:?}", changed.remarks);
}

#[tokio::test]
async fn what_was_trusted_without_a_review_of_organisations_does_not_cover_them() {
    let outside = Folder::with(ORG.replace("'constant'\ntext = 'x'", "'program'\nrun = ['ls']"));
    let folder = Folder::with(format!("workspace.orgs = ['{}']\n", outside.path("").display()));
    let recorded = || Trust::Recorded(folder.store());
    folder.store().trust(&folder.load_with(recorded()).await.unwrap()).unwrap();
    let loaded = folder.load_with(recorded()).await.unwrap();
    assert_eq!((loaded.trust, tool_names(&loaded).len()), (TrustStatus::Changed, 0));
}

#[cfg(unix)]
#[tokio::test]
async fn code_elsewhere_is_named_as_not_covered() {
    let outside = Folder::with("");
    let file = outside.file().display().to_string();
    let folder = Folder::new();
    for (keys, expected) in [
        ("command = ['./run.sh']".to_owned(), vec![]),
        ("command = ['run.sh']\nenv = { PATH = 'bin' }".to_owned(), vec![]),
        ("command = ['sh', 'run.sh', '{x}']".to_owned(), vec!["sh"]),
        ("command = ['npm', 'run', 'build']".to_owned(), vec!["npm"]),
        (format!("command = ['sh', '{file}', '--rules={file}']"), vec!["sh", &file, &file]),
        ("command = ['env', 'sh', 'run.sh', 'env']".to_owned(), vec!["env", "sh"]),
        ("command = ['env', 'nice', './run.sh']".to_owned(), vec!["env", "nice"]),
        ("command = ['sh', '-c', './run.sh | cat']".to_owned(), vec!["sh"]),
        ("command = ['./link.sh']".to_owned(), vec!["./link.sh"]),
    ] {
        folder.write("haft.toml", format!("[toolbox.a.tool.run]\nkind = 'command'\n{keys}\n"));
        folder.write("run.sh", "");
        folder.write("bin/run.sh", "");
        let _ = std::fs::remove_file(folder.path("link.sh"));
        symlink(&outside.file(), &folder.path("link.sh"));
        let loaded = built_in(&folder, Trust::Never).await.unwrap();
        let commands = loaded.entries[0].reach.recipients().filter_map(|(recipient, _)| match recipient {
            Recipient::Command(command) => Some(command.uncovered.clone()),
            _ => None,
        });
        assert_eq!(commands.collect::<Vec<_>>(), [expected], "{keys}");
    }
}

#[tokio::test]
async fn tools_of_an_untrusted_file_are_marked_for_the_approver() {
    let folder = Folder::with("[toolbox.a.tool.x]\nkind = 'constant'\ntext = 'x'\nreadonly = true\n");
    for (trust, is_marked) in [(Trust::Never, true), (Trust::Always, false)] {
        let loaded = folder.load_with(trust).await.unwrap();
        let tool = loaded.workspace.toolbox("a").unwrap().toolkit().get("x").unwrap();
        let mark = tool.annotations().get::<UntrustedAuthor>();
        assert_eq!(mark.map(|mark| mark.path.to_path_buf()), is_marked.then(|| folder.file()));
    }
}
