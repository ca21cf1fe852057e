//! A strict dialect: all members are required, objects are closed, keys are identifiers, and the root is an object.

use std::collections::HashMap;

use haft_core::{Dialect, Loss, LossKind, RenderFault, Rendered};
use haft_schema::{Reshape, ReshapeId, ReshapeMember, Schema};
use serde_json::{Map, Value, json};

pub(super) struct StrictDialect;

impl Dialect for StrictDialect {
    fn name(&self) -> &'static str {
        "strict"
    }

    fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
        let mut rendering = Rendering {
            root: schema.as_json(),
            reshape: Reshape::new(),
            losses: Vec::new(),
            defined: HashMap::new(),
            defs: Map::new(),
        };
        let (mut json, node) = rendering.schema(schema.as_json(), "")?;
        let Rendering { mut reshape, losses, defs, .. } = rendering;
        if json["type"] != "object" {
            reshape.send_wrapped(node, "value");
            json = json!({"type": "object", "properties": {"value": json}, "required": ["value"], "additionalProperties": false});
        }
        if !defs.is_empty() {
            json["$defs"] = defs.into();
        }
        let mut rendered = Rendered::exact(json).with_codec(reshape.finish(node));
        rendered.losses = losses;
        Ok(rendered)
    }
}

struct Rendering<'s> {
    root: &'s Value,
    reshape: Reshape,
    losses: Vec<Loss>,
    /// The nodes of definitions, by pointer.
    defined: HashMap<String, ReshapeId>,
    defs: Map<String, Value>,
}

impl Rendering<'_> {
    fn schema(&mut self, schema: &Value, at: &str) -> Result<(Value, ReshapeId), RenderFault> {
        let node = self.reshape.add();
        let json = self.schema_of(node, schema, at)?;
        Ok((json, node))
    }

    fn schema_of(&mut self, node: ReshapeId, schema: &Value, at: &str) -> Result<Value, RenderFault> {
        match schema["type"].as_str().unwrap_or_default() {
            "object" if schema["properties"].is_object() => self.object(node, schema, at),
            "object" => self.map(node, schema, at),
            "array" => {
                let (items, change) = self.schema(&schema["items"], &format!("{at}/items"))?;
                self.reshape.items(node, change);
                Ok(json!({"type": "array", "items": items}))
            }
            "string" if !schema["pattern"].is_null() => {
                let pointer = format!("{at}/pattern");
                self.losses.push(Loss::new(pointer, LossKind::Keyword, "patterns are not supported"));
                Ok(json!({"type": "string"}))
            }
            "" if accepts_null(schema) => Ok(schema.clone()),
            "" => Err(RenderFault::new(at, "the schema has no `type`", "state the type of the value")),
            _ => Ok(schema.clone()),
        }
    }

    fn object(&mut self, node: ReshapeId, schema: &Value, at: &str) -> Result<Value, RenderFault> {
        if schema["additionalProperties"] != false {
            self.losses.push(Loss::new(at, LossKind::OpenObject, "further keys can't be sent"));
        }
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut properties = Map::new();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let pointer = format!("{at}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
            let (mut json, change) = self.member(member, &pointer)?;
            let sent_name = identifier(name, properties.len());
            let mut sent = ReshapeMember::new(name).sent_as(&sent_name).reshaped(change);
            if !required.contains(&Value::from(name.as_str())) {
                sent = sent.absent_as_null();
                if accepts_null(member) {
                    let message = "an absent value and `null` are sent alike";
                    self.losses.push(Loss::new(&pointer, LossKind::Ambiguity, message));
                } else {
                    json = json!({"anyOf": [json, {"type": "null"}]});
                }
            }
            self.reshape.member(node, sent);
            properties.insert(sent_name, json);
        }
        let required: Vec<&String> = properties.keys().collect();
        Ok(json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false}))
    }

    fn map(&mut self, node: ReshapeId, schema: &Value, at: &str) -> Result<Value, RenderFault> {
        let (value, change) = self.schema(&schema["additionalProperties"], &format!("{at}/additionalProperties"))?;
        self.reshape.other_members(node, change);
        self.reshape.send_as_pairs(node);
        let pair = json!({
            "type": "object",
            "properties": {"key": {"type": "string"}, "value": value},
            "required": ["key", "value"],
            "additionalProperties": false,
        });
        Ok(json!({"type": "array", "items": pair}))
    }

    /// Renders a member, which may be a reference to a definition.
    fn member(&mut self, schema: &Value, at: &str) -> Result<(Value, ReshapeId), RenderFault> {
        let Some(reference) = schema["$ref"].as_str() else { return self.schema(schema, at) };
        let pointer = reference.trim_start_matches('#').to_owned();
        if let Some(known) = self.defined.get(&pointer) {
            return Ok((schema.clone(), *known));
        }
        let node = self.reshape.add();
        self.defined.insert(pointer.clone(), node);
        let definition = self.root.pointer(&pointer).cloned().unwrap_or_default();
        let json = self.schema_of(node, &definition, &pointer)?;
        self.defs.insert(pointer.trim_start_matches("/$defs/").to_owned(), json);
        Ok((schema.clone(), node))
    }
}

fn accepts_null(schema: &Value) -> bool {
    schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()))
}

/// Returns the name if it is an identifier, and a new one otherwise.
fn identifier(name: &str, index: usize) -> String {
    let is_one = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_one { name.to_owned() } else { format!("{index}_") }
}
