//! Fields that provide the same type, and types without fields.

use std::sync::Arc;

use haft::toolkit::Services;

struct Database;

#[derive(Services)]
struct App {
    url: String,
    database: Database,
    shared: Arc<Database>,
    key: String,
}

#[derive(Services)]
enum Choice {
    One(String),
}

#[derive(Services)]
struct Marked(#[service] u8, #[service(skpi)] u16);

fn main() {}
