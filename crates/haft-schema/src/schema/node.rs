//! The compiled form of a schema: a flat list of nodes that refer to each other by index.
//!
//! A node holds, for each JSON type, the rules that apply to a value of that type, so that a value can be checked while
//! it is read: a reader knows the type first and looks up only that type's rules. A rule that needs the whole value is
//! a [`KeywordRule`]; a node that has one is *buffered*: the text of the value is read as a document and checked by
//! [`Walk`](super::walk::Walk).
//!
//! Nodes never change after compilation, and no check of a node leads back to that node on the same value.

use super::keyword::number::NumberRule;
use super::keyword::string::StringRule;
use super::rule::{AppliedTo, KeywordRule};
use super::sorted::Sorted;
use super::types::{JsonType, Types};

/// A node of an [`Arena`]: its index, with flags in the bits above it for what a reader needs without a lookup: whether
/// values must be [buffered](Arena::is_buffered), and for which types there is [anything to check](Arena::is_free).
pub(super) type NodeId = u32;

/// The bit that marks a buffered node.
const BUFFERED: NodeId = 1 << 31;
/// The bits that mark, by type, whether values may be rejected; the first is that of the first [`JsonType`].
const RULED: NodeId = 0x3f << RULED_SHIFT;
const RULED_SHIFT: u32 = 24;
/// The bits of the index.
const INDEX: NodeId = (1 << RULED_SHIFT) - 1;

/// The node that accepts every value. It is always at this index.
pub(super) const ANY: NodeId = 0;
/// The node that accepts no value. It is always at this index.
pub(super) const NEVER: NodeId = 1 | RULED;

/// The compiled schema.
#[derive(Debug)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    /// The nodes that are applied from more than one node, by index: their verdicts are worth caching.
    shared: Vec<bool>,
    root: NodeId,
    from_type: bool,
}

/// One compiled subschema.
#[derive(Debug)]
pub(super) enum Node {
    /// Every value is valid.
    Any,
    /// No value is valid.
    Never,
    /// Rules by type, and rules for whole values.
    Typed(Box<TypeRules>),
    /// Alternatives that differ by JSON type: the value's type selects the node.
    ByType(Box<[Option<NodeId>; JsonType::COUNT]>),
    /// An alias of another node. It exists only during compilation.
    Same(NodeId),
}

/// The rules of one subschema.
#[derive(Debug)]
pub(super) struct TypeRules {
    pub(super) types: Types,
    pub(super) number: NumberRule,
    pub(super) string: StringRule,
    pub(super) array: ArrayRule,
    pub(super) object: ObjectRule,
    /// Rules that need the whole value, in the order they are checked.
    pub(super) rules: Vec<Box<dyn KeywordRule>>,
}

/// Rules for arrays.
#[derive(Debug)]
pub(super) struct ArrayRule {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    /// Set if the schema constrains the items beyond the prefix.
    pub(super) covers_rest: bool,
    pub(super) min: usize,
    pub(super) max: usize,
}

/// Rules for objects.
#[derive(Debug)]
pub(super) struct ObjectRule {
    pub(super) properties: Box<[Property]>,
    /// The indices of the properties by name; only for objects with too many properties for a linear search.
    index: Sorted,
    /// The number of `properties` that are required.
    pub(super) required: usize,
    pub(super) additional: NodeId,
    /// Set if the schema constrains all other members.
    pub(super) covers_rest: bool,
    pub(super) open: Openness,
    pub(super) min: usize,
    pub(super) max: usize,
}

/// The reason why an object may have keys beyond its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// The schema declares no keys at all, so all keys of the value are kept.
    Silent,
    /// Properties are declared and others are neither allowed nor forbidden explicitly. The type that such a schema was
    /// generated from has no field for them.
    Implied,
    /// The schema constrains or allows them explicitly.
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
    /// Set if `properties` names it, rather than `required` alone.
    pub(super) declared: bool,
    /// Set if the name needs no check besides being declared, wherever the object occurs.
    pub(super) plain: bool,
}

/// Objects with more properties than this are searched by an index.
const WIDE: usize = 16;

/// The most subschemas that may apply to one value in a chain. It bounds how many levels of a check one level of a
/// value may take.
pub(super) const MOST_IN_PLACE: usize = 500;

/// The reason why a schema cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompileFault {
    /// A node applies itself to the same value again.
    Cycle,
    /// More than [`MOST_IN_PLACE`] nodes apply to one value in a chain.
    TooTall,
}

impl Arena {
    /// Finishes an arena. Aliases are resolved once, here, so that no reader has to.
    pub(super) fn new(mut nodes: Vec<Node>, root: NodeId) -> Result<Self, CompileFault> {
        let targets = follow(&nodes).ok_or(CompileFault::Cycle)?;
        for node in &mut nodes {
            node.edges(&mut |id, _| *id = targets[index(*id)]);
        }
        let root = targets[index(root)];
        let edges: Vec<Vec<(usize, AppliedTo)>> = nodes.iter_mut().map(Node::targets).collect();
        if in_place_height(&edges).ok_or(CompileFault::Cycle)? > MOST_IN_PLACE {
            return Err(CompileFault::TooTall);
        }
        let mut uses = vec![0_usize; nodes.len()];
        uses[index(root)] += 1;
        for (target, _) in edges.iter().flatten() {
            uses[*target] += 1;
        }
        let marked: Vec<NodeId> = (0..).zip(&nodes).map(|(id, node)| id | marks(&nodes, node)).collect();
        for node in &mut nodes {
            node.edges(&mut |id, _| *id = marked[index(*id)]);
            if let Node::Typed(typed) = node {
                typed.number.close();
            }
        }
        let shared = uses.into_iter().map(|uses| uses > 1).collect();
        Ok(Self { nodes, shared, root: marked[index(root)], from_type: false })
    }

    /// Marks the nodes as generated from the Rust type that they are read into.
    pub(super) fn made_from_type(self) -> Self {
        Self { from_type: true, ..self }
    }

    pub(super) fn is_from_type(&self) -> bool {
        self.from_type
    }

    /// Creates an arena that accepts everything.
    pub(super) fn any() -> Self {
        Self { nodes: vec![Node::Any, Node::Never], shared: vec![false; 2], root: ANY, from_type: false }
    }

    /// Creates an arena that accepts nothing.
    pub(super) fn never() -> Self {
        Self { root: NEVER, ..Self::any() }
    }

    /// Reports whether one more node can be added.
    pub(super) fn has_room(nodes: usize) -> bool {
        nodes < INDEX as usize
    }

    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[index(id)]
    }

    /// Reports whether verdicts of this node are worth caching.
    pub(super) fn is_shared(&self, id: NodeId) -> bool {
        self.shared[index(id)]
    }

    /// Reports whether a value of this node must be read as a document before it can be checked.
    #[inline]
    pub(super) fn is_buffered(id: NodeId) -> bool {
        id & BUFFERED != 0
    }

    /// Reports whether every value of this type is valid, so that nothing is left to check; for arrays and objects,
    /// including their content.
    #[inline]
    pub(super) fn is_free(id: NodeId, json_type: JsonType) -> bool {
        id & ruled(json_type) == 0
    }

    /// Returns the rules for a value of type `json_type` at an unbuffered node: `Ok(None)` if there are none, `Err` if
    /// no value of that type is valid.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every value; measured")]
    pub(super) fn rules(&self, id: NodeId, json_type: JsonType) -> Result<Option<&TypeRules>, Mismatch> {
        match self.node(id) {
            Node::Any => Ok(None),
            Node::Typed(typed) if typed.types.allows(json_type) => Ok(Some(typed)),
            Node::ByType(branches) => self.branch_rules(branches[json_type as usize], json_type),
            _ => Err(Mismatch),
        }
    }

    fn branch_rules(&self, branch: Option<NodeId>, json_type: JsonType) -> Result<Option<&TypeRules>, Mismatch> {
        match self.node(branch.ok_or(Mismatch)?) {
            Node::Any => Ok(None),
            Node::Typed(typed) if typed.types.allows(json_type) => Ok(Some(typed)),
            Node::ByType(further) => self.branch_rules(further[json_type as usize], json_type),
            _ => Err(Mismatch),
        }
    }

    /// Reports whether every valid value, apart from `null`, is one of a set of strings.
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

/// The error for a type of which no value is valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mismatch;

impl Default for TypeRules {
    fn default() -> Self {
        Self {
            types: Types::ALL,
            number: NumberRule::default(),
            string: StringRule::default(),
            array: ArrayRule::default(),
            object: ObjectRule::default(),
            rules: Vec::new(),
        }
    }
}

impl TypeRules {
    /// Reports whether there are rules for values of this type.
    fn rules(&self, json_type: JsonType) -> bool {
        match json_type {
            JsonType::Null | JsonType::Boolean => false,
            JsonType::Number => self.integers_only() || !self.number.is_bare(),
            JsonType::String => !self.string.is_bare(),
            JsonType::Array | JsonType::Object => true,
        }
    }

    /// Reports whether only whole numbers are valid.
    #[inline]
    pub(super) fn integers_only(&self) -> bool {
        !self.types.contains(Types::NUMBER)
    }
}

impl Node {
    /// Visits every node that this one applies, with the part of the value it applies it to.
    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        match self {
            Self::Any | Self::Never => {}
            Self::Same(target) => visit(target, AppliedTo::InPlace),
            Self::ByType(branches) => {
                branches.iter_mut().flatten().for_each(|branch| visit(branch, AppliedTo::InPlace));
            }
            Self::Typed(typed) => {
                typed.array.prefix.iter_mut().for_each(|item| visit(item, AppliedTo::ToParts));
                visit(&mut typed.array.items, AppliedTo::ToParts);
                typed.object.properties.iter_mut().for_each(|property| visit(&mut property.node, AppliedTo::ToParts));
                visit(&mut typed.object.additional, AppliedTo::ToParts);
                typed.rules.iter_mut().for_each(|rule| rule.edges(visit));
            }
        }
    }

    fn targets(&mut self) -> Vec<(usize, AppliedTo)> {
        let mut targets = Vec::new();
        self.edges(&mut |id, applied| targets.push((index(*id), applied)));
        targets
    }
}

impl Default for ArrayRule {
    fn default() -> Self {
        Self { prefix: Box::default(), items: ANY, covers_rest: false, min: 0, max: usize::MAX }
    }
}

impl ArrayRule {
    /// Returns the node for the element at `index`.
    #[inline]
    pub(super) fn element(&self, index: usize) -> NodeId {
        self.prefix.get(index).copied().unwrap_or(self.items)
    }
}

impl Default for ObjectRule {
    fn default() -> Self {
        Self {
            properties: Box::default(),
            index: Sorted::default(),
            required: 0,
            additional: ANY,
            covers_rest: false,
            open: Openness::Silent,
            min: 0,
            max: usize::MAX,
        }
    }
}

impl Property {
    pub(super) fn new(name: &str, node: NodeId) -> Self {
        let plain = !matches!(name, "constructor" | "prototype" | "__proto__") && !name.starts_with("$serde_json::");
        let written = format!("{}:", serde_json::Value::from(name)).into();
        Self { name: name.into(), written, node, required: false, declared: true, plain }
    }

    /// Returns the memory of a property of this name, including its entry in an index.
    pub(super) fn bytes(name: &str) -> usize {
        size_of::<Self>() + 2 * name.len() + 8
    }
}

impl ObjectRule {
    /// Sets the properties, each name once.
    pub(super) fn set_properties(&mut self, properties: Vec<Property>) {
        if properties.len() > WIDE {
            self.index = Sorted::new(properties.len(), |at| &properties[at].name);
        }
        self.required = properties.iter().filter(|property| property.required).count();
        self.properties = properties.into();
    }

    /// Returns the index of the property `name`. `hint` is the expected index if keys come in declaration order, as
    /// they usually do.
    #[inline]
    pub(super) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.properties.get(hint).is_some_and(|property| &*property.name == name) {
            return Some(hint);
        }
        if self.properties.len() > WIDE {
            return self.index.find(name, |at| &self.properties[at].name);
        }
        self.properties.iter().position(|property| &*property.name == name)
    }
}

/// Returns the index of a node in its arena.
#[inline]
pub(super) fn index(id: NodeId) -> usize {
    (id & INDEX) as usize
}

/// Returns the flag of nodes that check values of this type.
#[inline]
fn ruled(json_type: JsonType) -> NodeId {
    1 << (RULED_SHIFT + json_type as u32)
}

/// Returns the flags of a node.
fn marks(nodes: &[Node], node: &Node) -> NodeId {
    if needs_buffer(nodes, node) {
        return BUFFERED | RULED;
    }
    JsonType::EACH.into_iter().filter(|json_type| checks(nodes, node, *json_type)).map(ruled).sum()
}

/// Reports whether an unbuffered node may reject a value of this type.
fn checks(nodes: &[Node], node: &Node, json_type: JsonType) -> bool {
    match node {
        Node::Any => false,
        Node::Typed(typed) => !typed.types.allows(json_type) || typed.rules(json_type),
        Node::ByType(branches) => {
            branches[json_type as usize].is_none_or(|branch| checks(nodes, &nodes[index(branch)], json_type))
        }
        Node::Never | Node::Same(_) => true,
    }
}

fn needs_buffer(nodes: &[Node], node: &Node) -> bool {
    match node {
        Node::Any | Node::Never | Node::Same(_) => false,
        Node::Typed(typed) => !typed.rules.is_empty(),
        Node::ByType(branches) => branches.iter().flatten().any(|branch| needs_buffer(nodes, &nodes[index(*branch)])),
    }
}

/// Returns, for each node, the target of its chain of aliases; `None` if a chain has no end.
fn follow(nodes: &[Node]) -> Option<Vec<NodeId>> {
    let mut targets: Vec<Option<NodeId>> = vec![None; nodes.len()];
    let mut chain = Vec::new();
    for start in 0..nodes.len() {
        let mut at = start;
        // Each node is resolved once: a chain ends at the first node whose target is known.
        let target = loop {
            match (targets[at], &nodes[at]) {
                (Some(target), _) => break target,
                (None, Node::Same(_)) if chain.len() > nodes.len() => return None,
                (None, Node::Same(next)) => {
                    chain.push(at);
                    at = index(*next);
                }
                (None, _) => break NodeId::try_from(at).ok()?,
            }
        };
        targets[at] = Some(target);
        chain.drain(..).for_each(|passed| targets[passed] = Some(target));
    }
    targets.into_iter().collect()
}

/// Returns the length of the longest chain of nodes that apply to one value; `None` if a chain has no end.
fn in_place_height(edges: &[Vec<(usize, AppliedTo)>]) -> Option<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let in_place =
        |at: usize| edges[at].iter().filter(|(_, applied)| *applied == AppliedTo::InPlace).map(|(to, _)| *to);
    let mut marks = vec![Mark::New; edges.len()];
    let mut heights = vec![0_usize; edges.len()];
    for start in 0..edges.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, in_place(start).collect::<Vec<_>>())];
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                None => {
                    marks[*at] = Mark::Done;
                    heights[*at] = 1 + in_place(*at).map(|next| heights[next]).max().unwrap_or_default();
                    stack.pop();
                }
                Some(next) => match marks[next] {
                    Mark::Open => return None,
                    Mark::Done => {}
                    Mark::New => {
                        marks[next] = Mark::Open;
                        stack.push((next, in_place(next).collect()));
                    }
                },
            }
        }
    }
    Some(heights.into_iter().max().unwrap_or_default())
}
