//! From a JSON Schema to its nodes.
//!
//! Only the keywords below become nodes. A subschema that uses any other assertion is handed to the full validator
//! as a whole, so a keyword is either enforced or the schema is refused; it is never passed over.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::draft::Dialect;
use super::full::FullCheck;
use super::keyword::{self, Reading};
use super::node::{ANY, Arena, Full, NEVER, Node, NodeId, Union, UnionMode};
use super::resolver::Resolver;
use super::types::{JsonType, Types};
use crate::issue::{Issue, Issues};

/// What is compiled, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) schema: &'a Value,
    pub(super) dialect: Dialect,
    pub(super) widths: Widths,
    pub(super) references: References,
}

/// Whether `format` bounds numbers to a machine type. It does in schemas made from Rust types, where it is the only
/// trace of the type; in raw schemas it is an annotation, as the specification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Widths {
    Checked,
    Ignored,
}

/// What kinds of reference a schema uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// None, or JSON Pointers into the schema itself.
    Pointers,
    /// Anchors, embedded identifiers or dynamic references.
    Named,
}

/// Compiles a schema.
pub(super) fn compile(source: Source<'_>, resolver: &Resolver) -> Result<Arena, Issues> {
    if !source.dialect.compiles() || source.references == References::Named {
        return Ok(Arena::full(full_root(source, resolver)?));
    }
    let mut compiler = Compiler {
        source,
        nodes: vec![Node::Any, Node::Never],
        ahead: vec![],
        full_nodes: 0,
        known: HashMap::new(),
        faults: vec![],
    };
    let root = compiler.node("", source.schema);
    compiler.follow_references();
    if compiler.full_nodes > MOST_FULL_NODES && source.widths == Widths::Ignored {
        return Ok(Arena::full(full_root(source, resolver)?));
    }
    if !compiler.faults.is_empty() {
        return Err(Issues::new(compiler.faults));
    }
    match Arena::new(compiler.nodes, root) {
        Some(arena) if source.widths == Widths::Checked => Ok(arena.made_from_type()),
        Some(arena) => Ok(arena),
        // It applies itself to itself; the full validator knows how to stop.
        None => Ok(Arena::full(full_root(source, resolver)?)),
    }
}

/// Each subschema that goes to the full validator is compiled with the whole schema around it. Beyond this many, the
/// schema goes there whole.
const MOST_FULL_NODES: usize = 16;

struct Compiler<'a> {
    source: Source<'a>,
    nodes: Vec<Node>,
    /// References whose targets have a node and are yet to be compiled: one after the other, not one inside the other,
    /// so that a long chain of them needs no stack.
    ahead: Vec<(NodeId, String, &'a Map<String, Value>)>,
    full_nodes: usize,
    /// Nodes by JSON Pointer, entered before they are filled, so that recursion ends.
    known: HashMap<String, NodeId>,
    faults: Vec<Issue>,
}

impl<'a> Compiler<'a> {
    /// The node of the subschema at `pointer`.
    fn node(&mut self, pointer: &str, schema: &'a Value) -> NodeId {
        let map = match schema {
            Value::Bool(true) => return ANY,
            Value::Bool(false) => return NEVER,
            Value::Object(map) => map,
            _ => {
                self.faults.push(Issue::new(pointer, "schema", "must be an object or a boolean"));
                return NEVER;
            }
        };
        if let Some(known) = self.known.get(pointer) {
            return *known;
        }
        let id = self.push(Node::Any);
        self.known.insert(pointer.to_owned(), id);
        let node = self.compile(pointer, map);
        self.nodes[id as usize] = node;
        id
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::try_from(self.nodes.len() - 1).unwrap_or(NEVER)
    }

    fn compile(&mut self, pointer: &str, map: &'a Map<String, Value>) -> Node {
        if let Some(reference) = map.get("$ref")
            && !self.source.dialect.keeps_ref_siblings()
        {
            return Node::Same(self.reference(pointer, reference));
        }
        if let Some(beyond) = keyword::beyond_nodes(map, self.source.dialect) {
            return self.full(pointer, map, beyond);
        }
        let mut parts = self.applied(pointer, map);
        if keyword::asserts_in_place(map) {
            let reading = Reading { pointer, map, widths: self.source.widths };
            let typed = reading.typed(&mut |pointer, schema| self.node(pointer, schema));
            match typed {
                Ok(typed) if parts.is_empty() => return Node::Typed(Box::new(typed)),
                Ok(typed) => parts.push(self.push(Node::Typed(Box::new(typed)))),
                Err(beyond) => return self.full(pointer, map, beyond),
            }
        }
        joined(parts)
    }

    /// The nodes that a subschema applies to the same value.
    fn applied(&mut self, pointer: &str, map: &'a Map<String, Value>) -> Vec<NodeId> {
        let mut parts = Vec::new();
        if let Some(reference) = map.get("$ref") {
            parts.push(self.reference(pointer, reference));
        }
        for (word, mode) in [("anyOf", UnionMode::AtLeastOne), ("oneOf", UnionMode::ExactlyOne)] {
            if let Some(Value::Array(branches)) = map.get(word) {
                let node = self.union(&format!("{pointer}/{word}"), branches, mode);
                parts.push(self.push(node));
            }
        }
        if let Some(Value::Array(all)) = map.get("allOf") {
            for (index, part) in all.iter().enumerate() {
                parts.push(self.node(&format!("{pointer}/allOf/{index}"), part));
            }
        }
        parts
    }

    fn reference(&mut self, pointer: &str, reference: &'a Value) -> NodeId {
        let target = reference.as_str().and_then(keyword::local_pointer);
        let schema = target.as_deref().and_then(|target| self.source.schema.pointer(target));
        match (target, schema) {
            (Some(target), Some(Value::Object(map))) => match self.known.get(&target) {
                Some(known) => *known,
                None => {
                    let id = self.push(Node::Any);
                    self.known.insert(target.clone(), id);
                    self.ahead.push((id, target, map));
                    id
                }
            },
            (Some(target), Some(schema)) => self.node(&target, schema),
            _ => {
                self.faults.push(
                    Issue::new(format!("{pointer}/$ref"), "$ref", "must point at a part of this schema that exists")
                        .found(reference.to_string()),
                );
                NEVER
            }
        }
    }

    fn follow_references(&mut self) {
        while let Some((id, pointer, map)) = self.ahead.pop() {
            let node = self.compile(&pointer, map);
            self.nodes[id as usize] = node;
        }
    }

    fn union(&mut self, pointer: &str, branches: &'a [Value], mode: UnionMode) -> Node {
        if let Some(literals) = keyword::string_literals(branches, mode) {
            return Node::Typed(Box::new(literals));
        }
        let types: Vec<Types> = branches.iter().map(|branch| self.types_of(branch, 0)).collect();
        let ids: Vec<NodeId> = branches
            .iter()
            .enumerate()
            .map(|(index, branch)| self.node(&format!("{pointer}/{index}"), branch))
            .collect();
        match by_type(&types, &ids) {
            Some(table) => Node::ByType(Box::new(table)),
            None => Node::Union(Box::new(Union { branches: ids.into(), mode })),
        }
    }

    /// The types a value must have to fit, as far as they can be read off; all of them when they can't.
    fn types_of(&self, schema: &Value, depth: usize) -> Types {
        const FAR: usize = 16;
        let Value::Object(map) = schema else {
            return Types::ALL;
        };
        let only_refers = map.contains_key("$ref") && !self.source.dialect.keeps_ref_siblings();
        if let Some(types) = map.get("type").filter(|_| !only_refers).and_then(keyword::types) {
            return types;
        }
        match map.get("$ref").and_then(Value::as_str).and_then(keyword::local_pointer) {
            Some(target) if depth < FAR => {
                self.source.schema.pointer(&target).map_or(Types::ALL, |schema| self.types_of(schema, depth + 1))
            }
            _ => Types::ALL,
        }
    }

    fn full(&mut self, pointer: &str, map: &'a Map<String, Value>, beyond: &str) -> Node {
        self.full_nodes += 1;
        if self.full_nodes > MOST_FULL_NODES && self.source.widths == Widths::Ignored {
            return Node::Never;
        }
        // Only a type cares what shape the tree has that it is given.
        let shape = if self.source.widths == Widths::Checked { self.shape(pointer, map) } else { ANY };
        match full_at(self.source, pointer, beyond) {
            Ok(check) => Node::Full(Box::new(Full { check, shape })),
            Err(fault) => {
                self.faults.push(fault);
                Node::Never
            }
        }
    }

    fn shape(&mut self, pointer: &str, map: &'a Map<String, Value>) -> NodeId {
        let mut parts = self.applied(pointer, map);
        let reading = Reading { pointer, map, widths: self.source.widths };
        let typed = reading.shape(&mut |pointer, schema| self.node(pointer, schema));
        parts.push(self.push(Node::Typed(Box::new(typed))));
        self.push(joined(parts))
    }
}

/// One node for all of these.
fn joined(parts: Vec<NodeId>) -> Node {
    match parts.as_slice() {
        [] => Node::Any,
        [only] => Node::Same(*only),
        _ => Node::All(parts.into()),
    }
}

/// A table by type, if no two alternatives share a type.
fn by_type(types: &[Types], ids: &[NodeId]) -> Option<[Option<NodeId>; JsonType::COUNT]> {
    let mut table = [None; JsonType::COUNT];
    for (types, id) in types.iter().zip(ids) {
        for json_type in JsonType::EACH {
            if types.allows(json_type) {
                let slot = &mut table[json_type as usize];
                if slot.is_some() {
                    return None;
                }
                *slot = Some(*id);
            }
        }
    }
    Some(table)
}

#[cfg(feature = "validate")]
fn full_root(source: Source<'_>, resolver: &Resolver) -> Result<FullCheck, Issues> {
    super::full::build_root(source.schema, source.dialect, resolver).map_err(Issues::from)
}

#[cfg(feature = "validate")]
fn full_at(source: Source<'_>, pointer: &str, _beyond: &str) -> Result<FullCheck, Issue> {
    super::full::build_at(source.schema, pointer, source.dialect)
}

#[cfg(not(feature = "validate"))]
fn full_root(source: Source<'_>, _resolver: &Resolver) -> Result<FullCheck, Issues> {
    full_at(source, "", "this draft or kind of reference").map_err(Issues::from)
}

#[cfg(not(feature = "validate"))]
fn full_at(_source: Source<'_>, pointer: &str, beyond: &str) -> Result<FullCheck, Issue> {
    let message = format!("`{beyond}` can only be enforced with the `validate` feature of haft-core; switch it on");
    Err(Issue::new(pointer, beyond, message))
}
