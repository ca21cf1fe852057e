//! Logins at an authorization server of ours.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::routing::{get, post};
use haft_core::Secret;
use haft_mcp::{Era, LOGIN_REQUIRED, McpError, McpServer, OAuth};
use serde_json::{Value, json};

use crate::hostile::call;
use crate::web::Web;

type Grants = Arc<Mutex<Vec<Vec<(String, String)>>>>;

/// Returns the routes of an authorization server, and the token requests that it gets.
fn authorization_server() -> (axum::Router, Grants) {
    let grants = Grants::default();
    let metadata = |headers: HeaderMap| async move {
        let issuer = format!("http://{}", headers["host"].to_str().unwrap());
        Json(json!({"issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"), "registration_endpoint": format!("{issuer}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"]}))
    };
    let resource = |headers: HeaderMap| async move {
        let issuer = format!("http://{}", headers["host"].to_str().unwrap());
        Json(json!({"resource": format!("{issuer}/mcp"), "authorization_servers": [issuer]}))
    };
    let register = |Json(request): Json<Value>| async move {
        Json(json!({"client_id": "client-1", "redirect_uris": request["redirect_uris"]}))
    };
    let routes = axum::Router::new()
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/token", post(token))
        .with_state(Arc::clone(&grants));
    (routes, grants)
}

async fn token(State(grants): State<Grants>, Form(form): Form<Vec<(String, String)>>) -> Json<Value> {
    let mut grants = grants.lock().unwrap();
    grants.push(form);
    let (token, scope) = if grants.len() > 1 { ("at-2", "read write") } else { ("at-1", "read") };
    let (kind, lifetime) = ("bearer", 3600);
    Json(json!({"access_token": token, "token_type": kind, "expires_in": lifetime, "refresh_token": "rt-1",
        "scope": scope}))
}

/// Follows the page as a browser in which the person logs in at once.
fn browser(page: &str) {
    let query = page.split_once('?').unwrap().1;
    let member = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap().to_owned();
    assert_eq!(member("code_challenge_method="), "S256");
    let redirect = member("redirect_uri=").replace("%3A", ":").replace("%2F", "/");
    let (host, path) = redirect.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let (host, target) = (host.to_owned(), format!("/{path}?code=code-1&state={}", member("state=")));
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        for target in ["/favicon.ico", &target] {
            let mut socket = tokio::net::TcpStream::connect(&host).await.unwrap();
            socket.write_all(format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await.unwrap();
            let _ = socket.read_to_end(&mut Vec::new()).await;
        }
    });
}

#[tokio::test]
async fn a_login_opens_a_server_and_its_tokens_are_refreshed() {
    let folder = tempfile::tempdir().unwrap();
    let (routes, grants) = authorization_server();
    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    let web = Web::start_beside(tools, Some("Bearer at-1"), routes).await;
    let server = || -> McpServer { web.server(Era::Modern).oauth(OAuth::new(folder.path())) };

    let error = server().connect().await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `web` requires a login; its tools are missing until then");

    assert!(!server().has_login());
    server().login(browser).await.unwrap();
    assert!(server().has_login());
    let granted = grants.lock().unwrap()[0].clone();
    assert!(granted.contains(&("code".to_owned(), "code-1".to_owned())), "{granted:?}");
    assert!(granted.iter().any(|(name, value)| name == "code_verifier" && value.len() > 40), "{granted:?}");

    let client = server().connect().await.unwrap();
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");

    // The first token is not valid any more.
    web.set_token("Bearer at-2");
    assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    assert_eq!(grants.lock().unwrap().len(), 2);

    // Another process finds the new token.
    let client = server().connect().await.unwrap();
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
    assert_eq!(grants.lock().unwrap().len(), 2);

    // No refresh helps.
    web.set_token("Bearer at-3");
    let failure = call(&client, "echo", json!({})).await.failure().unwrap().clone();
    assert_eq!((failure.kind.as_str(), failure.started), (LOGIN_REQUIRED, false));
    assert!(failure.message.contains("requires a login"), "{}", failure.message);

    server().logout().unwrap();
    assert!(server().connect().await.is_err());
}

#[tokio::test]
async fn a_login_after_a_call_without_the_rights_requests_them_and_those_granted_before() {
    let folder = tempfile::tempdir().unwrap();
    let (routes, _) = authorization_server();
    let tools = json!([{"name": "rights", "inputSchema": {"type": "object"}}]);
    let web = Web::start_beside(tools, None, routes).await;
    let server = || web.server(Era::Modern).oauth(OAuth::new(folder.path()));
    server().login(browser).await.unwrap();
    let client = server().connect().await.unwrap();
    let failure = call(&client, "rights", json!({})).await.failure().unwrap().clone();
    assert_eq!((failure.kind.as_str(), failure.started), (LOGIN_REQUIRED, false));

    // Another process may log in: it knows what was demanded.
    let page = Mutex::new(String::new());
    let open = |address: &str| {
        page.lock().unwrap().push_str(address);
        browser(address);
    };
    server().login(open).await.unwrap();
    assert!(page.lock().unwrap().contains("scope=read+write"), "{page:?}");
    // The client that runs finds the new token.
    assert_eq!(call(&client, "rights", json!({})).await.to_model_text(), "granted");
}

#[tokio::test]
async fn a_server_that_demands_more_rights_at_once_requires_a_login() {
    let web = Web::start(json!([]), Some("Bearer at-1")).await;
    web.set_challenge(403, "Bearer error=\"insufficient_scope\", scope=\"read\"");
    for era in [Era::Modern, Era::Legacy] {
        let error = web.server(era).connect().await.unwrap_err();
        assert!(matches!(error, McpError::LoginRequired { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn the_secret_of_a_registered_client_is_part_of_a_refresh() {
    let folder = tempfile::tempdir().unwrap();
    let (routes, grants) = authorization_server();
    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    let web = Web::start_beside(tools, Some("Bearer at-1"), routes).await;
    let settings = || OAuth::new(folder.path()).client_id("client-2").client_secret(Secret::new("sk-1"));
    let server = || web.server(Era::Modern).oauth(settings());
    server().login(browser).await.unwrap();
    let client = server().connect().await.unwrap();
    web.set_token("Bearer at-2");
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
    let grants = grants.lock().unwrap();
    for grant in &*grants {
        assert!(grant.contains(&("client_secret".to_owned(), "sk-1".to_owned())), "{grant:?}");
    }
    assert_eq!(grants.len(), 2);
}

#[tokio::test]
async fn a_login_without_settings_is_an_error() {
    let error = McpServer::http("https://a.example/mcp").named("a").login(|_| ()).await.unwrap_err();
    assert_eq!(error.to_string(), "the login at the MCP server `a` failed");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("no OAuth settings"));
}
