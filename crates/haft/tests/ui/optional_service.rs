//! An optional service.

use haft::tool;

struct Db;

#[tool]
fn count(#[service] db: Option<&Db>) -> bool {
    db.is_some()
}

fn main() {}
