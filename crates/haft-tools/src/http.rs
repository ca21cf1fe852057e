//! Tools that send HTTP requests.
//!
//! ```text
//! arguments ─> HttpTool ───────> GuardedClient ─> ResponseMapping ─> result
//!              URL, query,      addresses,       status, format,
//!              headers, body    redirects        selection
//!                 ▲
//!              Secrets, by name
//! ```
//!
//! A request is data: an [`HttpTool`], which you build in Rust or from settings for the kind `http`. Arguments fill the
//! places that the mapping has for them and can change nothing else: not the host, not the path around a variable, not
//! a constant and not a credential. Building the tool finds all faults in a mapping.
//!
//! As a workspace file entry:
//!
//! ```toml
//! [toolbox.web.tool.search]
//! kind = "http"
//! description = "Searches issues."
//! url = "https://api.example.com/repos/{owner}/issues"   # `{owner}` is an argument
//! query = { q = "{text}", per_page = 50 }                 # `"{text}"` is an argument, all else is sent as it is
//! headers = { accept = "application/json" }
//! auth = { bearer = "github" }                            # the name of a secret
//! result = { pointer = "/items" }
//! status = { 404 = "null" }
//! retry = { attempts = 3 }
//! ```
//!
//! The model reads a failed request's status, but nothing from its body: that is the server's text for whoever debugs
//! it, and part of the failure's cause. [`ErrorDetail`] opts in. The model sees images and audio as such.
//!
//! A call reads its secrets and sends them to the server that the mapping names. If that server returns them, they are
//! removed from the texts of failures and results. What a server returns in another form, such as a file, can't be
//! searched.

mod arguments;
mod auth;
mod body;
mod content;
mod credential;
mod exact;
mod exchange;
mod failure;
mod header;
mod kind;
mod mapping;
mod media;
pub(crate) mod media_type;
mod parameter;
mod response;
mod retry;
mod settings;
mod status;
mod template;
mod token;
mod tool;
mod value;

pub use self::auth::{ClientAuthStyle, ClientCredentials, HttpAuth};
pub use self::body::{BodyFormat, BodyMapping, BodySource, FormField};
pub use self::failure::{HttpStatusError, HttpStatusFailure};
pub use self::kind::HttpKind;
pub(crate) use self::mapping::pointer;
pub use self::parameter::{ParameterPlace, ParameterStyle, RequestParameter};
pub use self::response::{ErrorDetail, ResponseMapping, ResultFormat, Selection, StatusOutcome, StatusRule};
pub use self::retry::HttpRetry;
pub(crate) use self::settings::ErrorsSetting;
pub use self::status::{InvalidStatusSet, StatusSet};
pub use self::template::{UrlTemplate, UrlTemplateError};
pub use self::token::{TokenCache, TokenError};
pub use self::tool::HttpTool;

#[cfg(feature = "mcp")]
#[cfg(feature = "mcp")]
pub(crate) use self::header::constant_fault;
#[cfg(feature = "mcp")]
pub(crate) use self::settings::{BasicSettings, HeaderAuthSettings};
