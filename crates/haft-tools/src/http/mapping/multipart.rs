//! `multipart/form-data` bodies, with texts only.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::value::scalar;

/// The prefix of every boundary. A number with [`DIGITS`] hexadecimal digits follows.
const PREFIX: &str = "haft-form-boundary-";
const DIGITS: usize = 16;

/// Writes a form and returns it with its boundary, which no part contains.
pub(super) fn multipart(members: &Map<String, Value>) -> (String, String) {
    let fields: Vec<(&str, String)> = members.iter().flat_map(|(name, value)| texts(name, value)).collect();
    let boundary = boundary(&fields);
    let mut body = String::new();
    for (name, text) in fields {
        let name = quoted(name);
        body.push_str(&format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"));
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    (boundary, body)
}

/// Returns the first boundary that no part contains. The parts are read once, however many boundaries they contain.
fn boundary(fields: &[(&str, String)]) -> String {
    let texts = fields.iter().flat_map(|(name, text)| [*name, text.as_str()]);
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

fn texts<'m>(name: &'m str, value: &Value) -> Vec<(&'m str, String)> {
    let values = match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    values.iter().filter_map(|value| Some((name, scalar(value)?.into_owned()))).collect()
}

/// Escapes a field's name as browsers do.
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::multipart;

    #[test]
    fn fields_are_written_and_no_name_ends_its_line() {
        let form = json!({"a": "x\r\ny", "l": [1, null, "2"], "n": null, "q\"\r\nx: y": {"k": true}});
        let (boundary, body) = multipart(form.as_object().unwrap());
        assert_eq!(
            body,
            format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nx\r\ny\r\n\
                 --{boundary}\r\ncontent-disposition: form-data; name=\"l\"\r\n\r\n1\r\n\
                 --{boundary}\r\ncontent-disposition: form-data; name=\"l\"\r\n\r\n2\r\n\
                 --{boundary}\r\ncontent-disposition: form-data; name=\"q%22%0D%0Ax: y\"\r\n\r\n{{\"k\":true}}\r\n\
                 --{boundary}--\r\n"
            )
        );
    }

    #[test]
    fn no_field_contains_the_boundary() {
        let text = "--haft-form-boundary-0000000000000000\r\nhaft-form-boundary-haft-form-boundary-ä";
        let form = json!({"a": text, "b": "--haft-form-boundary-0000000000000001--"});
        let (boundary, body) = multipart(form.as_object().unwrap());
        assert_eq!(boundary, "haft-form-boundary-0000000000000002");
        assert_eq!(body.matches(&boundary).count(), 3);
    }

    #[test]
    fn a_text_of_many_boundaries_is_read_once() {
        let all: Vec<String> = (0..50_000).map(|number| format!("haft-form-boundary-{number:016x}")).collect();
        let text = all.concat();
        let (boundary, _) = multipart(json!({"a": text}).as_object().unwrap());
        assert_eq!(boundary, format!("haft-form-boundary-{:016x}", 50_000));
    }
}
