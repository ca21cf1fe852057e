//! `fetch`: one document from the web.
//!
//! The URL comes from a model, so the tool requires a [`GuardedClient`] and never creates a client itself: your
//! application decides which hosts can be reached, whether redirects are followed, and when a request times out. Every
//! answer from a server is a value, whatever its status. Network errors are failures that the model reads, by cause and
//! without addresses; the error itself is for the operator.

mod content;
mod failure;
mod html;

use haft_core::{Destructive, Idempotent, OpenWorld, Readonly};
use haft_executor::{Cx, DefinitionError, Tool};
use haft_http::{GuardedClient, HttpError, HttpRequest, HttpResponse, Method, SizeLimits, canonical_url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::content::{FetchedContent, is_html, read_content};
pub use self::failure::FetchFailure;
use self::failure::failure;
use self::html::to_text;
use crate::http::media_type::compression;

const DEFAULT_MAX_BYTES: u32 = 256 * 1024;
const MAX_BYTES: u32 = 4 * 1024 * 1024;

const DESCRIPTION: &str = "\
Fetches one http or https URL and returns the status, the type and the body of the answer. \
Text is returned as UTF-8, everything else as base64. Set format to \"text\" to read an HTML page without its markup. \
A status that is not 2xx is returned like any other. A redirect that was not followed has a location. \
The body is cut at max_bytes, and truncated is true then.";

/// The arguments of `fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchParams {
    /// The absolute URL, with the scheme http or https.
    #[schemars(length(min = 1, max = 8192))]
    url: String,
    /// The method; GET by default. HEAD returns no body.
    #[serde(default)]
    method: FetchMethod,
    /// The maximum size of the body in bytes; 262144 by default.
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 1, max = 4_194_304))]
    max_bytes: u32,
    /// The form of an HTML page: "raw" returns it as it is, "text" without its markup.
    #[serde(default)]
    format: FetchFormat,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
enum FetchMethod {
    #[default]
    #[serde(rename = "GET")]
    Get,
    #[serde(rename = "HEAD")]
    Head,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FetchFormat {
    #[default]
    Raw,
    Text,
}

/// The answer of a server.
#[derive(Debug, Serialize, JsonSchema)]
struct FetchedAnswer {
    /// The HTTP status.
    status: u16,
    /// The URL that answered, after redirects.
    url: String,
    /// The declared type of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// The compression of the body, which is returned as it is then.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_encoding: Option<String>,
    /// The URL of a redirect that was not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// The body, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The body in base64, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// True if the text is not valid UTF-8, so that parts of it are replaced by U+FFFD.
    lossy: bool,
    /// True if the body is longer than what is returned.
    truncated: bool,
}

/// Creates the tool `fetch`, which requires a [`GuardedClient`] service.
///
/// ```
/// use haft_executor::{Services, Toolkit};
/// use haft_http::{AddressGuard, HttpClient};
///
/// let client = HttpClient::builder().no_proxy().redirects(5).guarded(AddressGuard::new())?;
/// let kit: Toolkit = Toolkit::new().with(haft_tools::standard::fetch()?)?.with_services(Services::new().with(client));
/// kit.ensure_runnable()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn fetch() -> Result<Tool, DefinitionError> {
    Tool::new("fetch")
        .title("Fetch")
        .describe(DESCRIPTION)
        .annotate(Readonly(true))
        .annotate(Destructive(false))
        .annotate(Idempotent(true))
        .annotate(OpenWorld(true))
        .example(json!({"url": "https://example.com/", "format": "text"}))
        .example(json!({"url": "https://example.com/data.json", "max_bytes": 10000}))
        .depends_on::<GuardedClient>()
        .try_handler_mixed(|params: FetchParams, cx: Cx| async move {
            let client = cx.service::<GuardedClient>()?;
            fetched(client, params).await.map_err(failure)
        })?
        .canonical_argument("/url", canonical_url)
}

async fn fetched(client: &GuardedClient, params: FetchParams) -> Result<FetchedAnswer, HttpError> {
    let method = match params.method {
        FetchMethod::Get => Method::GET,
        FetchMethod::Head => Method::HEAD,
    };
    let max_bytes = params.max_bytes.min(MAX_BYTES) as usize;
    // The body is read up to its limit and then left, so its declared length must not be an error.
    let request = HttpRequest::new(method, &params.url).limits(SizeLimits::default().stream(usize::MAX));
    let response = client.send(request).await?;
    let (status, url, location) = (response.status().as_u16(), response.url().to_owned(), response.location());
    let (content_type, content_encoding) = (content_type(&response), compression(response.headers()));
    let (body, truncated) = read(response, max_bytes).await?;
    let (text, base64, lossy) =
        match read_content(content_type.as_deref(), content_encoding.as_deref(), body, truncated) {
            FetchedContent::None => (None, None, false),
            FetchedContent::Text { text, lossy } => {
                let strips = params.format == FetchFormat::Text && is_html(content_type.as_deref(), &text);
                (Some(if strips { to_text(&text) } else { text }), None, lossy)
            }
            FetchedContent::Base64(base64) => (None, Some(base64), false),
        };
    Ok(FetchedAnswer { status, url, content_type, content_encoding, location, text, base64, lossy, truncated })
}

/// Reads the body up to a number of bytes. The rest is not received.
async fn read(response: HttpResponse, max_bytes: usize) -> Result<(Vec<u8>, bool), HttpError> {
    let mut chunks = response.chunks()?;
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await.transpose()? {
        let left = max_bytes - body.len();
        if chunk.len() > left {
            body.extend_from_slice(&chunk[..left]);
            return Ok((body, true));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, false))
}

fn content_type(response: &HttpResponse) -> Option<String> {
    let declared = response.headers().get("content-type")?;
    Some(String::from_utf8_lossy(declared.as_bytes()).chars().take(200).collect())
}

fn default_max_bytes() -> u32 {
    DEFAULT_MAX_BYTES
}
