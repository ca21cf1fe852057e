//! Checks on a mapping, which report all faults.

use std::collections::{BTreeSet, HashSet};

use haft_registry::EntryFault;

use super::{RequestMapping, Rest, TakenNames, pointer, unescaped};
use crate::http::arguments::ArgumentNames;
use crate::http::auth::HttpAuth;
use crate::http::body::{BodyFormat, BodySource, has_no_body};
use crate::http::header::{self, HeaderOrigin};
use crate::http::parameter::{ParameterPlace, RequestParameter};
use crate::http::template::escaped;
use crate::http::tool::HttpTool;

impl RequestMapping {
    /// Checks the mapping for a tool whose arguments have this schema, and adds its faults.
    pub(in super::super) fn checked(
        tool: &HttpTool,
        arguments: &ArgumentNames<'_>,
        faults: &mut Vec<EntryFault>,
    ) -> Self {
        let parameters = with_path(tool, faults);
        let rest = match tool.body.source {
            BodySource::Rest | BodySource::RestOrEmpty => Rest::Body,
            BodySource::None | BodySource::Argument(_) if has_no_body(&tool.method) => Rest::Query,
            BodySource::None | BodySource::Argument(_) => Rest::Nowhere,
        };
        let taken = TakenNames::of(tool, &parameters, faults);
        let mut placed: BTreeSet<String> = parameters.iter().map(|parameter| parameter.argument.clone()).collect();
        placed.extend(tool.url.query_variables().map(str::to_owned));
        if let BodySource::Argument(name) = &tool.body.source {
            placed.insert(name.clone());
        }
        check_arguments(tool, &parameters, arguments, faults);
        check_constants(tool, &parameters, faults);
        check_body(tool, faults);
        for name in arguments.names().filter(|name| !placed.contains(*name)) {
            let at = format!("/parameters/properties{}", pointer(name));
            match rest {
                Rest::Query if taken.query.contains(&escaped(name)) => {
                    let message = format!("the query has two parameters `{name}`; map the argument under another name");
                    faults.push(EntryFault::at(at, message));
                }
                Rest::Nowhere => {
                    let message = format!("the argument `{name}` is not part of the request; map it or remove it");
                    faults.push(EntryFault::at(at, message));
                }
                Rest::Query | Rest::Body => {}
            }
        }
        let (url, constants, body) = (tool.url.clone(), tool.constants.clone(), tool.body.clone());
        Self { url, parameters, constants, body, rest, placed, taken }
    }
}

/// Returns the JSON Pointer to a place's setting.
fn setting(place: ParameterPlace, name: &str) -> String {
    match place {
        ParameterPlace::Path => "/url".to_owned(),
        ParameterPlace::Query => format!("/query{}", pointer(name)),
        ParameterPlace::Header => format!("/headers{}", pointer(name)),
        ParameterPlace::Cookie => format!("/cookies{}", pointer(name)),
    }
}

/// Returns the parameters, with one for each path variable.
fn with_path(tool: &HttpTool, faults: &mut Vec<EntryFault>) -> Vec<RequestParameter> {
    let mut parameters = tool.parameters.clone();
    let variables: BTreeSet<&str> = tool.url.path_variables().collect();
    let of_path = tool.parameters.iter().filter(|parameter| parameter.place == ParameterPlace::Path);
    for name in of_path.map(|parameter| parameter.wire_name.as_str()).filter(|name| !variables.contains(name)) {
        faults.push(EntryFault::at("/url", format!("the path of the URL has no variable `{{{name}}}`")));
    }
    for variable in variables {
        let is_it =
            |parameter: &RequestParameter| parameter.place == ParameterPlace::Path && parameter.wire_name == variable;
        if !parameters.iter().any(is_it) {
            parameters.push(RequestParameter::path(variable));
        }
    }
    parameters
}

/// Checks that the schema has all of the mapping's arguments.
fn check_arguments(
    tool: &HttpTool,
    parameters: &[RequestParameter],
    arguments: &ArgumentNames<'_>,
    faults: &mut Vec<EntryFault>,
) {
    let mut lacks = |name: &str, at: String| {
        if arguments.lacks(name) {
            faults.push(EntryFault::at(at, format!("there is no argument `{name}`; add it to `parameters`")));
            return true;
        }
        false
    };
    let mut optional = Vec::new();
    for RequestParameter { argument, place, wire_name, .. } in parameters {
        let is_missing = lacks(argument, setting(*place, wire_name));
        if !is_missing && *place == ParameterPlace::Path && arguments.is_optional(argument) {
            optional.push(argument);
        }
    }
    for variable in tool.url.query_variables() {
        lacks(variable, "/url".to_owned());
    }
    if let BodySource::Argument(name) = &tool.body.source {
        lacks(name, "/body/argument".to_owned());
    }
    for argument in optional {
        let message = format!("the argument `{argument}` is part of the path of the URL and must be required");
        faults.push(EntryFault::at("/parameters/required", message));
    }
}

fn check_constants(tool: &HttpTool, parameters: &[RequestParameter], faults: &mut Vec<EntryFault>) {
    let mut named = |place: ParameterPlace, name: &str, origin: HeaderOrigin| {
        let fault = match place {
            ParameterPlace::Header => header::name_fault(name, origin),
            ParameterPlace::Cookie if !header::is_cookie_name(name) => {
                Some(format!("`{name}` is no valid name of a cookie"))
            }
            ParameterPlace::Query if name.is_empty() => Some("a parameter of the query must have a name".to_owned()),
            ParameterPlace::Cookie | ParameterPlace::Query | ParameterPlace::Path => None,
        };
        faults.extend(fault.map(|fault| EntryFault::at(setting(place, name), fault)));
    };
    for constant in &tool.constants {
        named(constant.place, &constant.name, HeaderOrigin::Constant);
    }
    for parameter in parameters {
        named(parameter.place, &parameter.wire_name, HeaderOrigin::Argument);
    }
    let headers = tool.constants.iter().filter(|constant| constant.place == ParameterPlace::Header);
    for constant in headers.filter(|constant| !header::is_value(&constant.value)) {
        let at = setting(ParameterPlace::Header, &constant.name);
        faults.push(EntryFault::at(at, "the value must contain visible ASCII characters and spaces only"));
    }
    if let Some(fault) =
        tool.idempotency_key.as_deref().and_then(|name| header::name_fault(name, HeaderOrigin::Argument))
    {
        faults.push(EntryFault::at("/idempotency-key", fault));
    }
}

fn check_body(tool: &HttpTool, faults: &mut Vec<EntryFault>) {
    let is_rest = matches!(tool.body.source, BodySource::Rest | BodySource::RestOrEmpty);
    if is_rest && tool.body.format == BodyFormat::Text {
        faults.push(EntryFault::at("/body/argument", "a body of text is one argument; name it"));
    }
    if tool.body.content_type.as_deref().is_some_and(|text| !header::is_value(text)) {
        faults.push(EntryFault::at("/body/content-type", "the value must contain visible ASCII characters only"));
    }
    let mut of_fields = tool.body.fields.values().filter_map(|field| field.content_type.as_deref());
    if let Some(text) = of_fields.find(|text| !header::is_value(text)) {
        let fault = format!("the type `{text}` of a field must contain visible ASCII characters only");
        faults.push(EntryFault::at("/body/content-type", fault));
    }
}

impl TakenNames {
    /// Checks that each name in the request occurs once.
    fn of(tool: &HttpTool, parameters: &[RequestParameter], faults: &mut Vec<EntryFault>) -> Self {
        let mut taken: HashSet<(ParameterPlace, String)> = HashSet::new();
        let mut take = |place: ParameterPlace, name: &str, at: String| {
            let key = if place == ParameterPlace::Header { name.to_ascii_lowercase() } else { name.to_owned() };
            if !taken.insert((place, key)) {
                let place = match place {
                    ParameterPlace::Path => "variables of the path",
                    ParameterPlace::Query => "parameters of the query",
                    ParameterPlace::Header => "headers",
                    ParameterPlace::Cookie => "cookies",
                };
                faults.push(EntryFault::at(at, format!("the request has two {place} with the name `{name}`")));
            }
        };
        // A query that is written out may repeat a name on purpose.
        let written: BTreeSet<String> = tool.url.query_names().map(unescaped).collect();
        for name in &written {
            take(ParameterPlace::Query, name, "/url".to_owned());
        }
        for constant in &tool.constants {
            take(constant.place, &constant.name, setting(constant.place, &constant.name));
        }
        for parameter in parameters {
            take(parameter.place, &parameter.wire_name, setting(parameter.place, &parameter.wire_name));
        }
        if let Some(name) = &tool.idempotency_key {
            take(ParameterPlace::Header, name, "/idempotency-key".to_owned());
        }
        for auth in &tool.auth {
            match auth {
                HttpAuth::Bearer { .. } => take(ParameterPlace::Header, "authorization", "/auth/bearer".to_owned()),
                HttpAuth::Basic { .. } | HttpAuth::BasicPair { .. } => {
                    take(ParameterPlace::Header, "authorization", "/auth/basic".to_owned());
                }
                HttpAuth::OAuth2(_) => take(ParameterPlace::Header, "authorization", "/auth/oauth2".to_owned()),
                HttpAuth::Header { name, .. } => take(ParameterPlace::Header, name, "/auth/header/name".to_owned()),
                HttpAuth::Query { name, .. } => take(ParameterPlace::Query, name, "/auth/query/name".to_owned()),
                HttpAuth::Cookie { name, .. } => take(ParameterPlace::Cookie, name, "/auth/cookie/name".to_owned()),
            }
        }
        let of_place = |wanted: ParameterPlace| {
            let names = taken.iter().filter(move |(place, _)| *place == wanted);
            names.map(|(_, name)| escaped(name)).collect()
        };
        Self { query: of_place(ParameterPlace::Query), cookies: of_place(ParameterPlace::Cookie) }
    }
}
