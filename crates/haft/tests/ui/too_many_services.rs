//! Thirteen services.

use haft::tool;

#[tool]
fn all(
    #[service] _a: &u8,
    #[service] _b: &u8,
    #[service] _c: &u8,
    #[service] _d: &u8,
    #[service] _e: &u8,
    #[service] _f: &u8,
    #[service] _g: &u8,
    #[service] _h: &u8,
    #[service] _i: &u8,
    #[service] _j: &u8,
    #[service] _k: &u8,
    #[service] _l: &u8,
    #[service] _m: &u8,
) {
}

fn main() {}
