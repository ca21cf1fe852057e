//! The compiled form of a schema: a flat list of nodes that point at each other by index.
//!
//! A node holds, for each JSON type, the rules that apply to a value of that type, so a value can be checked while
//! it is read: whoever reads knows the type first and looks up only that type's rules. What can't be decided that
//! way is marked *buffered*: the value is built first and then checked whole (see [`Arena::is_buffered`]).
//!
//! Nodes never hold JSON of the schema beyond literals to compare with, and never change after compilation.

use std::collections::HashMap;

use serde_json::Value;

use super::full::FullCheck;
use super::number::{NumberRule, SureRange};
use super::string::StringRule;
use super::text::Inside;
use super::types::{JsonType, Types};

/// Which node of an [`Arena`]: its index, and in the bits above it what a reader wants to know without looking: whether
/// values must be [buffered](Arena::is_buffered), and for which types there is [anything to check](Arena::is_free).
pub(super) type NodeId = u32;

/// The bit that marks a buffered node.
const BUFFERED: NodeId = 1 << 31;
/// The bits that mark, by type, where values may be refused; the first is that of the first [`JsonType`].
const RULED: NodeId = 0x3f << RULED_SHIFT;
const RULED_SHIFT: u32 = 24;
/// The bits that are the index.
const INDEX: NodeId = (1 << RULED_SHIFT) - 1;

/// The node that takes every value. Always at this index.
pub(super) const ANY: NodeId = 0;
/// The node that takes none. Always at this index.
pub(super) const NEVER: NodeId = 1 | RULED;

/// The compiled schema.
#[derive(Debug)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    root: NodeId,
    from_type: bool,
}

/// One compiled subschema.
#[derive(Debug)]
pub(super) enum Node {
    /// Every value fits.
    Any,
    /// No value fits.
    Never,
    /// Rules by type, all on this node.
    Typed(Box<Typed>),
    /// Alternatives that differ by JSON type: the value's type picks the node.
    ByType(Box<[Option<NodeId>; JsonType::COUNT]>),
    /// Alternatives that don't: at least one, or exactly one, must fit.
    Union(Box<Union>),
    /// All of these must fit.
    All(Box<[NodeId]>),
    /// Outside what nodes can say: the full validator decides.
    Full(Box<Full>),
    /// The same as another node. Only while compiling.
    Same(NodeId),
}

/// A subschema that the full validator decides.
#[derive(Debug)]
pub(super) struct Full {
    pub(super) check: FullCheck,
    /// What nodes can tell of the values that fit; [`ANY`] where nobody asks.
    pub(super) shape: NodeId,
}

/// Rules for values of certain types.
#[derive(Debug, Default)]
pub(super) struct Typed {
    pub(super) types: Types,
    /// Integers that fit whatever `number` says; those beyond are to be looked at.
    pub(super) sure: SureRange,
    pub(super) number: NumberRule,
    pub(super) string: StringRule,
    pub(super) array: ArrayRule,
    pub(super) object: ObjectRule,
    /// Literals of which some are not strings; string-only ones are in [`StringRule`].
    pub(super) literals: Option<Box<[Value]>>,
}

/// Alternatives.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) branches: Box<[NodeId]>,
    pub(super) mode: UnionMode,
}

/// How many alternatives must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnionMode {
    AtLeastOne,
    ExactlyOne,
}

/// Rules for arrays.
#[derive(Debug)]
pub(super) struct ArrayRule {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) unique: bool,
}

/// Rules for objects.
#[derive(Debug)]
pub(super) struct ObjectRule {
    pub(super) properties: Box<[Property]>,
    /// Only for objects too wide to scan.
    index: Option<HashMap<Box<str>, usize>>,
    /// How many of `properties` are required.
    pub(super) required: usize,
    pub(super) additional: NodeId,
    pub(super) open: Open,
    pub(super) min: usize,
    pub(super) max: usize,
}

/// Why an object may have keys beyond its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// The schema speaks of no keys at all: whatever the value holds is wanted.
    Silent,
    /// Properties are declared and nothing is said of others. A type such a schema was made from has no place for
    /// them.
    Implied,
    /// The schema speaks of them.
    Declared,
}

/// A declared property.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: Box<str>,
    /// The name as it is written in an object: in quotes, escaped, with its colon.
    pub(super) written: Box<str>,
    pub(super) node: NodeId,
    pub(super) required: bool,
    /// Whether the name means nothing beyond what is declared, wherever the object stands.
    pub(super) plain: bool,
}

/// Objects with more properties than this are looked up by hash.
const WIDE: usize = 16;

impl Arena {
    /// Closes an arena: shortcuts are followed once, here, so that no reader has to. None where that has no end, or
    /// there are more nodes than can be told apart.
    pub(super) fn new(mut nodes: Vec<Node>, root: NodeId) -> Option<Self> {
        if nodes.len() > INDEX as usize {
            return None;
        }
        let targets = (0..nodes.len()).map(|id| follow(&nodes, id)).collect::<Option<Vec<_>>>()?;
        for node in &mut nodes {
            node.redirect(&targets);
        }
        if has_in_place_cycle(&nodes) {
            return None;
        }
        let marked: Vec<NodeId> = (0..).zip(&nodes).map(|(id, node)| id | marks(&nodes, node)).collect();
        for node in &mut nodes {
            node.redirect(&marked);
            if let Node::Typed(typed) = node {
                typed.sure = typed.number.sure_range();
            }
        }
        let root = marked[index(targets[index(root)])];
        Some(Self { nodes, root, from_type: false })
    }

    /// The same nodes, known to be made from the Rust type they are read into.
    pub(super) fn made_from_type(self) -> Self {
        Self { from_type: true, ..self }
    }

    pub(super) fn is_from_type(&self) -> bool {
        self.from_type
    }

    /// An arena that takes everything.
    pub(super) fn any() -> Self {
        Self { nodes: vec![Node::Any, Node::Never], root: ANY, from_type: false }
    }

    /// An arena that takes nothing.
    pub(super) fn never() -> Self {
        Self { root: NEVER, ..Self::any() }
    }

    /// An arena whose whole check is the full validator.
    pub(super) fn full(check: FullCheck) -> Self {
        let full = Node::Full(Box::new(Full { check, shape: ANY }));
        Self { nodes: vec![Node::Any, Node::Never, full], root: 2 | BUFFERED | RULED, from_type: false }
    }

    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[index(id)]
    }

    /// Whether a value of this node must be built before it can be checked.
    #[inline]
    pub(super) fn is_buffered(id: NodeId) -> bool {
        id & BUFFERED != 0
    }

    /// Whether every value of this type fits, so that nothing is left to check; of arrays and objects, whatever they
    /// hold.
    #[inline]
    pub(super) fn is_free(id: NodeId, json_type: JsonType) -> bool {
        id & ruled(json_type) == 0
    }

    /// The rules for a value of type `json_type` at an unbuffered node: `Ok(None)` when there are none, `Err` when
    /// no value of that type fits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked for every value there is; measured")]
    pub(super) fn rules(&self, id: NodeId, json_type: JsonType) -> Result<Option<&Typed>, Mismatch> {
        match self.node(id) {
            Node::Any => Ok(None),
            Node::Typed(typed) if typed.types.allows(json_type) => Ok(Some(typed)),
            Node::ByType(branches) => self.branch_rules(branches[json_type as usize], json_type),
            _ => Err(Mismatch),
        }
    }

    fn branch_rules(&self, branch: Option<NodeId>, json_type: JsonType) -> Result<Option<&Typed>, Mismatch> {
        match self.node(branch.ok_or(Mismatch)?) {
            Node::Any => Ok(None),
            Node::Typed(typed) if typed.types.allows(json_type) => Ok(Some(typed)),
            Node::ByType(further) => self.branch_rules(further[json_type as usize], json_type),
            _ => Err(Mismatch),
        }
    }

    /// Whether every value that fits, `null` aside, is one of a set of strings.
    pub(super) fn is_string_enum(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::Typed(typed) => typed.types.without(Types::NULL) == Types::STRING,
            Node::ByType(branches) => branches.iter().enumerate().all(|(kind, branch)| match branch {
                None => true,
                Some(_) => kind == JsonType::String as usize || kind == JsonType::Null as usize,
            }),
            _ => false,
        }
    }
}

/// No value of that type fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mismatch;

impl Typed {
    /// Whether there are rules for values of this type.
    fn rules(&self, json_type: JsonType) -> bool {
        match json_type {
            JsonType::Null | JsonType::Boolean => false,
            JsonType::Number => self.integers_only() || !self.number.is_bare(),
            JsonType::String => !self.string.is_bare(),
            JsonType::Array | JsonType::Object => true,
        }
    }

    /// Whether only whole numbers fit.
    #[inline]
    pub(super) fn integers_only(&self) -> bool {
        !self.types.contains(Types::NUMBER)
    }
}

impl Node {
    fn redirect(&mut self, targets: &[NodeId]) {
        let to = |id: &mut NodeId| *id = targets[index(*id)];
        match self {
            Self::Any | Self::Never | Self::Same(_) => {}
            Self::Full(full) => to(&mut full.shape),
            Self::Typed(typed) => {
                typed.array.prefix.iter_mut().for_each(to);
                to(&mut typed.array.items);
                typed.object.properties.iter_mut().for_each(|property| to(&mut property.node));
                to(&mut typed.object.additional);
            }
            Self::ByType(branches) => branches.iter_mut().flatten().for_each(to),
            Self::Union(union) => union.branches.iter_mut().for_each(to),
            Self::All(parts) => parts.iter_mut().for_each(to),
        }
    }

    /// The nodes that are applied to the same value as this one.
    fn in_place(&self) -> Vec<NodeId> {
        match self {
            Self::ByType(branches) => branches.iter().flatten().copied().collect(),
            Self::Union(union) => union.branches.to_vec(),
            Self::All(parts) => parts.to_vec(),
            Self::Same(target) => vec![*target],
            Self::Full(full) => vec![full.shape],
            Self::Any | Self::Never | Self::Typed(_) => Vec::new(),
        }
    }
}

impl Default for ArrayRule {
    fn default() -> Self {
        Self { prefix: Box::default(), items: ANY, min: 0, max: usize::MAX, unique: false }
    }
}

impl ArrayRule {
    /// The node for the element at `index`.
    #[inline]
    pub(super) fn element(&self, index: usize) -> NodeId {
        self.prefix.get(index).copied().unwrap_or(self.items)
    }
}

impl Default for ObjectRule {
    fn default() -> Self {
        Self {
            properties: Box::default(),
            index: None,
            required: 0,
            additional: ANY,
            open: Open::Silent,
            min: 0,
            max: usize::MAX,
        }
    }
}

impl Property {
    pub(super) fn new(name: &str, node: NodeId, required: bool) -> Self {
        let plain = Inside::key(name) == Inside::Other && !Inside::Constructor.forbids(name);
        let written = format!("{}:", Value::from(name)).into();
        Self { name: name.into(), written, node, required, plain }
    }
}

impl ObjectRule {
    pub(super) fn new(properties: Vec<Property>, additional: NodeId, open: Open, min: usize, max: usize) -> Self {
        let index = (properties.len() > WIDE)
            .then(|| properties.iter().enumerate().map(|(at, property)| (property.name.clone(), at)).collect());
        let required = properties.iter().filter(|property| property.required).count();
        Self { properties: properties.into(), index, required, additional, open, min, max }
    }

    /// Where `name` is declared. `hint` is where it stands if keys come in declaration order, as they mostly do.
    #[inline]
    pub(super) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.properties.get(hint).is_some_and(|property| &*property.name == name) {
            return Some(hint);
        }
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.properties.iter().position(|property| &*property.name == name),
        }
    }
}

/// Where in its arena a node stands.
#[inline]
fn index(id: NodeId) -> usize {
    (id & INDEX) as usize
}

/// The mark of nodes that check values of this type.
#[inline]
fn ruled(json_type: JsonType) -> NodeId {
    1 << (RULED_SHIFT + json_type as u32)
}

/// What is to be known of a node without looking.
fn marks(nodes: &[Node], node: &Node) -> NodeId {
    if needs_buffer(nodes, node) {
        return BUFFERED | RULED;
    }
    JsonType::EACH.into_iter().filter(|json_type| checks(nodes, node, *json_type)).map(ruled).sum()
}

/// Whether an unbuffered node may refuse a value of this type.
fn checks(nodes: &[Node], node: &Node, json_type: JsonType) -> bool {
    match node {
        Node::Any => false,
        Node::Typed(typed) => !typed.types.allows(json_type) || typed.rules(json_type),
        Node::ByType(branches) => {
            branches[json_type as usize].is_none_or(|branch| checks(nodes, &nodes[index(branch)], json_type))
        }
        Node::Never | Node::Union(_) | Node::All(_) | Node::Full(_) | Node::Same(_) => true,
    }
}

/// Where a chain of shortcuts ends; `None` if it never does.
fn follow(nodes: &[Node], id: usize) -> Option<NodeId> {
    let mut at = id;
    for _ in 0..=nodes.len() {
        match &nodes[at] {
            Node::Same(next) => at = index(*next),
            _ => return NodeId::try_from(at).ok(),
        }
    }
    None
}

/// Whether some node applies itself to the same value again: such a schema has no meaning and its check no end.
fn has_in_place_cycle(nodes: &[Node]) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; nodes.len()];
    for start in 0..nodes.len() {
        let mut stack = vec![(start, nodes[start].in_place())];
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        while let Some((id, rest)) = stack.last_mut() {
            match rest.pop() {
                None => {
                    marks[*id] = Mark::Done;
                    stack.pop();
                }
                Some(next) => match marks[index(next)] {
                    Mark::Open => return true,
                    Mark::Done => {}
                    Mark::New => {
                        marks[index(next)] = Mark::Open;
                        stack.push((index(next), nodes[index(next)].in_place()));
                    }
                },
            }
        }
    }
    false
}

fn needs_buffer(nodes: &[Node], node: &Node) -> bool {
    match node {
        Node::Any | Node::Never | Node::Same(_) => false,
        Node::Typed(typed) => typed.literals.is_some() || typed.array.unique,
        Node::ByType(branches) => branches.iter().flatten().any(|branch| needs_buffer(nodes, &nodes[index(*branch)])),
        Node::Union(_) | Node::All(_) | Node::Full(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::Num;
    use super::*;

    fn typed(types: Types) -> Typed {
        Typed { types, ..Typed::default() }
    }

    /// An arena of one array whose elements have these nodes.
    fn elements(nodes: Vec<Node>) -> Vec<NodeId> {
        let prefix = (2..).take(nodes.len()).chain([0, 1]).collect();
        let array = ArrayRule { prefix, ..ArrayRule::default() };
        let mut all = vec![Node::Any, Node::Never];
        all.extend(nodes);
        all.push(Node::Typed(Box::new(Typed { array, ..typed(Types::ARRAY) })));
        let root = NodeId::try_from(all.len() - 1).unwrap();
        let arena = Arena::new(all, root).unwrap();
        let Node::Typed(root) = arena.node(arena.root()) else { panic!("the root is an array") };
        root.array.prefix.to_vec()
    }

    fn free(id: NodeId) -> Vec<JsonType> {
        JsonType::EACH.into_iter().filter(|json_type| Arena::is_free(id, *json_type)).collect()
    }

    #[test]
    fn a_node_says_what_it_leaves_unchecked() {
        let short = StringRule { max: 3, ..StringRule::default() };
        let positive = NumberRule { minimum: Some(Num::Int(1)), ..NumberRule::default() };
        let ids = elements(vec![
            Node::Typed(Box::new(typed(Types::STRING.with(Types::NULL)))),
            Node::Typed(Box::new(Typed { string: short, number: positive, ..typed(Types::ALL) })),
            Node::Typed(Box::new(typed(Types::INTEGER.with(Types::BOOLEAN)))),
            Node::ByType(Box::new([Some(0), None, Some(4), Some(2), None, Some(0)])),
            Node::Union(Box::new(Union { branches: Box::new([0]), mode: UnionMode::AtLeastOne })),
        ]);
        assert_eq!(free(ids[0]), [JsonType::Null, JsonType::String]);
        assert_eq!(free(ids[1]), [JsonType::Null, JsonType::Boolean]);
        assert_eq!(free(ids[2]), [JsonType::Boolean]);
        assert_eq!(free(ids[3]), [JsonType::Null, JsonType::String, JsonType::Object]);
        assert_eq!(free(ids[4]), []);
        assert!(Arena::is_buffered(ids[4]));
        assert!(!ids[..4].iter().any(|id| Arena::is_buffered(*id)));
    }

    #[test]
    fn the_first_two_nodes_keep_their_names() {
        assert_eq!(elements(vec![]), [ANY, NEVER]);
        assert_eq!(free(ANY), JsonType::EACH);
        assert_eq!(free(NEVER), []);
    }
}
