//! Approval requests and questions as the forms that a client shows to its user.
//!
//! A form shows exactly what would run: the tool and the whole arguments, with characters that display as nothing or
//! reorder text written as escapes. If the arguments are flat, their values are the fields of the form, and the user may
//! change them; changed arguments are checked like any others.

use haft_core::{ApprovalRequest, Question, Verdict};
use haft_executor::{ApprovalAnswer, Tool};
use rmcp::model::{ClientCapabilities, ElicitRequest, ElicitRequestParams};
use serde_json::{Map, Value, json};

/// The most fields of a form for arguments.
const MOST_FIELDS: usize = 32;
/// The field of a question whose answer is not an object.
const ANSWER: &str = "answer";
/// The keywords of a field that clients know.
const KEYWORDS: [&str; 10] =
    ["title", "description", "default", "enum", "enumNames", "minLength", "maxLength", "minimum", "maximum", "pattern"];
/// The formats of a text field that clients know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The question to a client about a request, and the way back from its answer.
#[derive(Debug)]
pub(super) struct Form {
    params: ElicitRequestParams,
    kind: FormKind,
}

#[derive(Debug)]
enum FormKind {
    /// A call requires approval. With the arguments, if the form shows them as fields.
    Approval { arguments: Option<Map<String, Value>> },
    /// A value is needed. It is one field if it is not an object.
    Input { is_wrapped: bool },
    /// The user is asked to visit a page.
    Visit,
}

impl Form {
    /// Creates the form of a request. The error says why this client can't ask it.
    ///
    /// `tool` is that of the request, if it is known. `rejected` says why the previous answer was rejected.
    pub(super) fn of(
        request: &ApprovalRequest,
        tool: Option<&Tool>,
        capabilities: Option<&ClientCapabilities>,
        rejected: Option<&str>,
    ) -> Result<Self, String> {
        let subject = request.subject();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
        let Some(elicitation) = elicitation else {
            return Err("it needs an answer of your user, and this client does not support elicitation".to_owned());
        };
        // A client that names neither mode has forms.
        let has_forms = elicitation.form.is_some() || elicitation.url.is_none();
        let (params, kind) = match subject.question.as_deref() {
            Some(Question::Visit { message, url, .. }) if elicitation.url.is_some() => {
                let id = request.request_id.as_str();
                (json!({"mode": "url", "message": message, "url": url, "elicitationId": id}), FormKind::Visit)
            }
            Some(Question::Visit { url, .. }) => {
                return Err(format!("its user has to visit {url}, and this client can't show addresses"));
            }
            _ if !has_forms => return Err("it needs an answer of your user, and this client shows no forms".to_owned()),
            Some(Question::Input { message, schema, .. }) => {
                let message = rejected.map_or_else(|| message.clone(), |rejected| again(message, rejected));
                let (schema, is_wrapped) = input_schema(schema)
                    .ok_or("it asks a question whose answer does not fit into a form of this protocol")?;
                (json!({"mode": "form", "message": message, "requestedSchema": schema}), FormKind::Input { is_wrapped })
            }
            None => approval(subject, tool.filter(|_| std::ptr::eq(subject, request)), rejected),
            Some(_) => return Err("it asks a question that this server can't show".to_owned()),
        };
        let params = serde_json::from_value(params)
            .map_err(|_| "it asks a question that does not fit into a form of this protocol".to_owned())?;
        Ok(Self { params, kind })
    }

    /// Returns the request for the client.
    pub(super) fn request(&self) -> ElicitRequest {
        ElicitRequest::new(self.params.clone())
    }

    /// Reads the client's answer.
    pub(super) fn read(&self, request: &ApprovalRequest, answer: &Value) -> ApprovalAnswer {
        let content = answer.get("content");
        match answer.get("action").and_then(Value::as_str) {
            Some("accept") => self.accepted(request, content).map_or_else(unreadable, Into::into),
            Some("decline") => request.deny("the user declined").into(),
            Some("cancel") => ApprovalAnswer::NoAnswer { reason: "the user dismissed the question".to_owned() },
            _ => unreadable(),
        }
    }

    fn accepted(&self, request: &ApprovalRequest, content: Option<&Value>) -> Option<Verdict> {
        match &self.kind {
            FormKind::Visit | FormKind::Approval { arguments: None } => Some(request.approve()),
            FormKind::Approval { arguments: Some(arguments) } => {
                let mut edited = arguments.clone();
                for (name, value) in content.and_then(Value::as_object).into_iter().flatten() {
                    if let Some(argument) = edited.get_mut(name) {
                        argument.clone_from(value);
                    }
                }
                if edited == *arguments { Some(request.approve()) } else { Some(request.edit(Value::Object(edited))) }
            }
            FormKind::Input { is_wrapped: true } => Some(request.answer(content?.get(ANSWER)?.clone())),
            FormKind::Input { is_wrapped: false } => {
                Some(request.answer(content.cloned().unwrap_or_else(|| Value::Object(Map::new()))))
            }
        }
    }
}

fn unreadable() -> ApprovalAnswer {
    ApprovalAnswer::NoAnswer { reason: "the client's answer can't be read".to_owned() }
}

fn again(message: &str, rejected: &str) -> String {
    format!("{message}\n\nThe last answer was not accepted: {rejected}")
}

/// Returns the form of a call that requires approval.
fn approval(request: &ApprovalRequest, tool: Option<&Tool>, rejected: Option<&str>) -> (Value, FormKind) {
    let arguments = if request.arguments.trim().is_empty() { "{}" } else { &request.arguments };
    let parsed: Option<Value> = serde_json::from_str(arguments).ok();
    let shown = parsed.as_ref().and_then(|arguments| serde_json::to_string_pretty(arguments).ok());
    // Reading may round numbers: then the text is shown as it is.
    let is_exact = |shown: &String| same_text(shown, arguments);
    let shown = shown.filter(is_exact).unwrap_or_else(|| arguments.to_owned());
    let message = format!("Run the tool `{}` with these arguments?\n\n{shown}", request.tool);
    let message = visible(&rejected.map_or_else(|| message.clone(), |rejected| again(&message, rejected)));
    let fields = tool.zip(parsed.as_ref()).and_then(|(tool, arguments)| fields(tool, arguments));
    let properties = fields.as_ref().map(|(properties, _)| properties.clone()).unwrap_or_default();
    let schema = json!({"type": "object", "properties": properties});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    (params, FormKind::Approval { arguments: fields.map(|(_, arguments)| arguments) })
}

/// Reports whether two JSON texts differ in blanks alone.
fn same_text(one: &str, other: &str) -> bool {
    let mut one = one.chars().filter(|character| !character.is_whitespace());
    let mut other = other.chars().filter(|character| !character.is_whitespace());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (left, right) if left != right => return false,
            _ => {}
        }
    }
}

/// Returns the arguments as fields with their values, if all of them fit.
fn fields(tool: &Tool, arguments: &Value) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let arguments = arguments.as_object()?;
    let descriptor = tool.descriptor();
    let schema = descriptor.input_schema.as_json();
    let properties = schema.get("properties")?.as_object()?;
    if arguments.len() > MOST_FIELDS {
        return None;
    }
    let mut fields = Map::new();
    for (name, value) in arguments {
        let mut field = field(properties.get(name)?, schema)?;
        if !(value.is_string() || value.is_number() || value.is_boolean()) {
            return None;
        }
        field.insert("default".to_owned(), value.clone());
        fields.insert(name.clone(), field.into());
    }
    Some((fields, arguments.clone()))
}

/// Returns the schema of a form for an answer. It has one field for an answer that is not an object.
fn input_schema(schema: &Value) -> Option<(Value, bool)> {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        let mut fields = Map::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            fields.insert(name.clone(), field(property, schema)?.into());
        }
        let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
        return Some((json!({"type": "object", "properties": fields, "required": required}), false));
    }
    let field = field(schema, schema)?;
    Some((json!({"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]}), true))
}

/// Returns the schema of one field with the keywords that clients know. What is left out is checked here.
fn field(schema: &Value, root: &Value) -> Option<Map<String, Value>> {
    let schema = resolved(schema, root)?;
    let mut field = Map::new();
    for keyword in KEYWORDS {
        if let Some(value) = schema.get(keyword).filter(|value| !value.is_null()) {
            field.insert(keyword.to_owned(), value.clone());
        }
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        // A value that may be absent is left out of the form's answer.
        Some(Value::Array(kinds)) => match kinds.iter().filter(|kind| *kind != "null").collect::<Vec<_>>()[..] {
            [kind] => kind.as_str()?,
            _ => return None,
        },
        None if schema.get("enum").or(schema.get("oneOf")).is_some() => "string",
        _ => return None,
    };
    match kind {
        "string" => {
            if let Some(choices) = schema.get("oneOf") {
                field.insert("oneOf".to_owned(), titled(choices)?);
            }
            let format = schema.get("format").and_then(Value::as_str);
            if let Some(format) = format.filter(|format| FORMATS.contains(format)) {
                field.insert("format".to_owned(), format.into());
            }
            let is_text = |choices: &Value| choices.as_array().is_some_and(|all| all.iter().all(Value::is_string));
            if !schema.get("enum").is_none_or(is_text) {
                return None;
            }
        }
        "array" => {
            for keyword in ["items", "minItems", "maxItems"] {
                field.extend(schema.get(keyword).map(|value| (keyword.to_owned(), value.clone())));
            }
            field.get("items")?.get("enum").or(field.get("items")?.get("anyOf"))?;
        }
        "number" | "integer" | "boolean" => {}
        _ => return None,
    }
    field.insert("type".to_owned(), kind.into());
    Some(field)
}

/// Returns choices with titles.
fn titled(choices: &Value) -> Option<Value> {
    let choices = choices.as_array()?.iter().map(|choice| {
        let value = choice.get("const")?.as_str()?;
        let title = choice.get("title").or(choice.get("description")).and_then(Value::as_str).unwrap_or(value);
        Some(json!({"const": value, "title": title}))
    });
    choices.collect::<Option<Vec<Value>>>().map(Value::Array)
}

/// Follows references inside the schema.
fn resolved<'s>(mut schema: &'s Value, root: &'s Value) -> Option<&'s Value> {
    for _ in 0..8 {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
            None => return Some(schema),
        }
    }
    None
}

/// Writes characters that display as nothing, or reorder text, as escapes.
fn visible(text: &str) -> String {
    let is_hidden = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(u32::from(character),
                0xAD | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
    };
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.push_str(&character.escape_unicode().to_string());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use haft_core::{ApprovalDecision, ToolCall};
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "its schema is used")]
    struct Payment {
        #[schemars(range(max = 500))]
        cents: u32,
        to: String,
        note: Option<String>,
    }

    fn capabilities(json: Value) -> Option<ClientCapabilities> {
        serde_json::from_value(json).unwrap()
    }

    fn forms() -> Option<ClientCapabilities> {
        capabilities(json!({"elicitation": {}}))
    }

    fn payment() -> (Tool, ApprovalRequest) {
        let tool = Tool::new("pay").handler(|_: Payment, _| async {}).unwrap();
        (tool, ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", r#"{"cents":500,"to":"ana"}"#)))
    }

    fn decision(answer: ApprovalAnswer) -> ApprovalDecision {
        let ApprovalAnswer::Verdict(verdict) = answer else { panic!("{answer:?}") };
        verdict.decision
    }

    #[test]
    fn flat_arguments_are_fields_that_the_user_may_change() {
        let (tool, request) = payment();
        let form = Form::of(&request, Some(&tool), forms().as_ref(), None).unwrap();
        let params = serde_json::to_value(&form.params).unwrap();
        let properties = &params["requestedSchema"]["properties"];
        assert_eq!((&properties["cents"]["default"], &properties["cents"]["maximum"]), (&json!(500), &json!(500)));
        assert!(params["message"].as_str().unwrap().contains("`pay`") && properties["note"].is_null());
        let read = |answer: Value| form.read(&request, &answer);
        let accept = |content: Value| decision(read(json!({"action": "accept", "content": content})));
        assert_eq!(accept(json!({"cents": 500, "to": "ana"})), ApprovalDecision::Approved);
        assert_eq!(accept(json!({})), ApprovalDecision::Approved);
        assert_eq!(
            accept(json!({"cents": 3, "x": 1})),
            ApprovalDecision::Edited(json!({"cents": 3, "to": "ana"}).into())
        );
        assert_eq!(decision(read(json!({"action": "decline"}))), ApprovalDecision::Denied);
        for none in [json!({"action": "cancel"}), json!({"action": "dance"}), json!(7), json!({})] {
            assert!(matches!(read(none), ApprovalAnswer::NoAnswer { .. }));
        }
    }

    #[test]
    fn other_arguments_are_shown_whole_and_can_be_approved() {
        let (tool, _) = payment();
        let texts =
            [r#"{"to": "a\u202eb", "list": [1]}"#, r#"{"n": 123456789012345678901234567890}"#, "nonsense \u{202e}"];
        for arguments in texts {
            let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", arguments));
            let form = Form::of(&request, Some(&tool), forms().as_ref(), Some("it is too much")).unwrap();
            let message = serde_json::to_value(&form.params).unwrap()["message"].as_str().unwrap().to_owned();
            assert!(!message.contains('\u{202e}') && message.contains("it is too much"), "{message}");
            assert!(!arguments.contains("1234") || message.contains("123456789012345678901234567890"));
            let answer = form.read(&request, &json!({"action": "accept", "content": {"to": "ben"}}));
            assert_eq!(decision(answer), ApprovalDecision::Approved);
        }
    }

    #[test]
    fn a_question_fits_into_a_form_or_says_why_not() {
        let asks = |question: Question| ApprovalRequest::new("q1", &ToolCall::new("c1", "t", "")).asking(question);
        let number = asks(Question::input::<u8>("How many?"));
        let form = Form::of(&number, None, forms().as_ref(), None).unwrap();
        let answer = form.read(&number, &json!({"action": "accept", "content": {"answer": 3}}));
        assert_eq!(decision(answer), ApprovalDecision::Answered(json!(3).into()));
        let object = asks(Question::input::<Payment>("Which?"));
        let form = Form::of(&object, None, forms().as_ref(), None).unwrap();
        let answer = form.read(&object, &json!({"action": "accept", "content": {"cents": 1, "to": "x"}}));
        assert_eq!(decision(answer), ApprovalDecision::Answered(json!({"cents": 1, "to": "x"}).into()));
        let nested = asks(Question::input::<Vec<Payment>>("Which?"));
        let page = asks(Question::visit("Sign in", "https://a.example"));
        for (request, capabilities) in [
            (&nested, forms()),
            (&page, forms()),
            (&number, None),
            (&number, capabilities(json!({"elicitation": {"url": {}}}))),
        ] {
            assert!(Form::of(request, None, capabilities.as_ref(), None).is_err());
        }
        let form = Form::of(&page, None, capabilities(json!({"elicitation": {"url": {}}})).as_ref(), None).unwrap();
        assert_eq!(decision(form.read(&page, &json!({"action": "accept"}))), ApprovalDecision::Approved);
    }
}
