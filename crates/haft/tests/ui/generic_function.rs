//! Functions with type, constant and lifetime parameters.

use haft::tool;

#[tool]
fn first<T>(values: Vec<T>) -> u8 {
    values.len() as u8
}

#[tool]
fn second<const N: usize>(values: [u8; N]) -> u8 {
    values[0]
}

#[tool]
fn third<'a>(#[service] key: &'a str) -> usize {
    key.len()
}

fn main() {}
