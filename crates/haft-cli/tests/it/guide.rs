//! The guide in `docs/src`: its commands are run, and what it shows is what they ran with.
//!
//! trycmd runs each page in a copy of its folder `<page>.in`, so that commands may write there. The guide's services
//! are at `localhost:8080`; the copy has this test's service port instead. `TRYCMD=overwrite` writes all pages'
//! expected output anew.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use axum::extract::{Path as UrlPath, Query};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// The address of services in the guide.
const SHOWN_ADDRESS: &str = "localhost:8080";

/// The fences' languages. The doc tests in `examples/src/lib.rs` compile the Rust ones.
const LANGUAGES: [&str; 5] = ["console", "json", "rust", "text", "toml"];

#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("localhost:0")).unwrap();
    let address = format!("localhost:{}", listener.local_addr().unwrap().port());
    runtime.spawn(async move { axum::serve(listener, shop()).await });

    let (copy, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy_folder(&source(), copy.path(), &|text| text.replace(SHOWN_ADDRESS, &address));
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("haft", Path::new(env!("CARGO_BIN_EXE_haft")))
        .env("HAFT_STATE_DIR", state.path().display().to_string())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .case(copy.path().join("*.md"));
    cases.run();
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        for page in pages() {
            let text = fs::read_to_string(copy.path().join(page.file_name().unwrap())).unwrap();
            fs::write(&page, text.replace(&address, SHOWN_ADDRESS)).unwrap();
        }
    }
}

#[test]
fn every_block_is_tested() {
    let mut faults = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let files = fixtures(&page);
        for block in blocks(&text) {
            let fault = match block.language {
                "console" => untested_command(&block.body),
                language
                    if is_shown_file(language, &block.body) && !files.iter().any(|file| file.contains(&block.body)) =>
                {
                    Some(format!("is in no file of {}", page.with_extension("in").display()))
                }
                language if LANGUAGES.contains(&language.split(',').next().unwrap_or_default()) => None,
                language => Some(format!("`{language}` is none of {LANGUAGES:?}")),
            };
            faults.extend(fault.map(|fault| format!("{}:{}: {fault}", page.display(), block.line)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_and_links_are_alive() {
    let summary = fs::read_to_string(source().join("SUMMARY.md")).unwrap();
    let mut faults = Vec::new();
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        if name != "SUMMARY.md" && !summary.contains(&format!("]({name})")) {
            faults.push(format!("{name} is not in SUMMARY.md"));
        }
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            let (file, section) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { source().join(file) };
            let Ok(found) = fs::read_to_string(&path) else {
                faults.push(format!("{name}: {target} leads nowhere"));
                continue;
            };
            if !section.is_empty() && !sections(&found).contains(&section.to_owned()) {
                faults.push(format!("{name}: there is no section #{section} in {}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A fenced block.
struct Block<'a> {
    line: usize,
    language: &'a str,
    body: String,
}

/// Reports whether a block is a file or a part of one, and not a drawing.
fn is_shown_file(language: &str, body: &str) -> bool {
    matches!(language, "toml" | "json") || body.starts_with("#!")
}

/// Returns the fault in a command block that trycmd would skip: it runs no program but `haft`.
fn untested_command(body: &str) -> Option<String> {
    let commands: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let is_haft = |command: &&str| command.split(' ').find(|word| !word.contains('=')) == Some("haft");
    match commands.iter().find(|command| !is_haft(command)) {
        Some(command) => Some(format!("`{command}` is not run")),
        None if commands.is_empty() => Some("there is no command".to_owned()),
        None if body.lines().any(|line| line == "? skipped") => Some("a command is skipped".to_owned()),
        // trycmd takes every backslash for one of a path.
        None => body.contains("/\"").then(|| "the output has `\\\"`, which is shown as `/\"`".to_owned()),
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(language) if !is_open => {
                blocks.push(Block { line: index + 1, language, body: String::new() });
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => {
                let body = &mut blocks.last_mut().unwrap().body;
                body.push_str(line);
                body.push('\n');
            }
            None => {}
        }
    }
    assert!(!is_open, "a block is not closed");
    blocks
}

/// Returns the lines outside of blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_open = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_open ^= is_fence;
        !is_open && !is_fence
    })
}

/// Returns the targets of links to other pages and sections.
fn links(text: &str) -> Vec<&str> {
    let targets = prose(text).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the names of the headings, as mdBook makes them.
fn sections(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches(['#', ' ']));
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter.to_ascii_lowercase()),
        _ => None,
    };
    headings.map(|heading| heading.chars().filter_map(kept).collect()).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = fs::read_dir(source()).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension() == Some(OsStr::new("md")));
    pages.sort();
    assert!(pages.len() > 10, "the guide is missing");
    pages
}

/// Returns all file texts in a page's folder.
fn fixtures(page: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![page.with_extension("in")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                texts.push(fs::read_to_string(&path).unwrap());
            }
        }
    }
    texts
}

/// Copies a folder of text files with their modes, each text changed by a function.
fn copy_folder(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy, change);
        } else {
            fs::write(&copy, change(&fs::read_to_string(&path).unwrap())).unwrap();
            fs::set_permissions(&copy, fs::metadata(&path).unwrap().permissions()).unwrap();
        }
    }
}

/// The service that the guide's HTTP tools call: a shop with two products.
fn shop() -> Router {
    Router::new()
        .route("/products", get(find_products))
        .route("/products/{id}", get(read_product))
        .route("/orders", post(place_order))
}

fn products() -> [Value; 2] {
    [json!({"id": "tea", "name": "Green tea", "cents": 450}), json!({"id": "mug", "name": "Tea mug", "cents": 1200})]
}

async fn find_products(Query(query): Query<Value>) -> Json<Value> {
    let wanted = query["text"].as_str().unwrap_or_default().to_lowercase();
    let found = products()
        .into_iter()
        .filter(|product| product["name"].as_str().is_some_and(|name| name.to_lowercase().contains(&wanted)));
    Json(json!({"items": found.collect::<Vec<_>>()}))
}

async fn read_product(UrlPath(id): UrlPath<String>) -> Result<Json<Value>, (StatusCode, Json<Value>)> {
    let missing = || (StatusCode::NOT_FOUND, Json(json!({"error": "there is no such product"})));
    products().into_iter().find(|product| product["id"] == id).map(Json).ok_or_else(missing)
}

async fn place_order(headers: HeaderMap, Json(order): Json<Value>) -> Result<Json<Value>, StatusCode> {
    if headers.get("authorization").is_none_or(|value| value != "Bearer key-12345") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(Json(json!({"order": "o-1", "product": order["product"], "quantity": order["quantity"]})))
}
