//! Images that a server returns, saved by the command.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// Serves an image, and an error with a password in it.
fn serve() -> String {
    let (sender, address) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().to_string()).unwrap();
            let failed = (axum::http::StatusCode::INTERNAL_SERVER_ERROR, "password=hunter2");
            let router = Router::new()
                .route("/picture", get(|| async { ([(CONTENT_TYPE, "image/png")], PNG) }))
                .route("/broken", get(move || async move { failed }));
            axum::serve(listener, router).await.unwrap();
        });
    });
    address.recv().unwrap()
}

fn workspace(address: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut file = format!("[http]\nallow-hosts = [\"{address}\"]\n");
    for tool in ["picture", "broken"] {
        file.push_str(&format!("[toolbox.web.tool.{tool}]\nkind = \"http\"\nurl = \"http://{address}/{tool}\"\n"));
    }
    fs::write(folder.path().join("haft.toml"), file).unwrap();
    fs::write(folder.path().join("calls.json"), r#"[{"name": "web/broken"}]"#).unwrap();
    assert!(haft(&folder, &["trust", "--yes"]).status.success());
    folder
}

fn haft(folder: &tempfile::TempDir, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
    command.args(arguments).current_dir(folder.path()).env("HAFT_STATE_DIR", folder.path().join(".state"));
    command
        .env("NO_COLOR", "1")
        .env_remove("HAFT_WORKSPACE")
        .env("NO_PROXY", "*")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn an_image_over_http_is_saved() {
    let folder = workspace(&serve());
    let output = haft(&folder, &["call", "web/picture", "--save", "out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read(folder.path().join("out/image.png")).unwrap(), PNG);
}

#[test]
fn the_body_of_an_error_is_shown_to_the_operator_and_not_to_the_model() {
    let folder = workspace(&serve());
    let output = haft(&folder, &["call", "web/broken"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("password=hunter2"));
    let output = haft(&folder, &["run", "calls.json"]);
    let results = String::from_utf8_lossy(&output.stdout);
    assert!(results.contains("500") && !results.contains("hunter2"), "{results}");
}
