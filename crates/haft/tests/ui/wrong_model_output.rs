use haft::conversation::ContentPart;
use haft::tool;

fn rows(rows: &String) -> Vec<ContentPart> {
    vec![ContentPart::text(rows)]
}

#[tool(to_model = rows)]
fn count_rows() -> u32 {
    3
}

#[tool(to_model)]
fn count_lines() -> u32 {
    3
}

fn main() {}
