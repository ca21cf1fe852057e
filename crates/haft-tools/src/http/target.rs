//! A tool's request, for people who want to know what it does.

use haft_core::Annotation;
use haft_http::Method;

use super::template::UrlTemplate;

/// The method and URL that a tool sends, as a tool annotation. Descriptors do not contain it.
///
/// ```
/// use haft_http::Method;
/// use haft_registry::Entry;
/// use haft_tools::http::{HttpTarget, HttpTool};
///
/// let read = HttpTool::new(Method::GET, "https://api.example.com/items/{id}".parse()?);
/// let tool = read.build(&Entry::new("read", serde_json::Value::Null))?;
/// let target = tool.annotations().get::<HttpTarget>().unwrap();
/// assert_eq!((target.method.as_str(), target.url.origin()), ("GET", "https://api.example.com"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpTarget {
    /// The method.
    pub method: Method,
    /// The URL with its variables.
    pub url: UrlTemplate,
}

impl Annotation for HttpTarget {}
