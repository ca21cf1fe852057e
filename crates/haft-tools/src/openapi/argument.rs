//! A tool's arguments: an operation's parameters and its request body, merged into one object.
//!
//! Every parameter becomes a property with its own name, and the request body becomes the property `body`, whatever it
//! contains. If two have the same name, the body keeps it, then the path, the query, headers and cookies in this order;
//! every other gets its place as a suffix, such as `id_query`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::body::{BODY, RequestBody, is_json, request_body};
use super::document::OpenApi;
use super::operation::Operation;
use super::schema::{Draft, Schemas, is_example};
use super::skip::SkipReason;
use super::style::{NESTED, is_nested, named_style};
use super::text::capped;
use crate::http::{BodyMapping, HttpAuth, ParameterPlace, ParameterStyle, RequestParameter};

/// The most parameters for one operation.
const MAX_PARAMETERS: usize = 1_000;

/// The share of a schema's maximum size that every parameter takes, whatever its own schema.
const PARAMETER_COST: usize = 16;

/// Headers that describe the message or the connection, which the request itself determines.
const OWN_HEADERS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
];

/// An operation's arguments.
#[derive(Debug)]
pub(super) struct OperationArguments {
    /// The schema for all arguments, without the definitions that it refers to.
    pub(super) schema: Map<String, Value>,
    pub(super) parameters: Vec<RequestParameter>,
    pub(super) body: BodyMapping,
    /// The parts that may not arrive as they are, with the reasons.
    pub(super) losses: Losses,
}

/// Parts of a request that may not arrive as they are, with the reasons.
pub(super) type Losses = Vec<(String, String)>;

/// A document's parameter.
#[derive(Clone, Copy, Debug)]
struct Parameter<'d> {
    name: &'d str,
    place: ParameterPlace,
    /// The parameter object; `None` for a path variable that the document does not describe.
    fields: Option<&'d Value>,
}

/// Merges an operation's parameters and request body. `variables` are the names in its path. What `auth` sends does not
/// become an argument.
pub(super) fn arguments<'d>(
    document: &'d OpenApi,
    operation: &Operation<'d>,
    variables: &[&'d str],
    auth: &[HttpAuth],
    schemas: &mut Schemas<'d>,
    draft: &mut Draft<'_>,
) -> Result<OperationArguments, SkipReason> {
    let mut parameters = parameters(document, operation, variables)?;
    draft.spend(PARAMETER_COST * parameters.len())?;
    parameters.retain(|parameter| !is_sent_by(parameter, auth));
    let body = request_body(document, operation, schemas, draft)?;
    let named = argument_names(&parameters, body.is_some());
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut mapped = Vec::with_capacity(parameters.len());
    let mut losses = Losses::new();
    for (parameter, name) in parameters.iter().zip(named) {
        let (schema, style) = described(document, parameter, schemas, draft, &mut losses)?;
        properties.insert(name.clone(), schema);
        if parameter.has("required") || parameter.place == ParameterPlace::Path {
            required.push(name.clone());
        }
        let mut request = RequestParameter::new(name, parameter.place).named(parameter.name).style(style);
        request.allow_reserved = parameter.has("allowReserved");
        request.allow_empty = parameter.has("allowEmptyValue");
        mapped.push(request);
    }
    let mapping = match body {
        None => BodyMapping::none(),
        Some(RequestBody { mapping, schema, is_required, losses: of_body }) => {
            losses.extend(of_body);
            properties.insert(BODY.to_owned(), schema);
            if is_required {
                required.push(BODY.to_owned());
            }
            mapping
        }
    };
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    Ok(OperationArguments { schema, parameters: mapped, body: mapping, losses })
}

impl Parameter<'_> {
    /// Reports whether the document sets this flag.
    fn has(&self, flag: &str) -> bool {
        self.fields.and_then(|fields| fields.get(flag)) == Some(&Value::Bool(true))
    }
}

/// Returns the parameters from the path item and the operation. The operation's own replace the path item's.
fn parameters<'d>(
    document: &'d OpenApi,
    operation: &Operation<'d>,
    variables: &[&'d str],
) -> Result<Vec<Parameter<'d>>, SkipReason> {
    let mut found: Vec<Parameter<'d>> = Vec::new();
    let mut index: HashMap<(ParameterPlace, String), usize> = HashMap::new();
    for list in [operation.item.get("parameters"), operation.fields.get("parameters")] {
        let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if list.len() > MAX_PARAMETERS {
            let part = format!("a list of {} parameters", list.len());
            return Err(SkipReason::InvalidOperation { part, expected: "at most 1,000 are supported" });
        }
        for fields in list {
            let fields = document.follow(fields)?;
            let Some(parameter) = parameter(fields)? else { continue };
            // A parameter for a variable that the path lacks would be sent nowhere.
            if parameter.place == ParameterPlace::Path && !variables.contains(&parameter.name) {
                continue;
            }
            match index.get(&key(&parameter)) {
                Some(at) => found[*at] = parameter,
                None => {
                    index.insert(key(&parameter), found.len());
                    found.push(parameter);
                }
            }
        }
    }
    for name in variables {
        let parameter = Parameter { name, place: ParameterPlace::Path, fields: None };
        if index.insert(key(&parameter), found.len()).is_none() {
            found.push(parameter);
        }
    }
    Ok(found)
}

/// Reads a parameter object, or returns `None` for a header that the request itself determines.
fn parameter(fields: &Value) -> Result<Option<Parameter<'_>>, SkipReason> {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let name = text("name").filter(|name| !name.is_empty()).ok_or_else(|| malformed("it must have a `name`"))?;
    let place = match text("in") {
        Some("path") => ParameterPlace::Path,
        Some("query") => ParameterPlace::Query,
        Some("header") => ParameterPlace::Header,
        Some("cookie") => ParameterPlace::Cookie,
        _ => return Err(malformed("`in` must be `path`, `query`, `header` or `cookie`")),
    };
    let is_own = place == ParameterPlace::Header && OWN_HEADERS.contains(&&*name.to_ascii_lowercase());
    Ok((!is_own).then_some(Parameter { name, place, fields: Some(fields) }))
}

fn malformed(expected: &'static str) -> SkipReason {
    SkipReason::InvalidOperation { part: "a parameter".to_owned(), expected }
}

/// Returns a parameter's identity: headers that differ only in case are the same.
fn key(parameter: &Parameter<'_>) -> (ParameterPlace, String) {
    let name = match parameter.place {
        ParameterPlace::Header => parameter.name.to_ascii_lowercase(),
        _ => parameter.name.to_owned(),
    };
    (parameter.place, name)
}

/// Reports whether the authentication sends what this parameter would.
fn is_sent_by(parameter: &Parameter<'_>, auth: &[HttpAuth]) -> bool {
    auth.iter().any(|auth| match (auth, parameter.place) {
        (HttpAuth::Header { name, .. }, ParameterPlace::Header) => name.eq_ignore_ascii_case(parameter.name),
        (HttpAuth::Query { name, .. }, ParameterPlace::Query)
        | (HttpAuth::Cookie { name, .. }, ParameterPlace::Cookie) => name == parameter.name,
        _ => false,
    })
}

/// Returns the parameters' argument names, in order.
fn argument_names(parameters: &[Parameter<'_>], has_body: bool) -> Vec<String> {
    let mut taken: HashSet<String> = parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
    let mut plain: HashSet<&str> = if has_body { HashSet::from([BODY]) } else { HashSet::new() };
    let mut names = vec![String::new(); parameters.len()];
    let places = [ParameterPlace::Path, ParameterPlace::Query, ParameterPlace::Header, ParameterPlace::Cookie];
    for place in places {
        let of_place = parameters.iter().enumerate().filter(|(_, parameter)| parameter.place == place);
        for (index, parameter) in of_place {
            names[index] = if plain.insert(parameter.name) {
                parameter.name.to_owned()
            } else {
                let mut name = format!("{}_{}", parameter.name, place_name(place));
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                name
            };
        }
    }
    names
}

fn place_name(place: ParameterPlace) -> &'static str {
    match place {
        ParameterPlace::Path => "path",
        ParameterPlace::Query => "query",
        ParameterPlace::Header => "header",
        ParameterPlace::Cookie => "cookie",
    }
}

/// Returns the schema for a parameter's argument, and its value's notation.
fn described<'d>(
    document: &'d OpenApi,
    parameter: &Parameter<'d>,
    schemas: &mut Schemas<'d>,
    draft: &mut Draft<'_>,
    losses: &mut Losses,
) -> Result<(Value, ParameterStyle), SkipReason> {
    let Some(fields) = parameter.fields else {
        return Ok((json!({"type": "string"}), ParameterStyle::Comma));
    };
    let content = fields.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
    let (schema, style) = match (fields.get("schema"), content) {
        (None, Some((media_type, media))) if is_json(media_type) => {
            (converted(media.get("schema"), schemas, draft)?, ParameterStyle::Json)
        }
        // Any other notation is the model's to write.
        (None, Some((media_type, _))) => {
            let text = json!({"type": "string", "description": format!("A text of the type {media_type}")});
            (text.as_object().cloned().unwrap_or_default(), ParameterStyle::Comma)
        }
        (schema, _) => {
            let style = style(parameter, fields)?;
            let is_lost = style != ParameterStyle::DeepObject && is_nested(document, schema.unwrap_or(&Value::Null));
            if is_lost {
                losses.push((format!("the parameter `{}`", parameter.name), NESTED.to_owned()));
            }
            (converted(schema, schemas, draft)?, style)
        }
    };
    let mut schema = if parameter.has("allowEmptyValue") { or_empty(schema) } else { schema };
    if let Some(text) = fields.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        schema.insert("description".to_owned(), capped(text).into());
    }
    if let Some(example) = fields.get("example").filter(|example| is_example(example)) {
        schema.entry("examples").or_insert_with(|| json!([example]));
    }
    Ok((schema.into(), style))
}

fn converted<'d>(
    schema: Option<&'d Value>,
    schemas: &mut Schemas<'d>,
    draft: &mut Draft<'_>,
) -> Result<Map<String, Value>, SkipReason> {
    let schema = schema.map_or(Ok(Value::Bool(true)), |schema| schemas.convert(schema, draft))?;
    Ok(match schema {
        Value::Object(schema) => schema,
        Value::Bool(true) => Map::new(),
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    })
}

/// Returns a schema that accepts an empty text as well.
fn or_empty(schema: Map<String, Value>) -> Map<String, Value> {
    const RESTRICTING: [&str; 8] = ["enum", "const", "pattern", "minLength", "allOf", "anyOf", "oneOf", "not"];
    let is_text = matches!(schema.get("type"), None | Some(Value::String(_))) && !schema.contains_key("$ref");
    let accepts = is_text && schema.get("type").is_none_or(|name| name == "string");
    if accepts && RESTRICTING.iter().all(|keyword| !schema.contains_key(*keyword)) {
        return schema;
    }
    Map::from_iter([("anyOf".to_owned(), json!([schema, {"const": ""}]))])
}

fn style(parameter: &Parameter<'_>, fields: &Value) -> Result<ParameterStyle, SkipReason> {
    let named = fields.get("style").and_then(Value::as_str).unwrap_or(match parameter.place {
        ParameterPlace::Path | ParameterPlace::Header => "simple",
        ParameterPlace::Query | ParameterPlace::Cookie => "form",
    });
    let explode = fields.get("explode").and_then(Value::as_bool).unwrap_or(named == "form");
    named_style(parameter.place, named, explode).ok_or_else(|| {
        let fault = format!("the style `{named}` is not supported in this place");
        SkipReason::UnsupportedParameter { parameter: parameter.name.to_owned(), fault }
    })
}
