//! Questions of a server for a person.

use haft_core::Question;
use haft_executor::QuestionAnswer;
use serde_json::{Map, Value, json};

/// Reads the parameters of an `elicitation/create`: a form, or a page to visit. `None` if they have neither form.
#[must_use]
pub fn read(params: &Value) -> Option<Question> {
    let message = params.get("message")?.as_str()?;
    match params.get("mode").and_then(Value::as_str) {
        None | Some("form") => {
            let schema = params.get("requestedSchema").filter(|schema| schema.is_object())?;
            Some(Question::input_json(message, schema.clone()))
        }
        Some("url") => Some(Question::visit(message, params.get("url")?.as_str()?)),
        Some(_) => None,
    }
}

/// Writes the answer of a person. What a form leaves out gets the default that the server has stated.
#[must_use]
pub fn write(params: &Value, answer: &QuestionAnswer) -> Value {
    if answer.is_denied() {
        return json!({"action": "decline"});
    }
    match answer.value().map(haft_schema::JsonText::to_value) {
        Some(Value::Object(content)) => json!({"action": "accept", "content": with_defaults(params, content)}),
        Some(content) => json!({"action": "accept", "content": content}),
        None => json!({"action": "accept"}),
    }
}

/// Returns the answer of a client where nobody can be asked.
#[must_use]
pub fn cancelled() -> Value {
    json!({"action": "cancel"})
}

fn with_defaults(params: &Value, mut content: Map<String, Value>) -> Map<String, Value> {
    let properties = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if let Some(default) = schema.get("default")
            && !content.contains_key(name)
        {
            content.insert(name.clone(), default.clone());
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_and_a_page_are_questions() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let form = json!({"message": "How many?", "requestedSchema": schema});
        assert_eq!(read(&form), Some(Question::input_json("How many?", schema)));
        let page = json!({"mode": "url", "message": "Sign in", "url": "https://a.example", "elicitationId": "1"});
        assert_eq!(read(&page), Some(Question::visit("Sign in", "https://a.example")));
        for odd in [json!({}), json!({"message": "x"}), json!({"message": "x", "mode": "dance"}), json!(3)] {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }

    #[test]
    fn what_a_form_leaves_out_gets_its_default() {
        let params = json!({"requestedSchema": {"properties": {"a": {"default": 1}, "b": {"default": "x"}, "c": {}}}});
        let content = json!({"b": "y"}).as_object().unwrap().clone();
        assert_eq!(Value::from(with_defaults(&params, content)), json!({"b": "y", "a": 1}));
    }
}
