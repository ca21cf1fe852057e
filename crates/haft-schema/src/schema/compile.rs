//! The compiler from JSON Schemas to nodes.
//!
//! Each subschema becomes one node for each dynamic scope it can be reached in, so that a check never has to track how
//! it reached a node. Subschemas are compiled one after the other from a queue, not recursively: a long chain of
//! references takes no stack. Every keyword that a draft defines is enforced; others are annotations, as JSON Schema
//! requires.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;

use serde_json::{Map, Value};

use super::budget::{BudgetSpent, WorkBudget};
use super::draft::Draft;
use super::keyword::{Compile, Keyword, types_named};
use super::node::{ANY, Arena, CompileFault, MOST_IN_PLACE, NEVER, Node, NodeId, TypeRules};
use super::path::{push_index, push_key};
use super::resource::{MOST_FAULTS, ReferenceTarget, ResourceId, Resources};
use super::rule::KeywordRule;
use super::scan::nests_within;
use super::types::Types;
use crate::issue::{Issue, Issues};

/// A schema to compile, with the options for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaSource<'a> {
    pub(super) schema: &'a Value,
    pub(super) draft: Draft,
    pub(super) widths: Widths,
}

/// The meaning of `format` for numbers. In schemas generated from Rust types it limits them to a machine type, because
/// it is the only trace of that type; in raw schemas it is an annotation, as the specification requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Widths {
    Checked,
    Ignored,
}

/// Returns the fault of a schema that exceeds the budget.
pub(super) fn too_costly() -> Issue {
    let message = "takes more work or memory to compile than its size allows; make it smaller or simpler";
    Issue::new("", "budget", message)
}

/// The deepest nesting of a schema, which is twice that of its subschemas.
const MAX_DEPTH: usize = 128;

/// Reports a schema that nests too deeply to be processed recursively.
pub(super) fn depth_fault(schema: &Value) -> Option<Issue> {
    let message = || format!("nests deeper than {MAX_DEPTH} levels; use a flatter schema");
    (!nests_within(schema, MAX_DEPTH * 2)).then(|| Issue::new("", "maxDepth", message()))
}

/// Checks that the keywords of a schema are well formed, without resolving references.
pub(super) fn check_form(schema: &Value, draft: Draft) -> Result<(), Issues> {
    let mut budget = WorkBudget::for_schema(written_length(schema));
    let resources = Resources::scan(schema, draft, &mut budget).map_err(|BudgetSpent| Issues::from(too_costly()))?;
    if resources.faults.is_empty() { Ok(()) } else { Err(Issues::new(resources.faults)) }
}

/// Compiles a schema.
pub(super) fn compile(source: SchemaSource<'_>) -> Result<Arena, Issues> {
    let compiler = Compiler::new(source).map_err(|BudgetSpent| Issues::from(too_costly()))?;
    let arena = compiler.run(source).map_err(|BudgetSpent| Issues::from(too_costly()))??;
    Ok(match source.widths {
        Widths::Checked => arena.made_from_type(),
        Widths::Ignored => arena,
    })
}

/// The scope in which dynamic references are resolved: the outermost subschema of each name, by its address in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct DynamicScope<'a>(BTreeMap<&'a str, usize>);

/// An index into the list of scopes.
type DynamicScopeId = usize;

struct Compiler<'a> {
    resources: Resources<'a>,
    widths: Widths,
    budget: WorkBudget,
    nodes: Vec<Node>,
    /// Nodes by subschema and scope, entered before they are compiled, so that recursion ends.
    known: HashMap<(usize, DynamicScopeId), NodeId>,
    ahead: VecDeque<PendingNode<'a>>,
    scopes: Vec<DynamicScope<'a>>,
    scope_ids: HashMap<DynamicScope<'a>, DynamicScopeId>,
    /// The scope inside each resource, by the scope it is entered from.
    entered: HashMap<(ResourceId, DynamicScopeId), DynamicScopeId>,
    /// The subschemas that scopes refer to.
    anchored: HashMap<usize, &'a Value>,
    faults: Vec<Issue>,
}

/// A subschema that has a node and is not yet compiled.
struct PendingNode<'a> {
    id: NodeId,
    map: &'a Map<String, Value>,
    resource: ResourceId,
    scope: DynamicScopeId,
    pointer: String,
}

/// A subschema that is being compiled, as the functions of its keywords see it.
pub(super) struct SubschemaCompiler<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    pub(super) map: &'a Map<String, Value>,
    pub(super) draft: Draft,
    resource: ResourceId,
    scope: DynamicScopeId,
    pointer: &'c str,
    typed: TypeRules,
    /// Set once a keyword has added a rule to this subschema itself.
    asserts: bool,
    /// Nodes that apply to the same value.
    in_place: Vec<NodeId>,
    spent: Result<(), BudgetSpent>,
}

impl<'a> Compiler<'a> {
    fn new(source: SchemaSource<'a>) -> Result<Self, BudgetSpent> {
        let mut budget = WorkBudget::for_schema(written_length(source.schema));
        let mut resources = Resources::scan(source.schema, source.draft, &mut budget)?;
        resources.check_references(&mut budget)?;
        Ok(Self {
            resources,
            widths: source.widths,
            budget,
            nodes: vec![Node::Any, Node::Never],
            known: HashMap::new(),
            ahead: VecDeque::new(),
            scopes: vec![DynamicScope::default()],
            scope_ids: HashMap::from([(DynamicScope::default(), 0)]),
            entered: HashMap::new(),
            anchored: HashMap::new(),
            faults: Vec::new(),
        })
    }

    fn run(mut self, source: SchemaSource<'a>) -> Result<Result<Arena, Issues>, BudgetSpent> {
        let mut faults = std::mem::take(&mut self.resources.faults);
        let root = match self.compile_all(source) {
            Ok(root) => root,
            Err(BudgetSpent) if faults.is_empty() => return Err(BudgetSpent),
            Err(BudgetSpent) => return Ok(Err(Issues::new(faults))),
        };
        // Faults found by keyword functions are reported together with malformed keywords and unresolved references.
        for fault in self.faults {
            if !faults.iter().any(|known| known.pointer == fault.pointer && known.keyword == fault.keyword) {
                faults.push(fault);
            }
        }
        if !faults.is_empty() {
            return Ok(Err(Issues::new(faults)));
        }
        Ok(Arena::new(self.nodes, root).map_err(|unfit| {
            let message = match unfit {
                CompileFault::Cycle => {
                    "applies itself to the same value again, so that a check would never end".to_owned()
                }
                CompileFault::TooTall => {
                    format!("applies more than {MOST_IN_PLACE} subschemas in a chain to one value; make it flatter")
                }
            };
            Issues::from(Issue::new("", "$ref", message))
        }))
    }

    /// Compiles the schema and every subschema that is reachable from it, and returns its node.
    fn compile_all(&mut self, source: SchemaSource<'a>) -> Result<NodeId, BudgetSpent> {
        let root = match source.schema {
            Value::Object(_) => {
                let resource = self.resources.owner_of(source.schema).unwrap_or_default();
                self.node(source.schema, resource, 0, String::new())?
            }
            Value::Bool(true) => ANY,
            _ => NEVER,
        };
        while let Some(ahead) = self.ahead.pop_front() {
            let node = self.compile(&ahead)?;
            if matches!(node, Node::Typed(_)) {
                self.budget.memory(size_of::<TypeRules>())?;
            }
            self.nodes[super::node::index(ahead.id)] = node;
            self.budget.release(size_of::<PendingNode<'_>>() + ahead.pointer.len());
        }
        Ok(root)
    }

    /// Returns the node of a subschema, and queues it for compilation if it is new.
    fn node(
        &mut self,
        schema: &'a Value,
        resource: ResourceId,
        scope: DynamicScopeId,
        pointer: String,
    ) -> Result<NodeId, BudgetSpent> {
        let map = match schema {
            Value::Bool(true) => return Ok(ANY),
            Value::Object(map) if map.is_empty() => return Ok(ANY),
            Value::Object(map) => map,
            _ => return Ok(NEVER),
        };
        let resource = self.resources.owner_of(schema).unwrap_or(resource);
        let scope = self.enter(resource, scope)?;
        let key = (std::ptr::from_ref(schema).addr(), scope);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let id = self.push(Node::Any)?;
        self.budget.memory(size_of::<PendingNode<'_>>() + pointer.len())?;
        self.known.insert(key, id);
        self.ahead.push_back(PendingNode { id, map, resource, scope, pointer });
        Ok(id)
    }

    fn push(&mut self, node: Node) -> Result<NodeId, BudgetSpent> {
        self.budget.work(1)?;
        self.budget.memory(size_of::<Node>() + 64)?;
        if !Arena::has_room(self.nodes.len()) {
            return Err(BudgetSpent);
        }
        self.nodes.push(node);
        NodeId::try_from(self.nodes.len() - 1).map_err(|_| BudgetSpent)
    }

    /// Returns the scope inside a resource that is entered from another scope: an outer anchor takes precedence.
    fn enter(&mut self, resource: ResourceId, scope: DynamicScopeId) -> Result<DynamicScopeId, BudgetSpent> {
        let dynamic = &self.resources.get(resource).dynamic;
        if dynamic.is_empty() {
            return Ok(scope);
        }
        if let Some(known) = self.entered.get(&(resource, scope)) {
            return Ok(*known);
        }
        let names = self.scopes[scope].0.len() + dynamic.len();
        self.budget.work(names as u64)?;
        self.budget.memory(64 + names * 64)?;
        let mut entered = self.scopes[scope].clone();
        for (name, schema) in dynamic {
            let address = std::ptr::from_ref(*schema).addr();
            self.anchored.insert(address, schema);
            entered.0.entry(name).or_insert(address);
        }
        let id = match self.scope_ids.get(&entered) {
            Some(known) => *known,
            None => {
                self.scopes.push(entered.clone());
                self.scope_ids.insert(entered, self.scopes.len() - 1);
                self.scopes.len() - 1
            }
        };
        self.entered.insert((resource, scope), id);
        Ok(id)
    }

    fn compile(&mut self, ahead: &PendingNode<'a>) -> Result<Node, BudgetSpent> {
        let PendingNode { map, resource, scope, ref pointer, .. } = *ahead;
        let draft = self.resources.get(resource).draft;
        let only_reference = !draft.keeps_ref_siblings() && map.contains_key("$ref");
        let mut found: Vec<(usize, &Keyword, &'a Value)> = map
            .iter()
            .filter(|(name, _)| !only_reference || *name == "$ref")
            .filter_map(|(name, value)| Keyword::find(name, draft).map(|(place, keyword)| (place, keyword, value)))
            .collect();
        found.sort_unstable_by_key(|(place, ..)| *place);
        self.budget.work(found.len() as u64)?;
        let mut subschema = SubschemaCompiler {
            compiler: self,
            map,
            draft,
            resource,
            scope,
            pointer,
            typed: TypeRules::default(),
            asserts: false,
            in_place: Vec::new(),
            spent: Ok(()),
        };
        for (_, keyword, value) in found {
            if let Compile::Rules(compile) = keyword.compile {
                compile(&mut subschema, value);
            }
        }
        let SubschemaCompiler { typed, asserts, in_place, spent, .. } = subschema;
        spent?;
        Ok(match (asserts, in_place.as_slice()) {
            (false, []) => Node::Any,
            (false, [only]) => Node::Same(*only),
            (_, []) => Node::Typed(Box::new(typed)),
            (_, _) => {
                let mut typed = typed;
                typed.rules.insert(0, Box::new(super::keyword::AllOf(in_place)));
                Node::Typed(Box::new(typed))
            }
        })
    }
}

impl<'a> SubschemaCompiler<'_, 'a> {
    /// Returns the rules by type, for a keyword to add to.
    pub(super) fn typed(&mut self) -> &mut TypeRules {
        self.asserts = true;
        &mut self.typed
    }

    /// Adds a rule that checks the whole value.
    pub(super) fn rule(&mut self, rule: impl KeywordRule + 'static) {
        self.typed().rules.push(Box::new(rule));
    }

    /// Adds a node that applies to the same value.
    pub(super) fn also(&mut self, node: NodeId) {
        self.in_place.push(node);
    }

    pub(super) fn widths(&self) -> Widths {
        self.compiler.widths
    }

    pub(super) fn budget(&mut self) -> &mut WorkBudget {
        &mut self.compiler.budget
    }

    /// Returns the node of a keyword's own subschema.
    pub(super) fn schema(&mut self, keyword: &str, schema: &'a Value) -> NodeId {
        let mut pointer = self.pointer.to_owned();
        push_key(&mut pointer, keyword);
        self.node(schema, pointer)
    }

    /// Returns the nodes of a keyword's list of subschemas.
    pub(super) fn schemas(&mut self, keyword: &str, schemas: &'a [Value]) -> Vec<NodeId> {
        let each = schemas.iter().enumerate().map(|(index, schema)| {
            let mut pointer = self.pointer.to_owned();
            push_key(&mut pointer, keyword);
            push_index(&mut pointer, index);
            self.node(schema, pointer)
        });
        each.collect()
    }

    /// Returns the node of a keyword's subschema of this name.
    pub(super) fn named_schema(&mut self, keyword: &str, name: &str, schema: &'a Value) -> NodeId {
        let mut pointer = self.pointer.to_owned();
        push_key(&mut pointer, keyword);
        push_key(&mut pointer, name);
        self.node(schema, pointer)
    }

    /// Adds a node that is not a subschema.
    pub(super) fn push(&mut self, node: Node) -> NodeId {
        let id = self.compiler.push(node);
        self.take(id)
    }

    fn node(&mut self, schema: &'a Value, pointer: String) -> NodeId {
        let id = self.compiler.node(schema, self.resource, self.scope, pointer);
        self.take(id)
    }

    /// Reserves memory for data that stays; `false` if the budget is exhausted, which rejects the schema.
    pub(super) fn takes(&mut self, bytes: usize) -> bool {
        let taken = self.compiler.budget.memory(bytes);
        self.spent = self.spent.and(taken);
        taken.is_ok()
    }

    fn take(&mut self, id: Result<NodeId, BudgetSpent>) -> NodeId {
        id.unwrap_or_else(|BudgetSpent| {
            self.spent = Err(BudgetSpent);
            NEVER
        })
    }

    /// Reports a fault of a keyword.
    pub(super) fn fault(&mut self, keyword: &str, message: impl Into<String>) {
        let mut pointer = self.pointer.to_owned();
        push_key(&mut pointer, keyword);
        let found = self.map.get(keyword).map(super::message::excerpt).unwrap_or_default();
        if self.compiler.faults.len() >= MOST_FAULTS {
            return;
        }
        self.compiler.faults.push(Issue::new(pointer, keyword, message).found(found));
    }

    /// Finds the target of a reference.
    pub(super) fn resolve(&mut self, reference: &'a str) -> Option<ReferenceTarget<'a>> {
        let Compiler { resources, budget, .. } = &mut *self.compiler;
        let found = resources.resolve(self.resource, reference, budget);
        found.unwrap_or_else(|BudgetSpent| {
            self.spent = Err(BudgetSpent);
            None
        })
    }

    /// Returns the node of a reference's target.
    pub(super) fn target(&mut self, target: ReferenceTarget<'a>, pointer: &str) -> NodeId {
        let id = self.compiler.node(target.schema, target.resource, self.scope, pointer.to_owned());
        self.take(id)
    }

    /// Returns the outermost subschema in scope that has a dynamic anchor of this name.
    pub(super) fn dynamic(&mut self, name: &str) -> Option<NodeId> {
        let address = self.compiler.scopes[self.scope].0.get(name)?;
        let schema = *self.compiler.anchored.get(address)?;
        let id = self.compiler.node(schema, self.resource, self.scope, format!("#{name}"));
        Some(self.take(id))
    }

    /// Returns the types that a value must have to be valid for a subschema, as far as they can be inferred; otherwise
    /// all types.
    pub(super) fn types_of(&mut self, schema: &'a Value) -> Types {
        const FAR: usize = 16;
        let (mut schema, mut resource) = (schema, self.resource);
        for _ in 0..FAR {
            let Value::Object(map) = schema else { return Types::ALL };
            resource = self.compiler.resources.owner_of(schema).unwrap_or(resource);
            let reference = map.get("$ref").and_then(Value::as_str);
            let keeps_siblings = self.compiler.resources.get(resource).draft.keeps_ref_siblings();
            if let Some(types) = map.get("type").filter(|_| reference.is_none() || keeps_siblings).and_then(types_named)
            {
                return types;
            }
            let Compiler { resources, budget, .. } = &mut *self.compiler;
            let target = reference.and_then(|reference| resources.resolve(resource, reference, budget).ok().flatten());
            let Some(target) = target else { return Types::ALL };
            (schema, resource) = (target.schema, target.resource);
        }
        Types::ALL
    }
}

/// Returns the length of a schema as JSON text.
pub(super) fn written_length(schema: &Value) -> usize {
    struct ByteCounter(usize);
    impl io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    // Counting never fails, and a schema that could not be written would only get a smaller budget.
    let _ = serde_json::to_writer(&mut count, schema);
    count.0
}
