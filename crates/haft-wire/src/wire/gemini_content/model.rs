//! Gemini model names, in paths and by generation.

use crate::wire::Delivery;
use crate::wire_error::RequestError;

/// The collections that a name may start with. Other names are model names.
const COLLECTIONS: [&str; 4] = ["models", "tunedModels", "publishers", "projects"];

/// The path before a model's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathRoot {
    /// The Gemini API's path.
    Gemini,
    /// Vertex AI's path, by version, project and location.
    Vertex([String; 3]),
}

impl PathRoot {
    fn write(&self) -> Result<String, RequestError> {
        let Self::Vertex([version, project, location]) = self else { return Ok("/v1beta/".to_owned()) };
        let mut path = String::from("/");
        for part in [version, "projects", project, "locations", location, "publishers", "google"] {
            push_segment(&mut path, part)?;
            path.push('/');
        }
        Ok(path)
    }
}

/// Returns the path for a request to a model.
pub(super) fn path(root: &PathRoot, model: &str, delivery: Delivery) -> Result<String, RequestError> {
    let mut path = root.write()?;
    match model.split_once('/') {
        Some((collection, _)) if COLLECTIONS.contains(&collection) => {
            for (at, segment) in model.split('/').enumerate() {
                if at > 0 {
                    path.push('/');
                }
                push_segment(&mut path, segment)?;
            }
        }
        _ => {
            path.push_str("models/");
            push_segment(&mut path, model)?;
        }
    }
    path.push_str(match delivery {
        Delivery::Whole => ":generateContent",
        Delivery::Streamed => ":streamGenerateContent?alt=sse",
    });
    Ok(path)
}

/// Adds a path segment, escaping everything but unreserved characters.
fn push_segment(path: &mut String, segment: &str) -> Result<(), RequestError> {
    // Clients resolve the dots in relative paths even if they are escaped.
    if matches!(segment, "" | "." | "..") {
        let message =
            "the name of the model, its project or location is empty, or has an empty or relative part; name a model"
                .to_owned();
        return Err(RequestError::Invalid { param: "model".to_owned(), message });
    }
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            path.push(char::from(byte));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            path.push('%');
            path.push(char::from(DIGITS[usize::from(byte >> 4)]));
            path.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    Ok(())
}

/// A model's generation, as far as requests depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Gemini 1 and 2.
    Before3,
    /// Gemini 3 and later, and names such as `gemini-flash-latest`.
    From3,
    /// Another model, such as Gemma or a tuned one.
    Other,
}

impl Generation {
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let Some(version) = name.strip_prefix("gemini-") else { return Self::Other };
        let digits = version.bytes().take_while(u8::is_ascii_digit).count();
        match version[..digits].parse::<u32>() {
            Ok(0..3) => Self::Before3,
            _ => Self::From3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_segments_of_a_path() {
        for (model, segments) in [
            ("gemini-3-pro", "models/gemini-3-pro"),
            ("models/gemini-3-pro", "models/gemini-3-pro"),
            ("tunedModels/mine", "tunedModels/mine"),
            ("publishers/google/models/x", "publishers/google/models/x"),
            ("a/b", "models/a%2Fb"),
            ("a?key=1#x", "models/a%3Fkey%3D1%23x"),
            ("models/ü:x", "models/%C3%BC%3Ax"),
        ] {
            assert_eq!(
                path(&PathRoot::Gemini, model, Delivery::Whole).unwrap(),
                format!("/v1beta/{segments}:generateContent")
            );
        }
        let streamed = path(&PathRoot::Gemini, "m", Delivery::Streamed).unwrap();
        assert_eq!(streamed, "/v1beta/models/m:streamGenerateContent?alt=sse");
    }

    #[test]
    fn a_name_never_leaves_its_collection() {
        for model in ["", ".", "..", "models/", "models/..", "models/../files", "projects//x", "models/./x"] {
            let error = path(&PathRoot::Gemini, model, Delivery::Whole).unwrap_err();
            assert!(error.to_string().starts_with("model: "), "{error}");
        }
    }

    #[test]
    fn models_of_vertex_belong_to_a_project_and_a_location() {
        let root = |project: &str| PathRoot::Vertex(["v1beta1".to_owned(), project.to_owned(), "us-east1".to_owned()]);
        assert_eq!(
            path(&root("example.com:p"), "gemini-3-pro", Delivery::Whole).unwrap(),
            "/v1beta1/projects/example.com%3Ap/locations/us-east1/publishers/google/models/gemini-3-pro:generateContent"
        );
        for project in ["", "..", "."] {
            path(&root(project), "gemini-3-pro", Delivery::Whole).unwrap_err();
        }
        assert!(path(&root("a/../b"), "m", Delivery::Whole).unwrap().contains("/a%2F..%2Fb/"));
    }

    #[test]
    fn generations_are_read_from_names() {
        for (model, generation) in [
            ("gemini-1.5-pro", Generation::Before3),
            ("models/gemini-2.5-flash", Generation::Before3),
            ("gemini-3-pro-preview", Generation::From3),
            ("gemini-3.8-flash", Generation::From3),
            ("gemini-12-x", Generation::From3),
            ("gemini-flash-latest", Generation::From3),
            ("gemini-99999999999", Generation::From3),
            ("gemma-4", Generation::Other),
            ("tunedModels/mine", Generation::Other),
        ] {
            assert_eq!(Generation::of(model), generation, "{model}");
        }
    }
}
