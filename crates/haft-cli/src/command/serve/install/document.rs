//! A client's file with one more entry. Everything else in it stays as it was written.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::client::{ClientEntry, ClientFile, Syntax};
use crate::error::Fault;

/// Returns the text with the entry, or `None` if it is there already. An entry with other content is an error unless it
/// may be replaced.
pub(super) fn with_entry(
    text: &str,
    file: &ClientFile,
    name: &str,
    entry: &ClientEntry,
    may_replace: bool,
) -> Result<Option<String>, Fault> {
    if name.is_empty() {
        return Err(Fault::new("the name of a server is not empty").advice("leave out `--name`, or write one"));
    }
    let edit = EntryEdit { file, name, entry, may_replace };
    match file.syntax {
        Syntax::Json => edit.json(text),
        Syntax::Toml => edit.toml(text),
    }
}

struct EntryEdit<'e> {
    file: &'e ClientFile,
    name: &'e str,
    entry: &'e ClientEntry,
    may_replace: bool,
}

impl EntryEdit<'_> {
    fn json(&self, text: &str) -> Result<Option<String>, Fault> {
        // A mark at the start is kept, and is no JSON.
        let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |text| ("\u{feff}", text));
        let text = if text.trim().is_empty() { "{\n}\n" } else { text };
        let options = ParseOptions {
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            ..ParseOptions::default()
        };
        let root = CstRootNode::parse(text, &options).map_err(|error| self.invalid("JSON").cause(&error))?;
        let mut servers = root.object_value().ok_or_else(|| self.not_an_object("the file"))?;
        for key in self.file.keys {
            servers = match servers.get(key) {
                None => servers.object_value_or_set(key),
                Some(_) => servers.object_value(key).ok_or_else(|| self.not_an_object(&format!("`{key}`")))?,
            };
        }
        self.put(&servers)?;
        let after = root.to_string();
        Ok((after != text).then(|| format!("{mark}{after}")))
    }

    /// Adds the entry to the servers.
    fn put(&self, servers: &CstObject) -> Result<(), Fault> {
        let entry = self.entry.members().into_iter().map(|(key, value)| (key.to_owned(), input(&value)));
        let entry = CstInputValue::Object(entry.collect());
        let same_name =
            servers.properties().into_iter().filter(|known| known.decoded_name().as_deref() == Some(self.name));
        match same_name.collect::<Vec<_>>().as_slice() {
            [] => drop(servers.append(self.name, entry)),
            [known] if known.value().and_then(|known| known.to_serde_value()) == Some(self.entry.json()) => {}
            [known] if self.may_replace => known.set_value(entry),
            [_] => return Err(self.other_content()),
            _ => {
                let message = format!("`{}` has the server `{}` twice", self.file.path.display(), self.name);
                return Err(Fault::new(message).advice("remove one of them"));
            }
        }
        Ok(())
    }

    fn toml(&self, text: &str) -> Result<Option<String>, Fault> {
        let mut document: DocumentMut = text.parse().map_err(|error| self.invalid("TOML").cause(&error))?;
        let mut servers: &mut Table = document.as_table_mut();
        for key in self.file.keys {
            let item = servers.entry(key).or_insert_with(|| {
                let mut table = Table::new();
                // Only the tables inside are written.
                table.set_implicit(true);
                Item::Table(table)
            });
            servers = item.as_table_mut().ok_or_else(|| {
                self.not_an_object(&format!("`{key}`")).advice(format!("write each server as `[{key}.NAME]`"))
            })?;
        }
        let mut entry = Table::new();
        entry["command"] = value(self.entry.command.as_str());
        entry["args"] = value(self.entry.args.iter().map(String::as_str).collect::<Array>());
        match servers.get(self.name) {
            Some(known) if is_same_table(known, self.entry) => return Ok(None),
            Some(_) if !self.may_replace => return Err(self.other_content()),
            Some(_) | None => servers.insert(self.name, Item::Table(entry)),
        };
        Ok(Some(document.to_string()))
    }

    fn invalid(&self, language: &str) -> Fault {
        let fault = Fault::new(format!("`{}` is not valid {language}", self.file.path.display()));
        fault.advice("correct it, or add the entry that `--print` shows by hand; nothing was written")
    }

    fn not_an_object(&self, what: &str) -> Fault {
        let fault = Fault::new(format!("`{}`: {what} is not an object", self.file.path.display()));
        fault.advice("correct it; nothing was written")
    }

    fn other_content(&self) -> Fault {
        let path = self.file.path.display();
        let fault = Fault::new(format!("`{path}` has a server `{}` with other content", self.name));
        fault.advice("choose another name with `--name`, or replace it with `--replace`; nothing was written")
    }
}

/// Reports whether a table has exactly the members of an entry.
fn is_same_table(known: &Item, entry: &ClientEntry) -> bool {
    let Some(table) = known.as_table_like() else { return false };
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    let args = table.get("args").and_then(Item::as_array);
    let args = args.and_then(|args| args.iter().map(toml_edit::Value::as_str).collect::<Option<Vec<&str>>>());
    table.len() == 2 && text("command") == Some(&entry.command) && args.is_some_and(|args| args == entry.args)
}

/// Converts JSON for the document.
fn input(json: &Value) -> CstInputValue {
    match json {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::client::{McpClient, Scope};
    use super::*;
    use crate::command::add::client_file;

    fn edited(client: McpClient, text: &str, may_replace: bool) -> Result<Option<String>, String> {
        let workspace = Path::new("/srv/shop/haft.toml");
        let scope = Scope::Project;
        let file = ClientFile::of(client, scope, workspace).unwrap();
        let entry = ClientEntry::new(client, scope, workspace, Some("ana")).unwrap();
        let edited = with_entry(text, &file, "haft", &entry, may_replace);
        edited.map_err(|fault| fault.message.replace("/srv/shop/", ""))
    }

    fn added(client: McpClient, text: &str) -> String {
        let text = edited(client, text, false).unwrap().expect("a new entry");
        assert_eq!(edited(client, &text, false), Ok(None), "a second time changes nothing");
        text
    }

    #[test]
    fn the_first_entry_of_each_client() {
        let mut shown = String::new();
        for client in [McpClient::ClaudeCode, McpClient::Cursor, McpClient::Vscode, McpClient::Zed, McpClient::Codex] {
            shown.push_str(&format!("{client:?}\n{}\n", added(client, "")));
        }
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "// mine\n{\n\t\"servers\": {\n\t\t// the first\n\t\t\"a\": {\"command\": \"x\",}, // a\n\t},\n\t\"inputs\": [], /* end */\n}\n";
        insta::assert_snapshot!(added(McpClient::Vscode, text));
        let text =
            "# mine\nmodel = \"x\" # the model\n\n[mcp_servers.a] # first\ncommand = \"x\"\n\n[tui]\ntheme = 'dark'\n";
        insta::assert_snapshot!(added(McpClient::Codex, text));
        let marked = added(McpClient::Zed, "\u{feff}{\"theme\": \"x\"}");
        assert!(marked.starts_with("\u{feff}{") && marked.contains("\"theme\": \"x\","), "{marked}");
    }

    #[test]
    fn what_is_written_can_be_read_by_add_mcp() {
        for client in [McpClient::ClaudeCode, McpClient::Vscode] {
            let found = client_file::read(&added(client, "{\n  // mine\n}\n")).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].name, "haft");
            assert!(found[0].server.is_ok(), "{found:?}");
        }
    }

    #[test]
    fn files_that_are_not_understood_stay() {
        let json = McpClient::ClaudeCode;
        for (client, text, expected) in [
            (json, "{", "`.mcp.json` is not valid JSON"),
            (json, "{'mcpServers': {}}", "`.mcp.json` is not valid JSON"),
            (json, "[]", "`.mcp.json`: the file is not an object"),
            (json, r#"{"mcpServers": []}"#, "`.mcp.json`: `mcpServers` is not an object"),
            (
                json,
                r#"{"mcpServers": {"haft": {"command": "x"}}}"#,
                "`.mcp.json` has a server `haft` with other content",
            ),
            (json, r#"{"mcpServers": {"haft": 1, "haft": 2}}"#, "`.mcp.json` has the server `haft` twice"),
            (McpClient::Codex, "a = ", "`.codex/config.toml` is not valid TOML"),
            (McpClient::Codex, "mcp_servers = 3", "`.codex/config.toml`: `mcp_servers` is not an object"),
            (
                McpClient::Codex,
                "[mcp_servers.haft]\nurl = 'x'",
                "`.codex/config.toml` has a server `haft` with other content",
            ),
        ] {
            assert_eq!(edited(client, text, false).unwrap_err(), expected, "{text}");
        }
        let replaced = edited(json, r#"{"mcpServers": {"haft": {"command": "x"}}}"#, true).unwrap().unwrap();
        assert!(replaced.contains("\"ana\"") && !replaced.contains("\"x\""), "{replaced}");
        let replaced = edited(McpClient::Codex, "[mcp_servers.haft]\nurl = 'x'", true).unwrap().unwrap();
        assert!(replaced.contains("\"ana\"") && !replaced.contains("url"), "{replaced}");
    }
}
