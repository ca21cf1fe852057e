//! `multipart/form-data` bodies, with texts only.

use std::collections::HashSet;

/// The prefix of every boundary. A number with [`DIGITS`] hexadecimal digits follows.
const PREFIX: &str = "haft-form-boundary-";
const DIGITS: usize = 16;

/// A part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) text: String,
    /// The media type of the text, if it has one.
    pub(super) content_type: Option<String>,
}

/// Writes a form and returns it with its boundary, which no part contains.
pub(super) fn multipart(parts: &[Part]) -> (String, String) {
    let boundary = boundary(parts);
    let mut body = String::new();
    for Part { name, text, content_type } in parts {
        body.push_str(&format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"\r\n", quoted(name)));
        if let Some(content_type) = content_type {
            body.push_str(&format!("content-type: {content_type}\r\n"));
        }
        body.push_str(&format!("\r\n{text}\r\n"));
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    (boundary, body)
}

/// Returns the first boundary that no part contains. The parts are read once, however many boundaries they contain.
fn boundary(parts: &[Part]) -> String {
    let texts = parts.iter().flat_map(|part| [&*part.name, &*part.text]);
    let numbers = texts.flat_map(|text| text.split(PREFIX).skip(1)).filter_map(|after| after.get(..DIGITS));
    let contained: HashSet<&str> = numbers.collect();
    let mut number = 0_u64;
    loop {
        let digits = format!("{number:0DIGITS$x}");
        if !contained.contains(digits.as_str()) {
            return format!("{PREFIX}{digits}");
        }
        number += 1;
    }
}

/// Escapes a field's name as browsers do.
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

#[cfg(test)]
mod tests {
    use super::{Part, multipart};

    fn part(name: &str, text: &str) -> Part {
        Part { name: name.to_owned(), text: text.to_owned(), content_type: None }
    }

    #[test]
    fn parts_are_written_and_no_name_ends_its_line() {
        let json = Part { content_type: Some("application/json".to_owned()), ..part("q\"\r\nx: y", "{}") };
        let (boundary, body) = multipart(&[part("a", "x\r\ny"), json]);
        assert_eq!(
            body,
            format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nx\r\ny\r\n\
                 --{boundary}\r\ncontent-disposition: form-data; name=\"q%22%0D%0Ax: y\"\r\n\
                 content-type: application/json\r\n\r\n{{}}\r\n\
                 --{boundary}--\r\n"
            )
        );
    }

    #[test]
    fn no_part_contains_the_boundary() {
        let text = "--haft-form-boundary-0000000000000000\r\nhaft-form-boundary-haft-form-boundary-ä";
        let (boundary, body) = multipart(&[part("a", text), part("b", "--haft-form-boundary-0000000000000001--")]);
        assert_eq!(boundary, "haft-form-boundary-0000000000000002");
        assert_eq!(body.matches(&boundary).count(), 3);
    }

    #[test]
    fn a_text_of_many_boundaries_is_read_once() {
        let all: Vec<String> = (0..50_000).map(|number| format!("haft-form-boundary-{number:016x}")).collect();
        let (boundary, _) = multipart(&[part("a", &all.concat())]);
        assert_eq!(boundary, format!("haft-form-boundary-{:016x}", 50_000));
    }
}
