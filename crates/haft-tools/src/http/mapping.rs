//! The mapping from arguments to a request, checked.

mod check;
mod form;
mod multipart;

use std::cell::RefCell;
use std::collections::BTreeSet;

use haft_http::Bytes;
use haft_schema::{Issue, Issues};
use oauth2::url::Url;
use percent_encoding::percent_decode_str;

use super::body::{BodyMapping, BodySource};
use super::exact::ExactValue;
use super::header;
use super::parameter::{ParameterPlace, ParameterStyle, RequestParameter};
use super::template::{Escape, UrlTemplate, escaped};
use super::tool::RequestConstant;
use super::value::{EmptyText, Inexpressible, Notation, pairs, single};

/// The mapping from arguments to a request. Its faults were reported when it was built.
#[derive(Debug)]
pub(super) struct RequestMapping {
    url: UrlTemplate,
    /// One per path variable, and those for query, headers and cookies.
    parameters: Vec<RequestParameter>,
    constants: Vec<RequestConstant>,
    body: BodyMapping,
    rest: Rest,
    /// The arguments that have their own place.
    placed: BTreeSet<String>,
    taken: TakenNames,
}

/// The escaped query and cookie names that each belong to one parameter, constant or secret, so that an argument's
/// members, and arguments without their own place, can't use them.
#[derive(Debug, Default)]
struct TakenNames {
    query: BTreeSet<String>,
    cookies: BTreeSet<String>,
}

/// The place for arguments that have none of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Query,
    Body,
    /// There is none, and such arguments are rejected.
    Nowhere,
}

/// A request without credentials.
pub(super) struct PreparedRequest {
    /// The URL without a query.
    pub(super) url: String,
    /// The query as escaped pairs.
    pub(super) query: Vec<(String, Option<String>)>,
    pub(super) headers: Vec<(String, String)>,
    /// The cookies as escaped pairs.
    pub(super) cookies: Vec<(String, String)>,
    pub(super) body: Option<PreparedBody>,
}

/// A body and its type.
pub(super) struct PreparedBody {
    pub(super) content_type: String,
    pub(super) bytes: Bytes,
}

impl RequestMapping {
    /// Writes the request for these arguments.
    pub(super) fn prepare(&self, arguments: &ExactValue) -> Result<PreparedRequest, Issues> {
        let mut issues = Vec::new();
        let url = self.write_url(arguments).unwrap_or_else(|issue| {
            issues.push(issue);
            String::new()
        });
        let value = |name: &str| arguments.get(name).unwrap_or(&ExactValue::Null);
        let mut request = PreparedRequest {
            url,
            query: self.url.expand_query(value),
            headers: Vec::new(),
            cookies: Vec::new(),
            body: None,
        };
        for RequestConstant { place, name, value } in &self.constants {
            match place {
                ParameterPlace::Query => request.query.push((escaped(name), Some(escaped(value)))),
                ParameterPlace::Header => request.headers.push((name.clone(), value.clone())),
                ParameterPlace::Cookie => request.cookies.push((escaped(name), escaped(value))),
                ParameterPlace::Path => {}
            }
        }
        for parameter in &self.parameters {
            if let Err(issue) = self.place(parameter, value(&parameter.argument), &mut request) {
                issues.push(issue);
            }
        }
        self.write_rest(arguments, &mut request, &mut issues);
        if issues.is_empty() { Ok(request) } else { Err(Issues::new(issues)) }
    }

    fn write_url(&self, arguments: &ExactValue) -> Result<String, Issue> {
        let of_path = |variable: &str| {
            let is_it = |parameter: &&RequestParameter| {
                parameter.place == ParameterPlace::Path && parameter.wire_name == variable
            };
            self.parameters.iter().find(is_it)
        };
        let fault = RefCell::new(None);
        let written = self.url.expand_path(|variable, escape| {
            let parameter = of_path(variable);
            let value = parameter.and_then(|parameter| arguments.get(&parameter.argument));
            let style = parameter.map_or(ParameterStyle::Comma, |parameter| parameter.style);
            let text = single(variable, value.unwrap_or(&ExactValue::Null), style, escape);
            text.map_err(|error| fault.replace(Some((variable.to_owned(), error)))).ok().flatten().unwrap_or_default()
        });
        let argument = |variable| of_path(variable).map_or(variable, |parameter| parameter.argument.as_str());
        if let Some((variable, error)) = fault.into_inner() {
            return Err(inexpressible(argument(&variable), &error));
        }
        let url =
            written.map_err(|(variable, fault)| Issue::new(pointer(argument(variable)), "http", fault.to_string()))?;
        // The URL must be what was written, whatever a parser makes of it.
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        match Url::parse(&url) {
            Ok(parsed) if parsed.path().strip_prefix('/') == Some(path) && url.starts_with(&origin(&parsed)) => Ok(url),
            _ => Err(Issue::new("", "http", "the arguments do not fit into the path of the URL")),
        }
    }

    fn place(
        &self,
        parameter: &RequestParameter,
        value: &ExactValue,
        request: &mut PreparedRequest,
    ) -> Result<(), Issue> {
        let RequestParameter { argument, place, wire_name, style, .. } = parameter;
        if *value == ExactValue::Null {
            return Ok(());
        }
        match place {
            ParameterPlace::Path => {}
            ParameterPlace::Query => {
                let written = own_pairs(parameter, value, &self.taken.query)?;
                request.query.extend(written.into_iter().map(|(name, value)| (name, Some(value))));
            }
            ParameterPlace::Cookie => request.cookies.extend(own_pairs(parameter, value, &self.taken.cookies)?),
            ParameterPlace::Header => {
                let text = single(wire_name, value, *style, Escape::Nothing);
                let Some(text) = text.map_err(|error| inexpressible(argument, &error))? else { return Ok(()) };
                if !header::is_value(&text) {
                    let message = "must contain visible ASCII characters and spaces only, as it is sent in a header";
                    return Err(Issue::new(pointer(argument), "http", message));
                }
                request.headers.push((wire_name.clone(), text));
            }
        }
        Ok(())
    }

    /// Writes the arguments without their own place, and the body.
    fn write_rest(&self, arguments: &ExactValue, request: &mut PreparedRequest, issues: &mut Vec<Issue>) {
        let rest = || arguments.members().iter().filter(|(name, _)| !self.placed.contains(name));
        match self.rest {
            Rest::Query => {
                for (name, value) in rest() {
                    if self.taken.query.contains(&escaped(name)) {
                        issues.push(Issue::new(pointer(name), "http", "is the name of another parameter; remove it"));
                        continue;
                    }
                    match pairs(name, value, Notation::of(ParameterStyle::Repeat)) {
                        Ok(written) => {
                            request.query.extend(written.into_iter().map(|(name, value)| (name, Some(value))));
                        }
                        Err(error) => issues.push(inexpressible(name, &error)),
                    }
                }
            }
            Rest::Nowhere => {
                issues.extend(
                    rest().map(|(name, _)| Issue::new(pointer(name), "http", "is not an argument of the tool")),
                );
            }
            Rest::Body => {}
        }
        let (body, at) = match &self.body.source {
            BodySource::None => return,
            BodySource::Rest if rest().next().is_none() => return,
            BodySource::Rest | BodySource::RestOrEmpty => {
                (ExactValue::Object(rest().cloned().collect()), String::new())
            }
            BodySource::Argument(name) => match arguments.get(name) {
                None | Some(ExactValue::Null) => return,
                Some(value) => (value.clone(), pointer(name)),
            },
        };
        match form::body(&self.body, &body) {
            Ok(body) => request.body = Some(body),
            Err((name, message)) => {
                issues.push(Issue::new(name.map_or(at.clone(), |name| at + &pointer(&name)), "http", message));
            }
        }
    }
}

/// Writes an argument's pairs. Some styles write an object's members under their own names, which must not be those of
/// another parameter, a constant or a secret.
fn own_pairs(
    parameter: &RequestParameter,
    value: &ExactValue,
    taken: &BTreeSet<String>,
) -> Result<Vec<(String, String)>, Issue> {
    let RequestParameter { argument, place, wire_name, style, allow_reserved, allow_empty } = parameter;
    let is_query = *place == ParameterPlace::Query;
    let notation = Notation {
        style: *style,
        escape: if *allow_reserved && is_query { Escape::ButReserved } else { Escape::Full },
        empty: if *allow_empty && is_query { EmptyText::Sent } else { EmptyText::Omitted },
    };
    let written = pairs(wire_name, value, notation).map_err(|error| inexpressible(argument, &error))?;
    if matches!(style, ParameterStyle::Spread | ParameterStyle::DeepObject) {
        let own = escaped(wire_name);
        if let Some((name, _)) = written.iter().find(|(name, _)| *name != own && taken.contains(name)) {
            let message = format!("must not be sent as `{}`, which is another parameter; remove it", unescaped(name));
            return Err(Issue::new(pointer(argument), "http", message));
        }
    }
    Ok(written)
}

/// Returns the issue with an argument that can't be written.
fn inexpressible(argument: &str, error: &Inexpressible) -> Issue {
    Issue::new(pointer(argument), "http", error.to_string())
}

/// Returns an argument's JSON Pointer.
pub(crate) fn pointer(argument: &str) -> String {
    format!("/{}", argument.replace('~', "~0").replace('/', "~1"))
}

fn unescaped(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn origin(url: &Url) -> String {
    format!("{}/", url.origin().ascii_serialization())
}
