//! A future that can't move between threads.

use std::rc::Rc;

use haft::tool;

async fn wait() {}

#[tool]
async fn count(text: String) -> usize {
    let text = Rc::new(text);
    wait().await;
    text.len()
}

fn main() {}
