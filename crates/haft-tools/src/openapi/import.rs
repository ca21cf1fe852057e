//! The import: one tool per operation, and a report about the rest.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use haft_executor::Tool;
use haft_http::Method;
use haft_registry::{Entry, Reach, ToolSettings};
use serde_json::{Map, Value, json};

use super::argument::{OperationArguments, arguments};
use super::body::is_json;
use super::document::OpenApi;
use super::filter::Candidate;
use super::operation::{Operation, Operations};
use super::options::{ImportOptions, OutputCheck};
use super::path::{operation_path, variable_name};
use super::schema::{Direction, Draft, Loosened, Schemas};
use super::security::authentication;
use super::server::base_url;
use super::skip::{SkipReason, Skipped};
use super::text::description;
use crate::http::{HttpTool, ParameterPlace, ResponseMapping, UrlTemplate};

/// The maximum total size of an import's schemas, in bytes. The largest real documents have a few MiB.
const MAX_IMPORT_BYTES: usize = 64 << 20;

/// The share of that size that every operation takes, whatever its schema: a tool has a size of its own.
const OPERATION_COST: usize = 1 << 10;

/// The share of that size that is charged for a schema that could not be made.
const FAILURE_COST: usize = 16 << 10;

/// An import's outcome.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Imported {
    /// The operations that are tools now, in document order.
    pub operations: Vec<ImportedOperation>,
    /// The operations that were not imported, each with a reason, without those that the options exclude.
    pub skipped: Vec<Skipped>,
    /// The keywords that were left out from schemas.
    pub loosened: Vec<Loosened>,
    /// The parts of requests that may not arrive as the document describes them.
    pub lossy: Vec<LossyPart>,
}

/// A part of a request that the document describes and its tool can't express, or only for some values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossyPart {
    /// The operation, such as `GET /pets/{id}`.
    pub operation: String,
    /// The part, such as ``the parameter `filter` ``.
    pub part: String,
    /// The loss.
    pub loss: String,
}

impl fmt::Display for LossyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} may not arrive as described: {}", self.operation, self.part, self.loss)
    }
}

/// An operation with its tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportedOperation {
    /// The operation, such as `GET /pets/{id}`.
    pub operation: String,
    /// Its tool.
    pub tool: Tool,
    /// The request that the tool sends.
    pub request: HttpTool,
}

impl Imported {
    /// Returns the tools in document order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.operations.iter().map(|operation| &operation.tool)
    }

    /// Returns the names of the secrets that the tools' calls will read.
    #[must_use]
    pub fn secret_names(&self) -> BTreeSet<&str> {
        self.operations.iter().flat_map(|operation| operation.request.secret_names()).collect()
    }

    /// Returns every server that the tools send requests to, with the secrets that it gets.
    #[must_use]
    pub fn reach(&self) -> Reach {
        self.operations.iter().fold(Reach::nothing(), |reach, operation| reach.and(operation.request.reach()))
    }

    /// Returns the tools in document order.
    #[must_use]
    pub fn into_tools(self) -> Vec<Tool> {
        self.operations.into_iter().map(|operation| operation.tool).collect()
    }
}

impl OpenApi {
    /// Imports every operation that the options do not exclude.
    ///
    /// ```
    /// use haft_tools::openapi::{ImportOptions, OpenApi};
    /// use serde_json::json;
    ///
    /// let document = OpenApi::from_value(json!({
    ///     "openapi": "3.1.0",
    ///     "servers": [{"url": "https://pets.example"}],
    ///     "paths": {"/pets/{id}": {
    ///         "get": {"operationId": "getPet", "summary": "Returns a pet."},
    ///         "put": {"requestBody": {"content": {"image/png": {}}}},
    ///     }},
    /// }))?;
    /// let imported = document.import(&ImportOptions::new());
    /// let tool = imported.tools().next().unwrap();
    /// assert_eq!((tool.name(), tool.description()), ("getPet", Some("Returns a pet.")));
    ///
    /// assert_eq!(imported.skipped[0].operation, "PUT /pets/{id}");
    /// assert_eq!(imported.skipped[0].reason.code(), "unsupported_body");
    /// # Ok::<_, haft_tools::openapi::OpenApiError>(())
    /// ```
    #[must_use]
    pub fn import(&self, options: &ImportOptions) -> Imported {
        let Operations { found, skipped } = self.operations();
        let mut importer = Importer::new(self, options);
        let mut imported = Imported { skipped, ..Imported::default() };
        let mut names = HashSet::new();
        for operation in &found {
            let tags = operation.tags();
            let Operation { name, method, path, .. } = operation;
            let candidate = Candidate { tags: &tags, path, id: operation.id(), name, method };
            let is_first = names.insert(name.as_str());
            if !options.filter.accepts(candidate) {
                continue;
            }
            let made =
                if is_first { importer.import(operation) } else { Err(SkipReason::Duplicate { name: name.clone() }) };
            match made {
                Ok(operation) => imported.operations.push(operation),
                Err(reason) => imported.skipped.push(Skipped { operation: operation.label(), reason }),
            }
        }
        imported.loosened = importer.requests.loosened;
        imported.loosened.append(&mut importer.responses.loosened);
        imported.lossy = importer.lossy;
        imported
    }
}

/// The state that an import's operations share.
struct Importer<'d> {
    document: &'d OpenApi,
    options: &'d ImportOptions,
    requests: Schemas<'d>,
    responses: Schemas<'d>,
    /// The total size of the schemas that may still be made.
    budget: usize,
    lossy: Vec<LossyPart>,
}

impl<'d> Importer<'d> {
    fn new(document: &'d OpenApi, options: &'d ImportOptions) -> Self {
        let requests = Schemas::new(document, Direction::Request);
        let responses = Schemas::new(document, Direction::Response);
        Self { document, options, requests, responses, budget: MAX_IMPORT_BYTES, lossy: Vec::new() }
    }

    fn import(&mut self, operation: &Operation<'d>) -> Result<ImportedOperation, SkipReason> {
        let Self { document, options, .. } = *self;
        let label = operation.label();
        if self.budget == 0 {
            return Err(SkipReason::ImportTooLarge { limit: MAX_IMPORT_BYTES });
        }
        self.budget = self.budget.saturating_sub(OPERATION_COST);
        if operation.method == "TRACE" {
            return Err(SkipReason::UnsupportedMethod { method: operation.method.clone() });
        }
        let path = operation_path(operation.path)?;
        let url = format!("{}{}", base_url(&document.root, operation, options)?, path.template);
        let url: UrlTemplate = url.parse().map_err(|error| invalid_tool(&error))?;
        let auth = authentication(document, operation, options)?;

        let mut draft = Draft::new(&label, options.schema_limit());
        let made = arguments(document, operation, &path.variables, &auth, &mut self.requests, &mut draft);
        self.budget = self.budget.saturating_sub(draft.spent());
        let OperationArguments { mut schema, parameters, body, losses } = made?;
        let defined = self.requests.define(&mut schema, draft);
        self.charge(defined)?;

        let method = Method::from_bytes(operation.method.as_bytes()).map_err(|error| invalid_tool(&error))?;
        let mut request = HttpTool::new(method, url).body(body).tokens(&options.tokens);
        for mut parameter in parameters {
            if parameter.place == ParameterPlace::Path {
                parameter.wire_name = variable_name(&parameter.wire_name);
            }
            request = request.parameter(parameter);
        }
        request = auth.into_iter().fold(request, HttpTool::auth);
        let mut response = ResponseMapping::new().errors(options.errors.clone());
        response.headers.clone_from(&options.response_headers);
        request = request.response(response);
        let success = self.success_media(operation);
        let sets_accept = options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept"));
        if let Some((media_type, _)) = success.filter(|(media_type, _)| !sets_accept && is_plain(media_type)) {
            request = request.header("accept", format!("{media_type}, */*;q=0.5"));
        }
        for (name, value) in &options.headers {
            request = request.header(name, value);
        }
        let title = operation.text("summary").map(str::trim).filter(|text| !text.is_empty());
        let mut settings = ToolSettings::default();
        settings.title = title.map(super::text::title);
        settings.description = description(operation.text("summary"), operation.text("description"));
        settings.parameters = Some(schema.into());
        settings.output = self.output(operation)?;
        let entry = Entry::new(&operation.name, Value::Null).tool(settings);
        let tool = request.build(&entry).map_err(|error| {
            let fault = short(&error);
            let is_schema = error.faults.iter().any(|fault| fault.pointer.starts_with("/parameters"));
            if is_schema { SkipReason::InvalidSchema { fault } } else { SkipReason::InvalidTool { fault } }
        })?;
        let lossy = losses.into_iter().map(|(part, loss)| LossyPart { operation: label.clone(), part, loss });
        self.lossy.extend(lossy);
        Ok(ImportedOperation { operation: label, tool, request })
    }

    /// Subtracts a schema's size from what is left. A schema that was too large cost some work as well.
    fn charge(&mut self, defined: Result<usize, SkipReason>) -> Result<(), SkipReason> {
        let bytes = *defined.as_ref().unwrap_or(&FAILURE_COST);
        self.budget = self.budget.saturating_sub(bytes);
        defined.map(drop)
    }

    /// Returns a successful response's JSON, by its media type, if the document describes one.
    fn success_media(&self, operation: &Operation<'d>) -> Option<(&'d str, &'d Value)> {
        let responses = operation.fields.get("responses").and_then(Value::as_object);
        let success = responses.into_iter().flatten().find(|(status, _)| status.starts_with('2'));
        let (_, response) = success?;
        // A response that can't be found says nothing about the request.
        let response = self.document.follow(response).ok()?;
        let content = response.get("content").and_then(Value::as_object);
        let mut media = content.into_iter().flatten().map(|(media_type, media)| (media_type.as_str(), media));
        media.find(|(media_type, _)| is_json(media_type))
    }

    /// Returns the result schema, if it is to be enforced and the document has one.
    fn output(&mut self, operation: &Operation<'d>) -> Result<Option<Value>, SkipReason> {
        match self.options.output_check {
            OutputCheck::Off => return Ok(None),
            OutputCheck::Enforced => {}
        }
        let media = self.success_media(operation);
        let Some(schema) = media.and_then(|(_, media)| media.get("schema")) else { return Ok(None) };
        let label = operation.label();
        let mut draft = Draft::new(&label, self.options.schema_limit());
        let converted = self.responses.convert(schema, &mut draft);
        self.budget = self.budget.saturating_sub(draft.spent());
        let Value::Object(mut root) = converted? else { return Ok(None) };
        let defined = self.responses.define(&mut root, draft);
        self.charge(defined)?;
        Ok(Some(self.with_headers(root)))
    }

    /// Returns the schema for a result with its headers, if it has any.
    fn with_headers(&self, mut body: Map<String, Value>) -> Value {
        if self.options.response_headers.is_empty() {
            return body.into();
        }
        // References lead to the root.
        let definitions = body.remove("$defs");
        let names = self.options.response_headers.iter().map(|name| name.to_ascii_lowercase());
        let headers: Map<String, Value> = names.map(|name| (name, json!({"type": "string"}))).collect();
        let mut root = json!({
            "type": "object",
            "properties": {
                "body": body,
                "headers": {"type": "object", "properties": headers, "additionalProperties": false},
            },
            "required": ["body", "headers"],
            "additionalProperties": false,
        });
        if let Some(definitions) = definitions {
            root["$defs"] = definitions;
        }
        root
    }
}

/// Reports whether a media type can be part of a header.
fn is_plain(media_type: &str) -> bool {
    media_type.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/+-._;= ".contains(&byte))
}

fn invalid_tool(error: &dyn fmt::Display) -> SkipReason {
    SkipReason::InvalidTool { fault: short(error) }
}

fn short(error: &dyn fmt::Display) -> String {
    error.to_string().chars().take(500).collect()
}
