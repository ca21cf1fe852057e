//! A block of tools whose type nobody provides.

use haft::toolkit::Services;
use haft::tools;

struct Desk;

#[tools]
impl Desk {
    /// Opens a ticket.
    #[tool]
    fn open_ticket(&self, title: String) -> String {
        title
    }
}

#[derive(Services)]
struct App {
    attempts: u8,
}

fn main() {
    let _kit = Desk::toolkit().provide(App { attempts: 3 });
}
