//! `haft serve --install`: the files of clients.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use haft::serde_json::{self, Value, json};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::write(folder.path().join("haft.toml"), "[callers.ana]\n").unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn install(&self, arguments: &[&str]) -> Output {
        let home = self.path().join("home");
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args([&["serve", "--install"], arguments].concat()).current_dir(self.path());
        command.env("HAFT_STATE_DIR", self.path().join(".state")).env("HOME", &home).env("NO_COLOR", "1");
        command.env("XDG_CONFIG_HOME", home.join("settings")).env_remove("CODEX_HOME").env_remove("HAFT_WORKSPACE");
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.install(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn fault(&self, arguments: &[&str]) -> String {
        let output = self.install(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }
}

#[test]
fn each_client_gets_its_entry_once() {
    let folder = Folder::new();
    for (client, file, key) in [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
        ("zed", ".zed/settings.json", "context_servers"),
    ] {
        assert!(folder.done(&[client]).contains("added `haft` to"), "{client}");
        let entry = &folder.json(file)[key]["haft"];
        assert_eq!(entry["command"], "haft", "{client}");
        assert_eq!(entry["args"].as_array().unwrap().last().unwrap(), "serve", "{client}");
        let before = folder.read(file);
        assert!(folder.done(&[client]).contains("has this entry already"), "{client}");
        assert_eq!(folder.read(file), before);
        assert!(!folder.path().join(format!("{file}.haft-backup")).exists(), "nothing was replaced");
    }
}

#[test]
fn a_users_own_file_names_this_program_and_this_workspace() {
    let folder = Folder::new();
    let missing = folder.fault(&["claude-desktop"]);
    assert!(
        missing.contains("there is no folder") && missing.contains("install and start the client first"),
        "{missing}"
    );
    fs::create_dir_all(folder.path().join("home/.codex")).unwrap();
    fs::write(folder.path().join("home/.codex/config.toml"), "# mine\nmodel = \"x\"\n").unwrap();
    let shown = folder.done(&["codex", "--caller", "ana", "--name", "shop"]);
    assert!(shown.contains("+[mcp_servers.shop]") && shown.contains("the old file is"), "{shown}");
    let text = folder.read("home/.codex/config.toml");
    assert!(text.starts_with("# mine\nmodel = \"x\"\n"), "{text}");
    let workspace = folder.path().canonicalize().unwrap().join("haft.toml");
    let args = json!(["--workspace", workspace, "serve", "--caller", "ana"]);
    assert!(text.contains(&format!("command = \"{}\"", env!("CARGO_BIN_EXE_haft"))), "{text}");
    assert!(text.replace(", ", ",").contains(&format!("args = {args}")), "{text}");
    assert_eq!(folder.read("home/.codex/config.toml.haft-backup"), "# mine\nmodel = \"x\"\n");
    folder.done(&["claude-code", "--scope", "user"]);
    assert_eq!(folder.json("home/.claude.json")["mcpServers"]["haft"]["args"][2], "serve");
}

#[test]
fn nothing_is_written_that_was_not_asked_for() {
    let folder = Folder::new();
    let printed = folder.done(&["cursor", "--print"]);
    assert!(printed.contains("+  \"mcpServers\": {"), "{printed}");
    assert!(!folder.path().join(".cursor").exists());
    let other = "{\n  // mine\n  \"mcpServers\": {\"haft\": {\"command\": \"other\"}}\n}\n";
    fs::write(folder.path().join(".mcp.json"), other).unwrap();
    assert!(folder.fault(&["claude-code"]).contains("has a server `haft` with other content"));
    assert_eq!(folder.read(".mcp.json"), other);
    folder.done(&["claude-code", "--replace"]);
    let text = folder.read(".mcp.json");
    assert!(text.contains("// mine") && !text.contains("other"), "{text}");
    fs::write(folder.path().join(".mcp.json"), "{").unwrap();
    assert!(folder.fault(&["claude-code"]).contains("is not valid JSON"));
    assert!(folder.fault(&["claude-code", "--caller", "bob"]).contains("there is no caller `bob`"));
    assert!(folder.fault(&["claude-desktop", "--scope", "project"]).contains("has no file per project"));
    assert!(folder.fault(&["emacs"]).contains("invalid value"));
    let mut permissions = fs::metadata(folder.path().join(".mcp.json")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path().join(".mcp.json"), permissions).unwrap();
    assert!(folder.fault(&["claude-code"]).contains("is read-only"));
    fs::remove_file(folder.path().join("haft.toml")).unwrap();
    assert!(folder.fault(&["claude-code"]).contains("there is no `haft.toml`"));
}
