use haft::tool;
use haft::tool::Cx;

#[tool(refine = |now: Now, _cx: Cx| async { Ok(now) })]
fn now(_cx: &Cx) -> u64 {
    0
}

#[tool(refine)]
fn later(days: u8) -> u8 {
    days
}

fn main() {}
