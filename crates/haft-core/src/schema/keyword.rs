//! The keywords that become rules of a node, and the ones that don't.

use serde_json::{Map, Value};

use super::compile::Widths;
use super::draft::Dialect;
use super::node::{ANY, ArrayRule, NEVER, NodeId, ObjectRule, Open, Property, Typed, UnionMode};
use super::number::{Num, NumberRule, Width};
use super::pattern::Pattern;
use super::string::StringRule;
use super::types::Types;

/// Assertions that nodes can't make.
const BEYOND: &[&str] = &[
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "$dynamicRef",
    "$recursiveRef",
];

/// Assertions that nodes make of themselves; `$ref`, `allOf`, `anyOf` and `oneOf` lead to other nodes.
const IN_PLACE: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
];

/// A keyword of this subschema that only the full validator can enforce.
pub(super) fn beyond_nodes(map: &Map<String, Value>, dialect: Dialect) -> Option<&'static str> {
    if dialect == Dialect::Draft7 && map.contains_key("prefixItems") {
        return Some("prefixItems");
    }
    BEYOND.iter().copied().find(|word| map.contains_key(*word))
}

/// Whether this subschema says anything of its own.
pub(super) fn asserts_in_place(map: &Map<String, Value>) -> bool {
    IN_PLACE.iter().any(|word| map.contains_key(*word))
}

/// The JSON Pointer of a reference into the same schema, percent-decoded.
pub(super) fn local_pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    if !(fragment.is_empty() || fragment.starts_with('/')) {
        return None;
    }
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The set that `type` names.
pub(super) fn types(keyword: &Value) -> Option<Types> {
    match keyword {
        Value::String(name) => Types::named(name),
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().and_then(Types::named))
            .try_fold(Types::default(), |set, types| Some(set.with(types?))),
        _ => None,
    }
}

/// Alternatives that are all sets of strings, as one set: how schemars writes documented unit variants.
pub(super) fn string_literals(branches: &[Value], mode: UnionMode) -> Option<Typed> {
    let mut all: Vec<Box<str>> = Vec::new();
    for branch in branches {
        let map = branch.as_object()?;
        if map.keys().any(|key| key != "enum" && key != "const" && key != "type" && IN_PLACE.contains(&key.as_str()))
            || ["$ref", "allOf", "anyOf", "oneOf"].iter().chain(BEYOND).any(|word| map.contains_key(*word))
            || map.get("type").is_some_and(|keyword| types(keyword) != Some(Types::STRING))
            || map.contains_key("enum") == map.contains_key("const")
        {
            return None;
        }
        let literals = match (map.get("enum"), map.get("const")) {
            (Some(Value::Array(literals)), _) => literals.as_slice(),
            (_, Some(literal)) => std::slice::from_ref(literal),
            _ => return None,
        };
        for literal in literals {
            let literal = literal.as_str()?;
            let repeated = all.iter().any(|known| &**known == literal);
            if repeated && mode == UnionMode::ExactlyOne {
                return None;
            }
            all.push(literal.into());
        }
    }
    let string = StringRule { literals: Some(all.into()), ..StringRule::default() };
    Some(Typed { types: Types::STRING, string, ..Typed::default() })
}

/// One subschema, being read.
pub(super) struct Reading<'p, 'a> {
    pub(super) pointer: &'p str,
    pub(super) map: &'a Map<String, Value>,
    pub(super) widths: Widths,
}

/// How the node of a subschema further down is made.
type Compile<'c, 'a> = dyn FnMut(&str, &'a Value) -> NodeId + 'c;

impl<'a> Reading<'_, 'a> {
    /// The rules this subschema makes of itself, or the keyword that nodes can't express.
    pub(super) fn typed(&self, compile: &mut Compile<'_, 'a>) -> Result<Typed, &'static str> {
        let mut typed = Typed { types: Types::ALL, ..Typed::default() };
        if let Some(keyword) = self.map.get("type") {
            typed.types = types(keyword).ok_or("type")?;
        }
        typed.number = self.number(typed.types)?;
        typed.string = self.string()?;
        typed.array = self.array(compile)?;
        typed.object = self.object(compile)?;
        self.literals(&mut typed)?;
        Ok(typed)
    }

    /// What can be told of the values that fit, beside what the full validator enforces: their types, and where the
    /// nodes of their elements and members are.
    pub(super) fn shape(&self, compile: &mut Compile<'_, 'a>) -> Typed {
        let types = self.map.get("type").and_then(types).unwrap_or(Types::ALL);
        let array = self.array(compile).unwrap_or_default();
        let mut object = self.object(compile).unwrap_or_default();
        let patterns = self.map.get("patternProperties").and_then(Value::as_object);
        // How schemars writes a map with numeric keys.
        if let Some(patterns) = patterns.filter(|patterns| patterns.len() == 1 && object.additional == NEVER) {
            for (pattern, schema) in patterns {
                let escaped = pattern.replace('~', "~0").replace('/', "~1");
                object.additional = compile(&format!("{}/patternProperties/{escaped}", self.pointer), schema);
            }
        }
        Typed { types, array, object, ..Typed::default() }
    }

    fn number(&self, types: Types) -> Result<NumberRule, &'static str> {
        let bound = |word: &'static str| match self.map.get(word) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(Num::of(number))),
            Some(_) => Err(word),
        };
        let multiple_of = match bound("multipleOf")? {
            None => None,
            Some(Num::Int(divisor)) if divisor > 0 => Some(divisor),
            Some(Num::Float(divisor)) => {
                let exact = Num::exact_integer(divisor).filter(|divisor| *divisor > 0);
                Some(exact.map(i128::from).ok_or("multipleOf")?)
            }
            Some(_) => return Err("multipleOf"),
        };
        let format = self.map.get("format").and_then(Value::as_str);
        let numeric = !types.contains(Types::ALL) && types.contains(Types::INTEGER);
        let width = format.filter(|_| self.widths == Widths::Checked && numeric).and_then(Width::named);
        Ok(NumberRule {
            minimum: bound("minimum")?,
            maximum: bound("maximum")?,
            exclusive_minimum: bound("exclusiveMinimum")?,
            exclusive_maximum: bound("exclusiveMaximum")?,
            multiple_of,
            width,
        })
    }

    fn string(&self) -> Result<StringRule, &'static str> {
        let pattern = match self.map.get("pattern") {
            None => None,
            Some(keyword) => Some(keyword.as_str().and_then(Pattern::compile).ok_or("pattern")?),
        };
        let (min, max) = (self.count("minLength")?.unwrap_or(0), self.count("maxLength")?.unwrap_or(usize::MAX));
        let format = self.map.get("format").and_then(Value::as_str).map(Into::into);
        Ok(StringRule { min, max, pattern, literals: None, format })
    }

    fn array(&self, compile: &mut Compile<'_, 'a>) -> Result<ArrayRule, &'static str> {
        let prefix = match self.map.get("prefixItems") {
            None => Vec::new(),
            Some(Value::Array(schemas)) => {
                let at = |index| format!("{}/prefixItems/{index}", self.pointer);
                schemas.iter().enumerate().map(|(index, schema)| compile(&at(index), schema)).collect()
            }
            Some(_) => return Err("prefixItems"),
        };
        let items = match self.map.get("items") {
            None => ANY,
            Some(Value::Array(_)) => return Err("items"),
            Some(schema) => compile(&format!("{}/items", self.pointer), schema),
        };
        Ok(ArrayRule {
            prefix: prefix.into(),
            items,
            min: self.count("minItems")?.unwrap_or(0),
            max: self.count("maxItems")?.unwrap_or(usize::MAX),
            unique: self.map.get("uniqueItems").is_some_and(|unique| unique == &Value::Bool(true)),
        })
    }

    fn object(&self, compile: &mut Compile<'_, 'a>) -> Result<ObjectRule, &'static str> {
        let additional = self
            .map
            .get("additionalProperties")
            .map(|schema| compile(&format!("{}/additionalProperties", self.pointer), schema));
        let mut required = Vec::new();
        if let Some(keyword) = self.map.get("required") {
            for name in keyword.as_array().ok_or("required")? {
                required.push(name.as_str().ok_or("required")?);
            }
        }
        let mut properties = Vec::new();
        if let Some(keyword) = self.map.get("properties") {
            for (name, schema) in keyword.as_object().ok_or("properties")? {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                let node = compile(&format!("{}/properties/{escaped}", self.pointer), schema);
                let required = required.contains(&name.as_str());
                properties.push(Property::new(name, node, required));
            }
        }
        for name in required {
            if !properties.iter().any(|property| &*property.name == name) {
                properties.push(Property::new(name, additional.unwrap_or(ANY), true));
            }
        }
        let (min, max) =
            (self.count("minProperties")?.unwrap_or(0), self.count("maxProperties")?.unwrap_or(usize::MAX));
        Ok(ObjectRule::new(properties, additional.unwrap_or(ANY), self.openness(), min, max))
    }

    fn openness(&self) -> Open {
        let others = ["additionalProperties", "patternProperties", "unevaluatedProperties"];
        if others.iter().any(|word| self.map.contains_key(*word)) {
            return Open::Declared;
        }
        match self.map.get("properties") {
            Some(Value::Object(properties)) if !properties.is_empty() => Open::Implied,
            _ => Open::Silent,
        }
    }

    fn literals(&self, typed: &mut Typed) -> Result<(), &'static str> {
        let literals = match (self.map.get("enum"), self.map.get("const")) {
            (None, None) => return Ok(()),
            (Some(Value::Array(literals)), None) => literals.as_slice(),
            (None, Some(literal)) => std::slice::from_ref(literal),
            _ => return Err("enum"),
        };
        if literals.iter().all(Value::is_string) {
            let strings = literals.iter().filter_map(Value::as_str).map(Box::from).collect();
            typed.string.literals = Some(strings);
            typed.types = if typed.types.contains(Types::STRING) { Types::STRING } else { Types::default() };
        } else {
            typed.literals = Some(literals.into());
        }
        Ok(())
    }

    /// A count, which may be written `2.0`.
    fn count(&self, word: &'static str) -> Result<Option<usize>, &'static str> {
        let Some(keyword) = self.map.get(word) else {
            return Ok(None);
        };
        let Value::Number(number) = keyword else {
            return Err(word);
        };
        let count = match Num::of(number) {
            Num::Int(int) => usize::try_from(int).ok(),
            Num::Float(float) => Num::exact_integer(float).and_then(|int| usize::try_from(int).ok()),
            Num::Huge(_) => Some(usize::MAX),
        };
        count.map(Some).ok_or(word)
    }
}
