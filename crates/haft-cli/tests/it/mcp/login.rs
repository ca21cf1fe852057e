//! Logins at a server behind a URL, with an authorization server and a browser of ours.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::{Folder, texts};

const TOKEN: &str = "planted-access-token";

/// A server on a free port, which ends with the test.
struct Server {
    _runtime: tokio::runtime::Runtime,
    host: String,
}

impl Server {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let host = listener.local_addr().unwrap().to_string();
        runtime.spawn(async move { axum::serve(listener, router()).await });
        Self { _runtime: runtime, host }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.host)
    }

    fn folder(&self) -> Folder {
        Folder::new(&format!("[http]\nallow-hosts = ['{}']\n", self.host))
    }
}

fn router() -> Router {
    let issuer = |headers: &HeaderMap| format!("http://{}", headers["host"].to_str().unwrap());
    let metadata = move |headers: HeaderMap| async move {
        let issuer = issuer(&headers);
        Json(json!({"issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"), "registration_endpoint": format!("{issuer}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"]}))
    };
    let resource = move |headers: HeaderMap| async move {
        let issuer = issuer(&headers);
        Json(json!({"resource": format!("{issuer}/mcp"), "authorization_servers": [issuer]}))
    };
    let register = |Json(request): Json<Value>| async move {
        Json(json!({"client_id": "client-1", "redirect_uris": request["redirect_uris"]}))
    };
    let token = || async {
        Json(
            json!({"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600, "refresh_token": "planted-refresh"}),
        )
    };
    Router::new()
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/token", post(token))
        .route("/mcp", post(mcp).get(|| async { StatusCode::METHOD_NOT_ALLOWED }))
}

async fn mcp(headers: HeaderMap, body: Bytes) -> Response {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    if token != Some(&format!("Bearer {TOKEN}")) {
        return (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer realm=\"docs\"")]).into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    if message["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let definition = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "docs", "version": "1"}}),
        "tools/list" => json!({"tools": [definition("echo"), definition("search")]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": message["params"]["arguments"].to_string()}]})
        }
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}});
            return (StatusCode::BAD_REQUEST, Json(error)).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

/// Follows a page as a browser in which the person logs in at once.
fn browse(page: &str) {
    let query = page.split_once('?').unwrap().1;
    let member = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap().to_owned();
    let redirect = member("redirect_uri=").replace("%3A", ":").replace("%2F", "/");
    let (host, path) = redirect.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut socket = TcpStream::connect(host).unwrap();
    let target = format!("/{path}?code=code-1&state={}", member("state="));
    write!(socket, "GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let _ = socket.read_to_end(&mut Vec::new());
}

/// Runs a command, logs in on the page that it names, and returns its messages.
fn logged_in(folder: &Folder, arguments: &[&str]) -> String {
    let mut child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut messages = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.starts_with("  http") {
            browse(line.trim());
        }
        messages.push_str(&line);
        messages.push('\n');
    }
    assert!(child.wait().unwrap().success(), "{messages}");
    messages
}

#[test]
fn a_server_that_demands_a_login_is_added_called_and_left_again() {
    let server = Server::start();
    let folder = server.folder();
    let url = server.url();

    let refused = folder.run(&["add", "mcp", "docs", "--url", &url]);
    let messages = texts(&refused).1;
    assert!(!refused.status.success());
    assert!(messages.contains("the server of `docs/server` requires a login"), "{messages}");
    assert!(messages.contains("add `--oauth`") && messages.contains("nothing was written"), "{messages}");
    assert!(!folder.text().contains("mcp"));

    let messages = logged_in(&folder, &["add", "mcp", "docs", "--url", &url, "--oauth"]);
    assert!(messages.contains("log in to `docs/server` on this page"), "{messages}");
    assert!(messages.contains("docs/server offers 2 tools: echo, search"), "{messages}");
    assert!(folder.text().contains("auth = \"oauth\""), "{}", folder.text());
    assert!(folder.done(&["call", "docs/echo", r#"{"a": 1}"#]).0.contains(r#"{\"a\":1}"#));
    assert_tokens_are_private(&folder);

    let (_, messages) = folder.done(&["mcp", "logout", "docs"]);
    assert_eq!(messages, "logged out from `docs/server`\n");
    let failed = folder.run(&["call", "docs/echo", "{}"]);
    let messages = texts(&failed).1;
    assert!(!failed.status.success());
    let missing = "the server of `docs/server` requires a login; run `haft mcp login docs/server`; until then these \
                   can't be called: `echo`, `search`";
    assert!(messages.contains(missing), "{messages}");
    assert!(
        folder.done(&["mcp", "list", "--json"]).0.contains(r#""state": "not_logged_in""#.replace(": ", ":").as_str())
    );
    let (_, messages) = texts(&folder.run(&["mcp", "diff"]));
    assert!(messages.contains("run `haft mcp login docs/server`"), "{messages}");

    let messages = logged_in(&folder, &["mcp", "login", "docs", "--no-browser"]);
    assert!(messages.ends_with("logged in to `docs/server`\n"), "{messages}");
    assert!(folder.done(&["call", "docs/echo", "{}"]).0.contains("{}"));
}

fn assert_tokens_are_private(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    let mut tokens = 0;
    for entry in std::fs::read_dir(folder.state.path().join("mcp")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && std::fs::read_to_string(&path).unwrap().contains(TOKEN) {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            tokens += 1;
        }
    }
    assert_eq!(tokens, 1);
    assert!(!folder.text().contains("planted") && !folder.lock().contains("planted"));
}

#[test]
fn a_server_of_another_client_that_demands_a_login_gets_one() {
    let server = Server::start();
    let folder = server.folder();
    let file = folder.workspace.path().join("mcp.json");
    std::fs::write(&file, json!({"mcpServers": {"docs": {"type": "http", "url": server.url()}}}).to_string()).unwrap();
    let added = folder.run(&["add", "mcp", "--from", "mcp.json"]);
    let messages = texts(&added).1;
    assert!(messages.contains("run `haft mcp login docs/server`"), "{messages}");
    assert!(folder.text().contains("auth = \"oauth\""), "{}", folder.text());
    let messages = logged_in(&folder, &["mcp", "login", "docs"]);
    assert!(messages.contains("run `haft mcp accept docs/server`"), "{messages}");
    folder.done(&["mcp", "accept", "docs", "--yes"]);
    assert!(folder.done(&["call", "docs/search", "{}"]).0.contains("{}"));
}

#[test]
fn a_program_has_no_logins() {
    let folder = Folder::new("[toolbox.a.import.server]\nkind = 'mcp'\ncommand = ['true']\n");
    let output = folder.run(&["mcp", "login", "a"]);
    let messages = texts(&output).1;
    assert!(!output.status.success());
    assert!(messages.contains("`a/server` has no logins") && messages.contains("auth = \"oauth\""), "{messages}");
}
