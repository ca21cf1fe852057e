//! The resources of a schema: the addresses of its subschemas, and the targets of references.
//!
//! The scan visits every subschema once. It finds identifiers and anchors, and reports every keyword whose value does
//! not have the form its draft requires. A reference without a target inside the schema is a fault: nothing is fetched.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::budget::{BudgetSpent, WorkBudget};
use super::draft::Draft;
use super::keyword::Keyword;
use super::meta_schema;
use super::path::{push_index, push_key};
use super::shape::PointerToken;
use super::uri;
use crate::issue::Issue;

/// An index into the list of resources.
pub(super) type ResourceId = usize;

/// The most faults that are listed.
pub(super) const MOST_FAULTS: usize = 100;

/// A schema with its own address, and the subschemas in it that have a name.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    uri: String,
    pub(super) root: &'a Value,
    pub(super) draft: Draft,
    anchors: HashMap<&'a str, &'a Value>,
    /// The dynamic anchors by name; that of `$recursiveAnchor` has the empty name.
    pub(super) dynamic: BTreeMap<&'a str, &'a Value>,
}

/// All resources of a schema.
pub(super) struct Resources<'a> {
    list: Vec<Resource<'a>>,
    by_uri: HashMap<String, ResourceId>,
    /// The resource of each subschema, by its address in memory.
    owners: HashMap<usize, ResourceId>,
    /// The references of the schema itself.
    references: Vec<UnresolvedReference<'a>>,
    pub(super) faults: Vec<Issue>,
}

/// A reference that is yet to be resolved, and the pointer to it.
struct UnresolvedReference<'a> {
    keyword: &'static str,
    to: &'a str,
    pointer: String,
    from: ResourceId,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceTarget<'a> {
    pub(super) schema: &'a Value,
    pub(super) resource: ResourceId,
    /// The name by which a dynamic reference may resolve to another subschema.
    pub(super) dynamic: Option<&'a str>,
}

/// A subschema that is yet to be scanned.
struct PendingSubschema<'a> {
    schema: &'a Value,
    pointer: String,
    resource: ResourceId,
}

impl PendingSubschema<'_> {
    /// Returns the memory of an entry with this pointer.
    fn bytes(pointer: &str) -> usize {
        size_of::<Self>() + pointer.len()
    }
}

impl<'a> Resources<'a> {
    /// Scans a schema.
    pub(super) fn scan(root: &'a Value, draft: Draft, budget: &mut WorkBudget) -> Result<Self, BudgetSpent> {
        let mut resources = Self {
            list: Vec::new(),
            by_uri: HashMap::new(),
            owners: HashMap::new(),
            references: Vec::new(),
            faults: Vec::new(),
        };
        resources.add_document(uri::NAMELESS, root, draft, budget)?;
        Ok(resources)
    }

    /// Reports every reference without a target, even where no value is ever checked.
    pub(super) fn check_references(&mut self, budget: &mut WorkBudget) -> Result<(), BudgetSpent> {
        let mut next = 0;
        // Following a reference may add others.
        while next < self.references.len() {
            let UnresolvedReference { keyword, to, ref pointer, from } = self.references[next];
            let pointer = pointer.clone();
            next += 1;
            if self.resolve(from, to, budget)?.is_none() {
                let message = if to.starts_with('#') {
                    "must refer to an existing subschema of this schema"
                } else {
                    "refers to a document outside the schema, which is never fetched; put it under $defs"
                };
                self.fault(&pointer, keyword, message, &Value::from(to));
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, id: ResourceId) -> &Resource<'a> {
        &self.list[id]
    }

    /// Returns every subschema that has a dynamic anchor of this name, in any resource.
    pub(super) fn dynamic_anchors(&self, name: &str) -> Vec<&'a Value> {
        let anchors = self.list.iter().flat_map(|resource| &resource.dynamic);
        anchors.filter(|(anchor, _)| **anchor == name).map(|(_, schema)| *schema).collect()
    }

    /// Returns the resource that a subschema belongs to.
    pub(super) fn owner_of(&self, schema: &'a Value) -> Option<ResourceId> {
        self.owners.get(&address(schema)).copied()
    }

    /// Finds the target of a reference in a resource.
    pub(super) fn resolve(
        &mut self,
        from: ResourceId,
        reference: &'a str,
        budget: &mut WorkBudget,
    ) -> Result<Option<ReferenceTarget<'a>>, BudgetSpent> {
        // A reference may be followed from many subschemas.
        budget.work(1 + reference.len() as u64 / 16)?;
        let (address, fragment) = uri::split_fragment(reference);
        let resource = if address.is_empty() {
            from
        } else {
            let absolute = uri::resolve(&self.list[from].uri, address);
            match self.by_uri.get(&absolute) {
                Some(known) => *known,
                None => {
                    let Some((draft, schema)) = meta_schema::at(&absolute) else { return Ok(None) };
                    self.add_document(&absolute, schema, draft, budget)?
                }
            }
        };
        let Some(fragment) = uri::percent_decoded(fragment) else { return Ok(None) };
        if fragment.is_empty() {
            let dynamic = self.list[resource].dynamic.contains_key("").then_some("");
            return Ok(Some(ReferenceTarget { schema: self.list[resource].root, resource, dynamic }));
        }
        if fragment.starts_with('/') {
            return self.by_pointer(resource, &fragment, budget);
        }
        let found = self.list[resource].anchors.get_key_value(fragment.as_str());
        Ok(found.map(|(name, schema)| {
            let is_dynamic = self.list[resource].dynamic.contains_key(name);
            ReferenceTarget { schema, resource, dynamic: is_dynamic.then_some(*name) }
        }))
    }

    /// Follows a JSON Pointer from the root of a resource. It may lead into a nested resource.
    fn by_pointer(
        &mut self,
        resource: ResourceId,
        pointer: &str,
        budget: &mut WorkBudget,
    ) -> Result<Option<ReferenceTarget<'a>>, BudgetSpent> {
        let mut at = self.list[resource].root;
        let mut owner = resource;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match at {
                Value::Object(map) => map.get(&step),
                Value::Array(list) => step.parse().ok().and_then(|index: usize| list.get(index)),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            at = next;
            owner = self.owner_of(at).unwrap_or(owner);
        }
        if !is_schema(at, self.list[owner].draft) {
            return Ok(None);
        }
        if self.owner_of(at).is_none() && at.is_object() {
            // A subschema under a keyword that no draft defines.
            self.visit(vec![PendingSubschema { schema: at, pointer: pointer.to_owned(), resource: owner }], budget)?;
            owner = self.owner_of(at).unwrap_or(owner);
        }
        Ok(Some(ReferenceTarget { schema: at, resource: owner, dynamic: None }))
    }

    fn add_document(
        &mut self,
        uri: &str,
        root: &'a Value,
        draft: Draft,
        budget: &mut WorkBudget,
    ) -> Result<ResourceId, BudgetSpent> {
        let resource = self.add(uri.to_owned(), root, draft);
        self.visit(vec![PendingSubschema { schema: root, pointer: String::new(), resource }], budget)?;
        // The root may have its own identifier.
        Ok(self.owner_of(root).unwrap_or(resource))
    }

    fn add(&mut self, uri: String, root: &'a Value, draft: Draft) -> ResourceId {
        let id = self.list.len();
        self.by_uri.insert(uri.clone(), id);
        self.list.push(Resource { uri, root, draft, anchors: HashMap::new(), dynamic: BTreeMap::new() });
        id
    }

    fn visit(&mut self, mut pending: Vec<PendingSubschema<'a>>, budget: &mut WorkBudget) -> Result<(), BudgetSpent> {
        for subschema in &pending {
            budget.memory(PendingSubschema::bytes(&subschema.pointer))?;
        }
        while let Some(PendingSubschema { schema, pointer, resource }) = pending.pop() {
            budget.release(PendingSubschema::bytes(&pointer));
            budget.work(1 + pointer.len() as u64 / 16)?;
            let draft = self.list[resource].draft;
            let map = match schema {
                Value::Object(map) => map,
                other if is_schema(other, draft) => continue,
                other => {
                    let kinds = if draft == Draft::Draft4 { "an object" } else { "an object or a boolean" };
                    let is_old_tuple = draft == Draft::Draft202012 && other.is_array() && pointer.ends_with("/items");
                    let advice = if is_old_tuple {
                        "; a list of schemas goes under `prefixItems`, or `$schema` names an older draft"
                    } else {
                        ""
                    };
                    self.fault(&pointer, "schema", &format!("a schema must be {kinds}{advice}"), other);
                    continue;
                }
            };
            budget.memory(64)?;
            let resource = self.identify(map, schema, &pointer, resource);
            self.owners.insert(address(schema), resource);
            let draft = self.list[resource].draft;
            let first = pending.len();
            let mut spent = Ok(());
            for (name, value) in map {
                let Some((_, keyword)) = Keyword::find(name, draft) else { continue };
                let mut at = pointer.clone();
                push_key(&mut at, name);
                if let Some(message) = keyword.shape.fault(value) {
                    self.fault(&at, name, &message, value);
                    continue;
                }
                if let Some(other) = keyword.beside.filter(|other| !map.contains_key(*other)) {
                    self.fault(&at, name, &format!("has an effect only beside {other:?}, which is missing"), value);
                }
                if let (true, Some(to)) = (keyword.is_reference(), value.as_str()) {
                    budget.memory(64 + at.len())?;
                    self.references.push(UnresolvedReference {
                        keyword: keyword.name,
                        to,
                        pointer: at,
                        from: resource,
                    });
                    continue;
                }
                keyword.shape.subschemas(value, &mut |step, schema| {
                    let mut pointer = at.clone();
                    match step {
                        PointerToken::Here => {}
                        PointerToken::Index(index) => push_index(&mut pointer, index),
                        PointerToken::Name(name) => push_key(&mut pointer, name),
                    }
                    spent = spent.and_then(|()| budget.memory(PendingSubschema::bytes(&pointer)));
                    if spent.is_ok() {
                        pending.push(PendingSubschema { schema, pointer, resource });
                    }
                });
                spent?;
            }
            // Entries are popped from the end, so this keeps faults in the order of the schema.
            pending[first..].reverse();
        }
        Ok(())
    }

    /// Records the identifiers of a subschema, and returns its resource.
    fn identify(
        &mut self,
        map: &'a Map<String, Value>,
        schema: &'a Value,
        pointer: &str,
        resource: ResourceId,
    ) -> ResourceId {
        let draft = match map.get("$schema").and_then(Value::as_str) {
            Some(named) if map.contains_key("$id") || map.contains_key("id") => {
                Draft::named(named).unwrap_or(self.list[resource].draft)
            }
            _ => self.list[resource].draft,
        };
        let mut resource = resource;
        let is_only_reference = map.contains_key("$ref") && !draft.keeps_ref_siblings();
        if let Some(Value::String(id)) = map.get(draft.id_keyword())
            && !is_only_reference
        {
            let (address, fragment) = uri::split_fragment(id);
            if !address.is_empty() {
                let uri = uri::resolve(&self.list[resource].uri, address);
                let is_taken = self.by_uri.get(&uri).is_some_and(|known| !std::ptr::eq(self.list[*known].root, schema));
                if is_taken {
                    self.fault(
                        pointer,
                        draft.id_keyword(),
                        "is also the address of another subschema",
                        &map[draft.id_keyword()],
                    );
                }
                resource = self.add(uri, schema, draft);
            }
            if !fragment.is_empty() && draft < Draft::Draft201909 {
                self.list[resource].anchors.insert(fragment, schema);
            }
        }
        let resource_of = &mut self.list[resource];
        if draft >= Draft::Draft201909
            && let Some(Value::String(anchor)) = map.get("$anchor")
        {
            resource_of.anchors.insert(anchor, schema);
        }
        if draft == Draft::Draft202012
            && let Some(Value::String(anchor)) = map.get("$dynamicAnchor")
        {
            resource_of.anchors.insert(anchor, schema);
            resource_of.dynamic.entry(anchor).or_insert(schema);
        }
        let is_recursive = map.get("$recursiveAnchor") == Some(&Value::Bool(true));
        if draft == Draft::Draft201909 && is_recursive && std::ptr::eq(resource_of.root, schema) {
            resource_of.dynamic.insert("", schema);
        }
        resource
    }

    fn fault(&mut self, pointer: &str, keyword: &str, message: &str, found: &Value) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Issue::new(pointer, keyword, message).found(super::message::excerpt(found)));
        }
    }
}

/// Reports whether JSON has the type of a schema.
fn is_schema(value: &Value, draft: Draft) -> bool {
    value.is_object() || (value.is_boolean() && draft > Draft::Draft4)
}

fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}
