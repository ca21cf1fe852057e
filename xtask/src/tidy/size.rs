//! The maximum length of a file and of a function.

use super::breach::Breach;
use super::source::Source;

/// The maximum lines of a file before its own tests.
const FILE: usize = 500;
/// The maximum lines of a test file.
const TEST_FILE: usize = 900;
/// The maximum lines of a function, from `fn` to its closing brace.
const FUNCTION: usize = 80;

/// Checks both.
pub(super) fn check(source: &Source<'_>) -> Vec<Breach> {
    let mut breaches: Vec<Breach> = check_file(source).into_iter().collect();
    breaches.extend(source.words("fn").filter_map(|at| check_function(source, at)));
    breaches
}

fn check_file(source: &Source<'_>) -> Option<Breach> {
    let (lines, most) = if source.is_test() {
        (source.line_count(), TEST_FILE)
    } else {
        (source.test_line().map_or(source.line_count(), |start| start - 1), FILE)
    };
    (lines > most).then(|| Breach::new(source.path(), most + 1, format!("file of {lines} lines, at most {most}")))
}

fn check_function(source: &Source<'_>, at: usize) -> Option<Breach> {
    let end = at + body_end(&source.code()[at..])?;
    let (first, last) = (source.line_at(at), source.line_at(end));
    let lines = last - first + 1;
    let message = || format!("function of {lines} lines, at most {FUNCTION}");
    (lines > FUNCTION).then(|| Breach::new(source.path(), first, message()))
}

/// Returns the end of the body of the function at the start of this code; none if it has no body (a declaration, a
/// type).
fn body_end(code: &str) -> Option<usize> {
    let (mut round, mut curly) = (0_i32, 0_i32);
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' => round += 1,
            // A bracket of an enclosing item: this was a function type inside it.
            b')' | b']' if round == 0 && curly == 0 => return None,
            b')' | b']' => round -= 1,
            b';' | b',' | b'=' if round == 0 && curly == 0 && !is_in_signature(code, at) => return None,
            b'{' => curly += 1,
            b'}' if curly <= 1 => return (curly == 1).then_some(at),
            b'}' => curly -= 1,
            _ => {}
        }
    }
    None
}

/// Returns whether a `,` or `=` outside brackets still belongs to a signature: in generics, in bounds, in `where`.
fn is_in_signature(code: &str, at: usize) -> bool {
    code.as_bytes()[at] != b';' && {
        let before = &code[..at];
        let angles = before.replace("->", "").chars().fold(0_i32, |depth, c| match c {
            '<' => depth + 1,
            '>' => depth - 1,
            _ => depth,
        });
        angles > 0 || before.split_whitespace().any(|word| word == "where")
    }
}

#[cfg(test)]
mod tests {
    use super::{body_end, check};
    use crate::tidy::source::Source;

    fn lines_of(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(super::Breach::line).collect()
    }

    #[test]
    fn a_file_may_have_the_maximum_before_its_tests_and_not_one_line_more() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(600));
        assert!(lines_of("src/a.rs", &format!("{}{tests}", "\n".repeat(500))).is_empty());
        assert_eq!(lines_of("src/a.rs", &format!("{}{tests}", "\n".repeat(501))), [501]);
        assert!(lines_of("crates/a/tests/it/b.rs", &"\n".repeat(900)).is_empty());
        assert_eq!(lines_of("crates/a/benches/b.rs", &"\n".repeat(901)), [901]);
    }

    #[test]
    fn a_function_may_have_the_maximum_and_not_one_line_more() {
        let function =
            |lines: usize| format!("\nfn f<T>(a: [u8; 3]) -> T\nwhere T: X<A = B>,\n{{{}}}\n", "\n".repeat(lines - 3));
        assert!(lines_of("src/a.rs", &function(80)).is_empty());
        assert_eq!(lines_of("src/a.rs", &function(81)), [2]);
    }

    #[test]
    fn the_text_of_literals_and_comments_does_not_end_a_function() {
        let text = format!("fn f() {{ // }}\n let x = \"}}\";{}}}\n", "\n".repeat(80));
        assert_eq!(lines_of("src/a.rs", &text), [1]);
    }

    #[test]
    fn declarations_and_function_types_have_no_body() {
        assert_eq!(body_end("fn f(&self) -> u8; fn g() {}"), None);
        assert_eq!(body_end("fn(u8) -> u8; struct A { x: u8 }"), None);
        assert_eq!(body_end("fn(u8) -> u8, other: u8 }"), None);
        assert_eq!(body_end("fn(u8) -> u8 = f; mod x {}"), None);
        assert_eq!(body_end("fn f<A, B = u8>() -> Map<A, B> where A: X, B: Y { { } }"), Some(54));
    }
}
