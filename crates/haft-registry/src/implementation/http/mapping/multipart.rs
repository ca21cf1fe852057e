//! Bodies of the type `multipart/form-data`, with texts only.

use serde_json::{Map, Value};

use super::super::value::scalar;

/// Writes a form and returns it with its boundary, which no part contains.
pub(super) fn multipart(members: &Map<String, Value>) -> (String, String) {
    let fields: Vec<(&str, String)> = members.iter().flat_map(|(name, value)| texts(name, value)).collect();
    let mut boundary = String::from("haft-form-boundary");
    let mut number = 0_u32;
    while fields.iter().any(|(name, text)| name.contains(&boundary) || text.contains(&boundary)) {
        number = number.wrapping_add(1);
        boundary = format!("haft-form-boundary-{number}");
    }
    let mut body = String::new();
    for (name, text) in fields {
        let name = quoted(name);
        body.push_str(&format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"));
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    (boundary, body)
}

fn texts<'m>(name: &'m str, value: &Value) -> Vec<(&'m str, String)> {
    let values = match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    values.iter().filter_map(|value| Some((name, scalar(value)?.into_owned()))).collect()
}

/// Escapes the name of a field as browsers do.
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
        let form = json!({"a": "--haft-form-boundary\r\n", "b": "--haft-form-boundary-1--"});
        let (boundary, body) = multipart(form.as_object().unwrap());
        assert_eq!(boundary, "haft-form-boundary-2");
        assert_eq!(body.matches(&boundary).count(), 3);
    }
}
