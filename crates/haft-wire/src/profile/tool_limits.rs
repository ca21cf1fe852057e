//! A provider's limits on one request's tools.

use serde_json::Value;

/// A provider's limits on one request's tools. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolLimits {
    /// The number of tools.
    pub tools: Option<usize>,
    /// The most characters that the provider is known to accept in a description.
    pub description_chars: Option<usize>,
    /// The number of strict tools.
    pub strict_tools: Option<usize>,
    /// The number of optional parameters across all strict tools.
    pub optional_parameters: Option<usize>,
    /// The number of parameters with a union type across all strict tools.
    pub union_parameters: Option<usize>,
}

/// A rendered schema's parameters that count towards the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) optional: usize,
    pub(super) unions: usize,
}

/// The sums over all strict tools of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StrictTotal {
    tools: usize,
    cost: Cost,
}

impl StrictTotal {
    pub(super) fn add(&mut self, cost: Cost) {
        self.tools += 1;
        self.cost.optional += cost.optional;
        self.cost.unions += cost.unions;
    }

    /// Takes a tool that was added out again.
    pub(super) fn subtract(&mut self, cost: Cost) {
        self.tools -= 1;
        self.cost.optional -= cost.optional;
        self.cost.unions -= cost.unions;
    }
}

impl ToolLimits {
    /// Creates a value that limits nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            tools: None,
            description_chars: None,
            strict_tools: None,
            optional_parameters: None,
            union_parameters: None,
        }
    }

    /// Limits the number of tools.
    #[must_use]
    pub const fn tools(mut self, tools: usize) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Limits a description's characters. Longer ones are sent with a warning.
    #[must_use]
    pub const fn description_chars(mut self, chars: usize) -> Self {
        self.description_chars = Some(chars);
        self
    }

    /// Limits the strict tools, and their optional and union parameters in total.
    #[must_use]
    pub const fn strict(mut self, tools: usize, optional_parameters: usize, union_parameters: usize) -> Self {
        self.strict_tools = Some(tools);
        self.optional_parameters = Some(optional_parameters);
        self.union_parameters = Some(union_parameters);
        self
    }

    /// Returns the limit that strict tools with these sums exceed, for a report.
    pub(super) fn exceeded_by(&self, StrictTotal { tools, cost }: StrictTotal) -> Option<String> {
        [
            (tools, self.strict_tools, "strict tools"),
            (cost.optional, self.optional_parameters, "optional parameters in strict tools"),
            (cost.unions, self.union_parameters, "parameters with a union type in strict tools"),
        ]
        .into_iter()
        .find_map(|(count, limit, name)| {
            limit.filter(|limit| count > *limit).map(|limit| format!("a request may have {limit} {name}"))
        })
    }
}

impl Cost {
    /// Counts a rendered schema's parameters at every depth.
    pub(super) fn of(schema: &Value) -> Self {
        let mut cost = Self::default();
        cost.count(schema);
        cost
    }

    fn count(&mut self, schema: &Value) {
        let Some(schema) = schema.as_object() else { return };
        if schema.contains_key("anyOf") || schema.get("type").is_some_and(Value::is_array) {
            self.unions += 1;
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let required = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            self.optional += properties.len().saturating_sub(required);
            properties.values().for_each(|property| self.count(property));
        }
        for keyword in ["$defs", "definitions"] {
            let definitions = schema.get(keyword).and_then(Value::as_object);
            definitions.into_iter().flat_map(|map| map.values()).for_each(|definition| self.count(definition));
        }
        for keyword in ["anyOf", "allOf", "prefixItems"] {
            let branches = schema.get(keyword).and_then(Value::as_array);
            branches.into_iter().flatten().for_each(|branch| self.count(branch));
        }
        schema.get("items").into_iter().for_each(|items| self.count(items));
    }
}
