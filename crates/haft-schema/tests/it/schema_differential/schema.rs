//! Schemas of any draft, with every keyword, generated from a tape.

use serde_json::{Map, Value, json};

use super::plan::{Definition, Draft, Home, Plan, ROOT};
use super::tape::Tape;
use super::value;

/// The patterns that are generated. All regular expression engines agree on them.
pub(super) const PATTERNS: [&str; 9] = ["^a", "b$", "^[a-c]+$", "[0-9]", "^.{2}$", "^$", "x|y", "^(ab)+$", "^[^b]*$"];

/// The keys that are generated, of objects and of `properties`.
pub(super) const KEYS: [&str; 8] = ["a", "b", "c", "ab", "x1", "foo/bar", "constructor", "$ref"];

/// Generates a schema.
pub(super) fn draw(plan: &Plan, tape: &mut Tape) -> Value {
    let mut drawing = Drawing { plan, tape, draft: plan.draft, home: Home::Root, evaluates: false };
    let mut root = Map::new();
    root.insert("$schema".to_owned(), plan.draft.address().into());
    if plan.has_address {
        root.insert(plan.draft.id_keyword().to_owned(), ROOT.into());
    }
    drawing.name_dynamically(&mut root);
    if plan.draft >= Draft::Draft201909 && drawing.tape.once_in(3) {
        drawing.rest(&mut root);
    }
    // The keywords beside it would seldom let a value get that far.
    if !root.contains_key("unevaluatedItems") && !root.contains_key("unevaluatedProperties") {
        drawing.keywords(&mut root, 3);
    }
    if plan.has_address && plan.draft < Draft::Draft201909 {
        root.remove("$ref");
    }
    let definitions: Map<String, Value> = plan
        .definitions
        .iter()
        .enumerate()
        .map(|(at, kind)| (format!("d{at}"), drawing.definition(at, *kind)))
        .collect();
    if !definitions.is_empty() {
        root.insert(plan.draft.definitions_keyword().to_owned(), definitions.into());
    }
    Value::Object(root)
}

struct Drawing<'a> {
    plan: &'a Plan,
    tape: &'a mut Tape,
    /// The draft of the resource that is generated.
    draft: Draft,
    home: Home,
    /// Set if subschemas are generated that evaluate some parts of a value and seldom reject it.
    evaluates: bool,
}

impl Drawing<'_> {
    fn definition(&mut self, at: usize, kind: Definition) -> Value {
        let mut map = Map::new();
        if let Definition::Foreign(draft) = kind {
            map.insert("$schema".to_owned(), draft.address().into());
            self.draft = draft;
        }
        let draft = self.draft;
        match kind {
            Definition::Plain if at == 0 && self.plan.has_leaf(Home::Root) => {
                map.insert("$dynamicAnchor".to_owned(), "leaf".into());
            }
            Definition::Plain => {}
            Definition::Anchored if draft < Draft::Draft201909 => {
                map.insert(draft.id_keyword().to_owned(), format!("#anchor{at}").into());
            }
            Definition::Anchored => {
                map.insert("$anchor".to_owned(), format!("anchor{at}").into());
            }
            Definition::Resource | Definition::Foreign(_) => {
                self.home = Home::Resource(at);
                map.insert(draft.id_keyword().to_owned(), format!("resource{at}").into());
                self.name_dynamically(&mut map);
                let mut inner = Map::new();
                if self.has_leaf() {
                    inner.insert("$dynamicAnchor".to_owned(), "leaf".into());
                }
                self.keywords(&mut inner, 2);
                map.insert("definitions".to_owned(), json!({ "inner": inner }));
            }
        }
        self.keywords(&mut map, 2);
        (self.home, self.draft) = (Home::Root, self.plan.draft);
        // Before draft 2019-09 a `$ref` overrides all keywords beside it, names included.
        if kind != Definition::Plain && draft < Draft::Draft201909 {
            map.remove("$ref");
        }
        Value::Object(map)
    }

    fn has_leaf(&self) -> bool {
        self.plan.has_leaf(self.home) && self.draft == Draft::Draft202012
    }

    /// Gives a resource the anchor that dynamic references look for.
    fn name_dynamically(&mut self, map: &mut Map<String, Value>) {
        if !self.plan.is_dynamic {
            return;
        }
        let is_static = self.tape.once_in(3);
        let (keyword, value) = match self.draft {
            Draft::Draft202012 if is_static => ("$anchor", json!("node")),
            Draft::Draft202012 => ("$dynamicAnchor", json!("node")),
            Draft::Draft201909 => ("$recursiveAnchor", json!(!is_static)),
            _ => return,
        };
        map.insert(keyword.to_owned(), value);
    }

    /// Generates a subschema with at most this many levels below it.
    fn schema(&mut self, levels: usize) -> Value {
        if self.evaluates && self.tape.once_in(2) {
            return self.evaluating();
        }
        if self.draft > Draft::Draft4 && self.tape.once_in(8) {
            return Value::Bool(!self.tape.once_in(2));
        }
        let mut map = Map::new();
        self.keywords(&mut map, levels);
        Value::Object(map)
    }

    fn keywords(&mut self, map: &mut Map<String, Value>, levels: usize) {
        if self.tape.is_at_end() {
            return;
        }
        let count = self.tape.pick(4) + usize::from(levels > 1);
        for _ in 0..count {
            match self.tape.pick(if levels > 0 { 9 } else { 5 }) {
                0 => self.types(map),
                1 => self.number(map),
                2 => self.string(map),
                3 => self.literal(map),
                4 => self.size(map),
                5 => self.array(map, levels - 1),
                6 => self.object(map, levels - 1),
                7 => self.combination(map, levels - 1),
                _ => self.reference(map, levels - 1),
            }
        }
        // The oracle checks a resource of another draft against the meta-schema of the root's.
        if self.draft == self.plan.draft && self.tape.once_in(40) {
            self.break_one(map);
        }
    }

    /// Adds a keyword for unevaluated parts, and others that leave some.
    fn rest(&mut self, map: &mut Map<String, Value>) {
        let is_array = self.tape.once_in(2);
        let word = if is_array { "unevaluatedItems" } else { "unevaluatedProperties" };
        self.evaluates = self.tape.once_in(2);
        for _ in 0..=self.tape.pick(3) {
            match self.tape.pick(3) {
                0 if is_array => self.array(map, 2),
                0 => self.object(map, 2),
                1 => self.combination(map, 2),
                _ => self.reference(map, 2),
            }
        }
        self.evaluates = false;
        let rest = if self.tape.once_in(3) { self.schema(1) } else { json!(false) };
        self.put(map, word, rest);
    }

    /// Generates a schema that evaluates some parts of a value.
    fn evaluating(&mut self) -> Value {
        let key = *self.tape.one_of(&KEYS[..3]);
        let prefix = if self.draft == Draft::Draft202012 { "prefixItems" } else { "items" };
        match self.tape.pick(5) {
            0 => json!({"properties": {key: {}}}),
            1 => json!({"properties": {key: {}}, "required": [key]}),
            2 => json!({prefix: [{}]}),
            3 => json!({prefix: [{"type": "integer"}], "patternProperties": {"^a": {}}}),
            _ => json!({"items": {"type": "string"}, "additionalProperties": {"type": "integer"}}),
        }
    }

    fn types(&mut self, map: &mut Map<String, Value>) {
        const NAMES: [&str; 7] = ["object", "array", "string", "integer", "number", "null", "boolean"];
        let first = *self.tape.one_of(&NAMES);
        let second = *self.tape.one_of(&NAMES);
        let types = if first != second && self.tape.once_in(3) { json!([first, second]) } else { json!(first) };
        map.insert("type".to_owned(), types);
    }

    fn number(&mut self, map: &mut Map<String, Value>) {
        let bounds = [json!(0), json!(1), json!(2), json!(-1), json!(2.5), json!(10), json!(1e2), json!(2.0)];
        let bound = self.tape.one_of(&bounds).clone();
        let divisors = [json!(1), json!(2), json!(0.5), json!(3), json!(2.5), json!(0.01), json!(1e1)];
        match self.tape.pick(5) {
            0 => self.put(map, "minimum", bound),
            1 => self.put(map, "maximum", bound),
            2 => {
                let divisor = self.tape.one_of(&divisors).clone();
                self.put(map, "multipleOf", divisor);
            }
            side => {
                let (inclusive, exclusive) =
                    if side == 3 { ("minimum", "exclusiveMinimum") } else { ("maximum", "exclusiveMaximum") };
                if self.draft > Draft::Draft4 {
                    self.put(map, exclusive, bound);
                } else {
                    self.put(map, inclusive, bound);
                    let is_exclusive = json!(!self.tape.once_in(4));
                    self.put(map, exclusive, is_exclusive);
                }
            }
        }
    }

    fn string(&mut self, map: &mut Map<String, Value>) {
        let count = self.count();
        match self.tape.pick(4) {
            0 => self.put(map, "minLength", count),
            1 => self.put(map, "maxLength", count),
            2 => {
                let pattern = *self.tape.one_of(&PATTERNS);
                self.put(map, "pattern", pattern.into());
            }
            _ => self.put(map, "format", json!("date")),
        }
    }

    fn literal(&mut self, map: &mut Map<String, Value>) {
        if self.tape.once_in(2) {
            // Draft 4 does not know it, and ignores it.
            let value = value::any(self.tape, 1);
            self.put(map, "const", value);
            return;
        }
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..=self.tape.pick(3) {
            let value = value::any(self.tape, 1);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        self.put(map, "enum", values.into());
    }

    fn size(&mut self, map: &mut Map<String, Value>) {
        const WORDS: [&str; 4] = ["minItems", "maxItems", "minProperties", "maxProperties"];
        let (word, count) = (*self.tape.one_of(&WORDS), self.count());
        self.put(map, word, count);
    }

    fn array(&mut self, map: &mut Map<String, Value>, levels: usize) {
        let schema = self.schema(levels);
        match self.tape.pick(7) {
            0 => self.put(map, "items", schema),
            1 => {
                let more = self.schema(levels);
                let word = if self.draft == Draft::Draft202012 { "prefixItems" } else { "items" };
                self.put(map, word, json!([schema, more]));
            }
            2 => self.put(map, "additionalItems", schema),
            3 => {
                self.put(map, "contains", schema);
                let (min, max) = (self.count(), self.count());
                if self.tape.once_in(2) {
                    self.put(map, "minContains", min);
                }
                if self.tape.once_in(2) {
                    self.put(map, "maxContains", max);
                }
            }
            4 => self.put(map, "uniqueItems", json!(true)),
            5 => self.put(map, "unevaluatedItems", schema),
            _ => self.put(map, "prefixItems", json!([schema])),
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, levels: usize) {
        match self.tape.pick(9) {
            0 | 1 => {
                let properties = self.by_key(levels);
                self.put(map, "properties", properties);
            }
            2 => {
                let names = self.names();
                self.put(map, "required", names);
            }
            3 => {
                let schema = self.schema(levels);
                self.put(map, "additionalProperties", schema);
            }
            4 => {
                let mut patterns = Map::new();
                for _ in 0..=self.tape.pick(2) {
                    let pattern = *self.tape.one_of(&PATTERNS);
                    patterns.insert(pattern.to_owned(), self.schema(levels));
                }
                self.put(map, "patternProperties", patterns.into());
            }
            5 => {
                let schema = self.schema(levels);
                self.put(map, "propertyNames", schema);
            }
            6 => {
                let schema = self.schema(levels);
                self.put(map, "unevaluatedProperties", schema);
            }
            7 => {
                let (key, names) = (*self.tape.one_of(&KEYS), self.names());
                let word = if self.tape.once_in(4) { "dependencies" } else { "dependentRequired" };
                self.put(map, word, json!({ key: names }));
            }
            _ => {
                let schemas = self.by_key(levels);
                let word = if self.tape.once_in(2) { "dependencies" } else { "dependentSchemas" };
                self.put(map, word, schemas);
            }
        }
    }

    fn combination(&mut self, map: &mut Map<String, Value>, levels: usize) {
        match self.tape.pick(5) {
            0 => {
                let schema = self.schema(levels);
                self.put(map, "not", schema);
            }
            1 => {
                for word in ["if", "then", "else"] {
                    if !self.tape.once_in(4) {
                        let schema = self.schema(levels);
                        self.put(map, word, schema);
                    }
                }
            }
            which => {
                let schemas: Vec<Value> = (0..=self.tape.pick(3)).map(|_| self.schema(levels)).collect();
                self.put(map, ["allOf", "anyOf", "oneOf"][which - 2], schemas.into());
            }
        }
    }

    fn reference(&mut self, map: &mut Map<String, Value>, levels: usize) {
        let mut schema = match (self.plan.is_dynamic && self.tape.once_in(2), self.draft) {
            (true, Draft::Draft202012) if self.has_leaf() && self.tape.once_in(2) => json!({"$dynamicRef": "#leaf"}),
            (true, Draft::Draft202012) => json!({"$dynamicRef": "#node"}),
            (true, Draft::Draft201909) => json!({"$recursiveRef": "#"}),
            _ => json!({"$ref": self.plan.reference(self.home, self.tape)}),
        };
        // Mostly below the value, where recursion ends.
        match self.tape.pick(5) {
            0 => map.extend(std::mem::take(schema.as_object_mut().unwrap())),
            1 => {
                let other = self.schema(levels);
                self.put(map, "anyOf", json!([other, schema]));
            }
            2 => self.put(map, "additionalProperties", schema),
            3 => {
                let key = *self.tape.one_of(&KEYS);
                self.put(map, "properties", json!({ key: schema }));
            }
            _ => self.put(map, "items", schema),
        }
    }

    /// Gives a keyword a value of the wrong type, occasionally.
    fn break_one(&mut self, map: &mut Map<String, Value>) {
        const WORDS: [&str; 24] = [
            "type",
            "minimum",
            "multipleOf",
            "minLength",
            "pattern",
            "enum",
            "items",
            "minItems",
            "uniqueItems",
            "contains",
            "properties",
            "required",
            "dependencies",
            "allOf",
            "not",
            "if",
            "$ref",
            "title",
            "examples",
            "exclusiveMinimum",
            "dependentRequired",
            "prefixItems",
            "additionalProperties",
            "maxContains",
        ];
        let wrong = [
            json!([]),
            json!(1),
            json!("no"),
            json!(null),
            json!(-1),
            json!({"a": 1}),
            json!(["a", "a"]),
            json!([1]),
            json!({"a": ["b", "b"]}),
            json!(1.5),
            json!({}),
            json!(true),
            json!(0),
            json!({"type": "dict"}),
            json!([{}]),
        ];
        let word = *self.tape.one_of(&WORDS);
        let value = self.tape.one_of(&wrong).clone();
        self.put(map, word, value);
    }

    fn by_key(&mut self, levels: usize) -> Value {
        let mut schemas = Map::new();
        for _ in 0..=self.tape.pick(3) {
            let key = *self.tape.one_of(&KEYS);
            schemas.insert(key.to_owned(), self.schema(levels));
        }
        schemas.into()
    }

    fn names(&mut self) -> Value {
        let first = *self.tape.one_of(&KEYS);
        let second = *self.tape.one_of(&KEYS);
        if first != second && self.tape.once_in(2) { json!([first, second]) } else { json!([first]) }
    }

    /// Generates a count. To the oracle `2.0` is no integer in draft 4, see `FloatAsInteger`.
    fn count(&mut self) -> Value {
        let whole = if self.draft == Draft::Draft4 { json!(2) } else { json!(2.0) };
        self.tape.one_of(&[json!(1), json!(2), json!(0), json!(3), whole]).clone()
    }

    #[expect(clippy::unused_self, reason = "reads as the other steps of a drawing")]
    fn put(&self, map: &mut Map<String, Value>, word: &str, value: Value) {
        map.insert(word.to_owned(), value);
    }
}
