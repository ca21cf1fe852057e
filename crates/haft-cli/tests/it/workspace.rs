//! Commands about the workspace file, where one step depends on what an earlier one left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

#[cfg(unix)]
use crate::pty::{Pty, PtyCommand, key};

/// A file that starts a command and reads a secret.
const POWERFUL: &str = "[workspace]\nstandard = false\n\n[secrets]\nkey = { env = 'KEY' }\n\n\
                        [toolbox.dev.tool.list]\nkind = 'command'\ndescription = 'Lists.'\ncommand = ['ls']\n";

/// A folder with a workspace file, and a state of its own.
struct Folder {
    root: TempDir,
}

impl Folder {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        Self { root }
    }

    fn with(text: &str) -> Self {
        let folder = Self::new();
        folder.write("haft.toml", text);
        folder
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.path()).env("HAFT_STATE_DIR", self.state()).env("NO_COLOR", "1");
        command.output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn trust_status(&self) -> String {
        self.json(&["trust", "--show"])["trust"].as_str().unwrap().to_owned()
    }

    #[cfg(unix)]
    fn terminal(&self, arguments: &[&str]) -> Pty {
        PtyCommand::new(arguments).folder(&self.path()).env("HAFT_STATE_DIR", self.state()).size(100, 40).spawn()
    }

    /// Returns the names of all files in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_change_ends_the_trust() {
    let folder = Folder::with(POWERFUL);
    assert_eq!(folder.trust_status(), "unknown");
    assert!(folder.run(&["trust", "--yes"]).status.success());
    assert_eq!(folder.trust_status(), "trusted");
    folder.write("haft.toml", POWERFUL.replace("'ls'", "'rm'"));
    assert_eq!(folder.trust_status(), "changed");
    assert_eq!(folder.json(&["tools"]), Value::Array(Vec::new()));
    // Back again, it is the file that was trusted.
    folder.write("haft.toml", POWERFUL);
    assert_eq!(folder.trust_status(), "trusted");
    assert_eq!(folder.json(&["tools"])[0]["name"], "dev/list");
}

#[test]
fn a_change_of_a_document_ends_the_trust() {
    let document =
        "openapi: 3.1.0\ninfo: { title: Shop, version: '1' }\nservers: [{ url: 'https://shop.example' }]\npaths: {}\n";
    let folder = Folder::with(POWERFUL);
    folder.write("shop.yaml", document);
    assert!(folder.run(&["trust", "--yes"]).status.success());
    assert!(folder.run(&["add", "openapi", "shop", "--file", "shop.yaml"]).status.success());
    assert_eq!(folder.trust_status(), "trusted");
    folder.write("shop.yaml", document.replace("shop.example", "evil.example"));
    assert_eq!(folder.trust_status(), "changed");
}

#[test]
fn what_trusting_grants_is_the_same_before_and_after() {
    let folder = Folder::with(&format!(
        "{POWERFUL}\n[toolbox.x.tool.hash]\nkind = 'command'\ncommand = ['true']\nexport = true\n"
    ));
    let before = folder.json(&["trust", "--show"])["privileges"].clone();
    assert!(folder.run(&["trust", "--yes"]).status.success());
    let after = folder.json(&["trust", "--show"])["privileges"].clone();
    assert_eq!(before, after);
    assert_eq!(before.as_array().unwrap().len(), 4);
}

#[test]
fn adding_to_a_file_that_is_not_trusted_grants_nothing() {
    let folder = Folder::with(POWERFUL);
    assert!(folder.run(&["add", "command", "dev/more", "--", "ls", "-l"]).status.success());
    assert_eq!(folder.trust_status(), "unknown");
    // Nor does adding to one that has changed since.
    assert!(folder.run(&["trust", "--yes"]).status.success());
    folder.write("haft.toml", folder.read("haft.toml") + "# changed\n");
    assert!(folder.run(&["add", "command", "dev/most", "--", "ls", "-a"]).status.success());
    assert_eq!(folder.trust_status(), "changed");
}

#[test]
fn a_failed_addition_leaves_nothing_behind() {
    let folder = Folder::with(POWERFUL);
    for arguments in [
        &["add", "command", "dev/bad", "--", "sh", "-c", "{x}"][..],
        &["add", "http", "dev/bad", "--url", "https://a.example", "--header", "host: b.example"],
        &["add", "command", "dev/list", "--", "ls"],
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(folder.read("haft.toml"), POWERFUL);
    assert_eq!(folder.names(), ["haft.toml"]);
}

#[test]
fn line_ends_and_permissions_of_the_file_are_kept() {
    let old = "\u{feff}# mine\r\n[limits]\r\ntimeout = 5  # s\r\n";
    let folder = Folder::with(old);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.path().join("haft.toml"), fs::Permissions::from_mode(0o664)).unwrap();
    }
    assert!(folder.run(&["add", "http", "a/b", "--url", "https://a.example"]).status.success());
    let new = folder.read("haft.toml");
    let added = new.strip_prefix(old).unwrap();
    assert_eq!(added, "\r\n[toolbox.a.tool.b]\r\nkind = \"http\"\r\nurl = \"https://a.example\"\r\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path().join("haft.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o664);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_stays_a_link() {
    let folder = Folder::new();
    let shared = folder.root.path().join("shared.toml");
    fs::write(&shared, "[limits]\ntimeout = 5\n").unwrap();
    std::os::unix::fs::symlink(&shared, folder.path().join("haft.toml")).unwrap();
    assert!(folder.run(&["add", "http", "a/b", "--url", "https://a.example"]).status.success());
    assert!(fs::symlink_metadata(folder.path().join("haft.toml")).unwrap().is_symlink());
    assert!(fs::read_to_string(&shared).unwrap().contains("[toolbox.a.tool.b]"));
}

#[test]
fn initial_files_are_trusted_and_their_calls_run() {
    let folder = Folder::new();
    assert!(folder.run(&["init"]).status.success());
    assert_eq!(folder.trust_status(), "trusted");
    assert_eq!(folder.names(), ["calls.json", "haft.toml"]);
    let output = folder.run(&["run", "calls.json", "--fail"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn initial_files_overwrite_no_link() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("nowhere", folder.path().join("haft.toml")).unwrap();
    let output = folder.run(&["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`haft.toml` exists already"));
    assert_eq!(folder.names(), ["haft.toml"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_not_writable_gets_no_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may write everywhere, as in many containers, is not stopped.
    let may_write = fs::write(folder.path().join("probe"), "").is_ok();
    let output = folder.run(&["init"]);
    if may_write {
        assert!(output.status.success());
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("Permission denied"), "{}", text(&output.stderr));
        assert!(folder.names().is_empty());
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_users_policy_applies_to_every_workspace_and_without_one() {
    let open = Folder::with("[permissions]\nallow = ['**']\n");
    let none = Folder::new();
    for folder in [&open, &none] {
        let call: &[&str] = &["call", "hash", "--arg", "text=x"];
        assert!(folder.run(call).status.success());
        fs::create_dir_all(folder.state()).unwrap();
        fs::write(
            folder.state().join("policy.toml"),
            "[permissions]\ndeny = [{ tools = 'hash', name = 'no-hashes' }]\n\n[[approval]]\nask = 'calculate'\n",
        )
        .unwrap();
        let output = folder.run(call);
        assert_eq!(output.status.code(), Some(3));
        assert!(
            text(&output.stderr).contains("denied by the rule `policy.toml: no-hashes`"),
            "{}",
            text(&output.stderr)
        );
        assert_eq!(folder.json(&["show", "hash"])["permission"]["by"], "policy.toml: no-hashes");
        let rules = &folder.json(&["show", "calculate"])["approval"]["rules"];
        assert_eq!(rules[0], "policy.toml: ask calculate");
        let asked = folder.run(&["call", "calculate", "--arg", "expression=1", "--approve", "none"]);
        assert_eq!(asked.status.code(), Some(3), "{}", text(&asked.stderr));
    }
}

#[test]
fn a_broken_policy_stops_every_command_and_shows_its_line() {
    for folder in [Folder::with(""), Folder::new()] {
        fs::create_dir_all(folder.state()).unwrap();
        fs::write(folder.state().join("policy.toml"), "[permissions]\ndeny = [{ tools = 'hash', wen = 'x' }]\n")
            .unwrap();
        for command in
            [&["call", "hash", "--arg", "text=x"][..], &["tools"], &["show", "hash"], &["check", "--offline"]]
        {
            let output = folder.run(command);
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            let error = text(&output.stderr);
            assert!(error.contains("did you mean \"when\"?") && error.contains("policy.toml:2:"), "{error}");
            assert!(error.contains("| deny = [{ tools = 'hash', wen = 'x' }]"), "{error}");
            assert!(output.stdout.is_empty());
        }
    }
}

#[test]
fn secrets_are_named_and_never_shown() {
    let folder = Folder::with(POWERFUL);
    assert!(folder.run(&["trust", "--yes"]).status.success());
    for (value, is_missing) in [("s3cret-value", false), ("", true)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(["check", "--offline"]).current_dir(folder.path()).env("HAFT_STATE_DIR", folder.state());
        let output = command.env("KEY", value).output().unwrap();
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(!all.contains("s3cret-value"));
        assert_eq!(all.contains("set the variable KEY"), is_missing, "{all}");
    }
}

#[test]
fn completion_scripts_name_all_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = folder.run(&["completions", shell]);
        assert!(output.status.success());
        let script = text(&output.stdout);
        for command in
            ["init", "add", "trust", "tools", "show", "call", "run", "resume", "check", "chat", "completions"]
        {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn every_command_has_a_help_with_examples() {
    let folder = Folder::new();
    for command in ["init", "add", "trust", "tools", "show", "call", "run", "resume", "check", "chat", "completions"] {
        let output = folder.run(&[command, "--help"]);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:\n  haft "), "{command}: {}", text(&output.stdout));
    }
}

#[test]
fn the_quickstart_needs_no_trust() {
    let calls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart/calls.json");
    let folder = Folder::new();
    let workspace = calls.parent().unwrap();
    let output = folder.run(&["run", calls.to_str().unwrap(), "--workspace", workspace.to_str().unwrap()]);
    let events = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{events}{}", text(&output.stderr));
    let notes = text(&output.stderr);
    assert_eq!(notes.lines().count(), 2, "{notes}");
    assert!(notes.starts_with("note: using the workspace"), "{notes}");
    assert!(notes.contains("1 call was denied"), "{notes}");
    for expected in ["garden/watering.md", "did you mean", "requires approval"] {
        assert!(events.contains(expected), "{expected}: {events}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_of_a_file_that_is_not_a_workspace_file_is_printed() {
    let folder = Folder::new();
    fs::write(folder.root.path().join("key"), "hunter2 = 'hunter2'\n").unwrap();
    folder.write("inside", "TOKEN=hunter2\n");
    for orgs in ["/proc/self/environ", "../key", "inside", "haft.toml/../../key"] {
        folder.write("haft.toml", format!("workspace.orgs = ['{orgs}']\n"));
        for arguments in [["check", "--offline"], ["trust", "--show"], ["trust", "--yes"], ["tools", "--json"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
            command.args(arguments).current_dir(folder.path()).env("HAFT_STATE_DIR", folder.state());
            let output = command.env("RUNNER_TOKEN", "hunter2").output().unwrap();
            let printed = text(&output.stdout) + &text(&output.stderr);
            assert!(!printed.contains("hunter2"), "{orgs} {arguments:?}: {printed}");
        }
    }
    fs::remove_file(folder.path().join("haft.toml")).unwrap();
    std::os::unix::fs::symlink("../key", folder.path().join("haft.toml")).unwrap();
    let output = folder.run(&["check", "--offline"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert!(!printed.contains("hunter2") && printed.contains("not a workspace file"), "{printed}");
}

#[test]
fn check_and_trust_find_faults_of_commands_before_trust() {
    let folder = Folder::with("[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['sh', '-c', 'echo {p}']\n");
    for arguments in [&["check", "--offline"][..], &["trust", "--show"], &["trust", "--yes"]] {
        let output = folder.run(arguments);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.contains("toolbox.a.tool.x.command"), "{arguments:?}: {printed}");
    }
    assert!(!folder.run(&["check", "--offline"]).status.success());
}

/// Values that try to look like other facts, or to hide what they are.
const FORGERIES: [&str; 6] = [
    "a\\n  - nothing else",
    "a\\r  - nothing else",
    "a\\u2028  - nothing else",
    "a\\u202Egnihton",
    "a\\u001B[2Kb",
    "a                                                                                       - nothing else",
];

#[test]
fn a_trust_screen_has_one_line_per_fact_whatever_the_values_are() {
    let text_of = |value: &str| {
        format!(
            "[secrets]\n\"{value}\" = {{ env = \"{value}\" }}\n[toolbox.a.tool.x]\nkind = 'command'\n\
             command = ['ls', \"{value}\"]\nfolder = \"{value}\"\nenv = {{ A = \"{value}\" }}\nsecret-env = {{ B = \"{value}\" }}\n"
        )
    };
    let lines = |value: &str| {
        let folder = Folder::with(&text_of(value));
        let output = folder.run(&["trust", "--yes"]);
        let shown = text(&output.stderr);
        assert!(shown.is_ascii() && !shown.contains('\u{1b}') && !shown.contains('\r'), "{shown:?}");
        assert!(!shown.lines().any(|line| line.trim_start().starts_with("- nothing else")), "{shown}");
        let json = folder.run(&["trust", "--show", "--json"]).stdout;
        assert!(json.is_ascii(), "{}", text(&json));
        shown.lines().count()
    };
    let expected = lines("plain");
    for value in FORGERIES {
        assert_eq!(lines(value), expected, "{value}");
    }
}

#[cfg(unix)]
#[test]
fn a_person_is_shown_what_trusting_grants_and_asked() {
    let folder = Folder::with(POWERFUL);
    for (answer, code, status) in
        [("n\r", 3, "unknown"), (key::ESCAPE, 3, "unknown"), (key::ENTER, 3, "unknown"), ("y\r", 0, "trusted")]
    {
        let mut terminal = folder.terminal(&["trust"]);
        terminal.wait_for("start the command: ls");
        terminal.wait_for("Trust this file as it is now?");
        terminal.send(answer);
        assert_eq!(terminal.wait_exit(), code);
        assert_eq!(folder.trust_status(), status);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_question_grants_nothing() {
    let folder = Folder::with(POWERFUL);
    let mut terminal = folder.terminal(&["trust"]);
    terminal.wait_for("Trust this file as it is now?");
    terminal.send(key::CTRL_C);
    assert_eq!(terminal.wait_exit(), 130);
    assert_eq!(folder.trust_status(), "unknown");
}

#[cfg(unix)]
#[test]
fn people_get_tables_and_pages() {
    let folder = Folder::with(POWERFUL);
    assert!(folder.run(&["trust", "--yes"]).status.success());
    let shown = |arguments: &[&str]| {
        let mut terminal = folder.terminal(arguments);
        assert_eq!(terminal.wait_exit(), 0);
        terminal.screen()
    };
    insta::assert_snapshot!("tools_table", shown(&["tools"]));
    insta::assert_snapshot!("show_page", shown(&["show", "dev/list"]));
    insta::assert_snapshot!("check_report", shown(&["check", "--offline"]));
    assert!(shown(&["tools", "--json"]).starts_with('['));
}

#[cfg(unix)]
#[test]
fn the_table_has_what_tools_hide() {
    let folder = Folder::with(
        "[workspace]\nstandard = { only = ['hash', 'encode'] }\n\n[toolbox.my.tool.hash]\nkind = 'http'\n\
         url = 'https://hash.example/?text={text}'\ndescription = 'Asks a server. It is slow.'\nexport = true\n",
    );
    assert!(folder.run(&["trust", "--yes"]).status.success());
    let mut terminal = folder.terminal(&["tools"]);
    assert_eq!(terminal.wait_exit(), 0);
    insta::assert_snapshot!("tools_that_hide", terminal.screen());
}

/// A workspace whose rules permit nothing but one tool.
const STRICT: &str = "[permissions]\nallow = ['hash']\n";

/// A workspace whose rules permit everything.
const LAX: &str = "[permissions]\nallow = ['*']\n";

#[test]
fn the_rules_are_those_of_the_current_folder_wherever_the_calls_come_from() {
    let folder = Folder::with(STRICT);
    let input = folder.root.path().join("downloads");
    fs::create_dir(&input).unwrap();
    fs::write(input.join("haft.toml"), LAX).unwrap();
    let call = r#"{"call_id": "a", "name": "calculate", "arguments": {"expression": "1"}}"#;
    fs::write(input.join("calls.json"), call).unwrap();
    fs::write(input.join("arguments.json"), r#"{"expression": "1"}"#).unwrap();

    let output = folder.run(&["run", "../downloads/calls.json", "--fail"]);
    assert_eq!(output.status.code(), Some(3), "{}{}", text(&output.stdout), text(&output.stderr));
    let output = folder.run(&["call", "calculate", "@../downloads/arguments.json"]);
    assert_eq!(output.status.code(), Some(3), "{}{}", text(&output.stdout), text(&output.stderr));
    let output = folder.run(&["run", "../downloads/calls.json", "--fail", "--workspace", "../downloads"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn without_a_workspace_a_call_of_another_tool_is_an_error_before_anything_runs() {
    let folder = Folder::new();
    let calls =
        r#"[{"name": "calculate", "arguments": {"expression": "1"}}, {"name": "shop/pay"}, {"name": "calcullate"}]"#;
    folder.write("calls.json", calls);
    let output = folder.run(&["run", "calls.json", "--suspend", "waiting.json"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    let message = text(&output.stderr);
    for expected in ["`shop/pay` is not a standard tool", "`calcullate`", "`--workspace`"] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    assert_eq!(folder.names(), ["calls.json"]);
    // With a workspace the model reads that there is no such tool.
    folder.write("haft.toml", LAX);
    let output = folder.run(&["run", "calls.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("unknown_tool").count(), 2, "{}", text(&output.stdout));
}

#[test]
fn a_command_says_which_workspace_its_calls_have() {
    let folder = Folder::new();
    let call = ["call", "calculate", "--arg", "expression=1"];
    let alone = "note: no `haft.toml` here or above; using the standard toolbox alone\n";
    assert_eq!(text(&folder.run(&call).stderr), alone);
    folder.write("haft.toml", LAX);
    folder.write("calls.json", r#"{"name": "calculate", "arguments": {"expression": "1"}}"#);
    for command in [&call[..], &["run", "calls.json"]] {
        let output = folder.run(command);
        assert_eq!(text(&output.stderr).lines().next(), Some("note: using the workspace `haft.toml`"), "{command:?}");
        assert!(!text(&output.stdout).contains("note:"), "{command:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_person_is_told_which_workspace_is_used() {
    let folder = Folder::with(LAX);
    fs::create_dir(folder.path().join("deep")).unwrap();
    folder.write("calls.json", r#"{"name": "calculate", "arguments": {"expression": "1"}}"#);
    for arguments in [vec!["call", "calculate", "--arg", "expression=1"], vec!["run", "../calls.json"]] {
        let terminal = PtyCommand::new(arguments).folder(&folder.path().join("deep"));
        let mut terminal = terminal.env("HAFT_STATE_DIR", folder.state()).size(200, 40).spawn();
        assert_eq!(terminal.wait_exit(), 0);
        let file = fs::canonicalize(folder.path()).unwrap().join("haft.toml");
        let expected = format!("using the workspace `{}`", file.display());
        assert!(terminal.screen().contains(&expected), "{}", terminal.screen());
    }
}

/// The rules in a folder above would be weaker, or somebody else's.
#[cfg(unix)]
#[test]
fn a_workspace_file_that_can_not_be_read_gives_way_to_none_above() {
    let made: [fn(&Path); 3] = [
        |file| std::os::unix::fs::symlink("nowhere", file).unwrap(),
        |file| fs::create_dir(file).unwrap(),
        |file| assert!(Command::new("mkfifo").arg(file).status().unwrap().success()),
    ];
    for (at, make) in made.into_iter().enumerate() {
        let folder = Folder::new();
        fs::write(folder.root.path().join("haft.toml"), "[workspace]\n").unwrap();
        make(&folder.path().join("haft.toml"));
        for arguments in [
            &["call", "calculate", "--arg", "expression=1+1"][..],
            &["-w", ".", "tools"],
            &["-w", "haft.toml", "tools"],
        ] {
            let output = folder.run(arguments);
            // A folder may be named by its path, and then has no file in it.
            assert_eq!(output.status.code(), Some(2), "{at}: {arguments:?}: {}", text(&output.stderr));
            assert_eq!(text(&output.stdout), "", "{at}: {arguments:?}");
        }
    }
}
