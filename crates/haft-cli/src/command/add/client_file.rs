//! Files in which other clients keep their MCP servers: Claude Desktop, Claude Code, Cursor and VS Code.
//!
//! ```text
//! text ─> JSON without comments ─> servers ─> templates ─> ClientServer, or the reasons why it can't be one
//! ```
//!
//! These files often contain credentials, and the workspace file is shared. So every value that may be a credential
//! becomes a secret that an environment variable holds, and only its name is written. A credential in a place where
//! only the text itself would do makes its server a fault: nothing is copied that should not be.

mod comment;
mod credential;
mod server;
mod template;

use serde_json::value::RawValue;

pub(in crate::command) use self::server::{ClientServer, ClientTarget, HeaderSecret};
use crate::calls::record::Members;

/// The maximum size of a file in bytes. Claude Code keeps more in its file than its servers.
pub(super) const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The keys that hold servers, from the top: of Claude and Cursor, of VS Code, and of VS Code's settings.
const PLACES: [&[&str]; 3] = [&["mcpServers"], &["servers"], &["mcp", "servers"]];

/// A server in a client's file, under its name there.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command) struct FoundServer {
    pub(in crate::command) name: String,
    /// The server, or the reasons why it can't be used as it is described.
    pub(in crate::command) server: Result<ClientServer, Vec<String>>,
    /// True if the client does not start it.
    pub(super) is_disabled: bool,
}

/// Reads all servers in a file's text. The error is a clause about the file.
pub(in crate::command) fn read(text: &str) -> Result<Vec<FoundServer>, String> {
    let text = comment::without_comments(text.trim_start_matches('\u{feff}'));
    let root: Members<'_> = serde_json::from_str(&text).map_err(|error| format!("is not valid JSON: {error}"))?;
    let servers = servers(&root)?;
    if servers.0.is_empty() {
        return Err("describes no server".to_owned());
    }
    let mut found: Vec<FoundServer> = Vec::with_capacity(servers.0.len());
    for (name, text) in servers.0 {
        let name = name.into_owned();
        if found.iter().any(|known| known.name == name) {
            return Err(format!("describes the server `{name}` twice; remove one"));
        }
        let (server, is_disabled) = server::read(text);
        found.push(FoundServer { name, server, is_disabled });
    }
    Ok(found)
}

/// Returns the servers from the first place that has them.
fn servers<'t>(root: &Members<'t>) -> Result<Members<'t>, String> {
    for place in PLACES {
        let [first, rest @ ..] = place else { continue };
        let mut value = get(root, first);
        for key in rest {
            let inside: Option<Members<'t>> = value.and_then(|value| serde_json::from_str(value.get()).ok());
            value = inside.and_then(|members| get(&members, key));
        }
        if let Some(value) = value {
            let key = place.join(".");
            let servers = serde_json::from_str(value.get());
            return servers.map_err(|_| format!("has `{key}`, which must be an object of servers"));
        }
    }
    let keys: Vec<String> = root.0.iter().map(|(key, _)| format!("`{key}`")).take(8).collect();
    let listed = if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") };
    Err(format!("has neither `mcpServers` nor `servers`, where clients keep them; it has {listed}"))
}

fn get<'t>(members: &Members<'t>, name: &str) -> Option<&'t RawValue> {
    members.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match read(text) {
            Ok(found) => found.iter().map(|server| format!("{server:#?}")).collect::<Vec<_>>().join("\n"),
            Err(fault) => fault,
        }
    }

    #[test]
    fn the_file_of_claude_desktop() {
        insta::assert_snapshot!(shown(
            r#"{
              "mcpServers": {
                "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]},
                "github": {
                  "command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/server"],
                  "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ", "LOG_LEVEL": "info", "PORT": 8080}
                }
              },
              "globalShortcut": ""
            }"#
        ));
    }

    #[test]
    fn the_file_of_claude_code() {
        insta::assert_snapshot!(shown(
            r#"{
              "mcpServers": {
                "sentry": {"type": "http", "url": "https://mcp.sentry.dev/mcp"},
                "api": {"type": "http", "url": "${API_BASE:-https://api.example.com}/mcp",
                        "headers": {"Authorization": "Bearer ${API_KEY}", "X-Team": "docs"}},
                "db": {"type": "stdio", "command": "db-mcp", "env": {"DB_URL": "${DB_URL}"}},
                "old": {"type": "sse", "url": "https://mcp.example.com/sse"}
              }
            }"#
        ));
    }

    #[test]
    fn the_file_of_vs_code_with_comments_and_inputs() {
        insta::assert_snapshot!(shown(
            r#"{
              // Asked for when a server starts.
              "inputs": [{"type": "promptString", "id": "perplexity-key", "description": "Key", "password": true},],
              "servers": {
                /* "off": {}, */
                "perplexity": {
                  "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"],
                  "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}"}, "cwd": "${workspaceFolder}/tools",
                },
                "remote": {"url": "https://mcp.example.com/", "headers": {"X-Api-Key": "${env:REMOTE_KEY}"}},
                "files": {"command": "files", "args": ["--root", "${workspaceFolder}", "${userHome}/docs"], "envFile": ".env"},
              },
            }"#
        ));
    }

    #[test]
    fn the_file_of_cursor() {
        insta::assert_snapshot!(shown(
            r#"{"mcpServers": {
                "a": {"command": "node", "args": ["${workspaceFolder}/server.js", "--verbose"], "disabled": true},
                "b": {"serverUrl": "https://mcp.example.com/mcp", "headers": {"Authorization": "sk-0123456789abcdef0123"}},
                "c": {"url": "https://mcp.example.com/mcp", "auth": {"CLIENT_ID": "x"}},
                "d": {"url": "https://mcp.example.com/mcp", "headers": {"DD-API-KEY": "${env:DD_KEY}",
                      "DD-APPLICATION-KEY": "Key 0123456789abcdefghijABCDEFGHIJ", "Authorization": "Bearer ${input:token}"}}
            }}"#
        ));
    }

    #[test]
    fn what_can_not_be_used_is_reported_with_its_reason() {
        insta::assert_snapshot!(shown(
            r#"{"mcpServers": {
                "argument": {"command": "x", "args": ["--api-key", "sk-0123456789abcdef0123", "--token=${env:TOKEN}"]},
                "database": {"command": "x", "args": ["postgresql://user:pass@localhost/db"]},
                "query": {"url": "https://mcp.example.com/mcp?tavilyApiKey=tvly-0123"},
                "user": {"url": "https://me:pw@mcp.example.com/mcp"},
                "mixed": {"command": "x", "env": {"DB": "postgres://${env:U}:${env:P}@h/db"}},
                "unknown": {"command": "x", "args": ["${command:pick}"]},
                "both": {"command": "x", "url": "https://mcp.example.com"},
                "neither": {"type": "stdio"},
                "types": {"command": ["x"], "args": "y", "env": []},
                "text": "x",
                "nul": {"command": "x", "args": ["a\u0000b"]},
                "extension": {"type": "ws", "url": "wss://mcp.example.com"}
            }}"#
        ));
    }

    #[test]
    fn texts_without_servers_are_errors() {
        for (text, expected) in [
            ("", "is not valid JSON"),
            ("[]", "is not valid JSON"),
            ("{}", "it has nothing"),
            (r#"{"theme": "dark"}"#, "it has `theme`"),
            (r#"{"mcpServers": {}}"#, "describes no server"),
            (r#"{"mcpServers": []}"#, "must be an object of servers"),
            (r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#, "the server `a` twice"),
            (r#"{"mcpServers": {"a": {"command": "x"}}"#, "is not valid JSON"),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn settings_of_vs_code_have_servers_too() {
        assert_eq!(read(r#"{"editor": 1, "mcp": {"servers": {"a": {"command": "x"}}}}"#).unwrap().len(), 1);
    }
}
