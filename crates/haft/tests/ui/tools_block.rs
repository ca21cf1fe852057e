//! Mistakes in a block of tools, all at once.

use std::sync::Arc;

use haft::tools;

trait Open {
    fn open(&self);
}

struct Desk;

struct Shelf<T>(T);

#[tools]
impl Open for Desk {
    #[tool]
    fn open(&self) {}
}

#[tools]
impl<T> Shelf<T> {
    #[tool]
    fn take(&mut self) {}

    #[tool]
    fn give(self) {}

    #[tool]
    fn share(self: Arc<Self>) {}

    #[tool]
    fn find<U>(&self, text: &str) -> U {
        todo!()
    }
}

#[tools]
impl Desk {
    fn helper(&self) {}
}

#[tools]
fn free() {}

fn main() {}
