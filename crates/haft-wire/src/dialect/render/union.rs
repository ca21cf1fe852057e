//! Alternatives, and the codec's choice between them.

use haft_core::{LossKind, RenderFault};
use haft_schema::{ReshapeCase, ReshapeKind};
use serde_json::{Map, Value};

use super::Rendering;
use crate::dialect::form::{Change, Field, Form, add_sentence};
use crate::dialect::group::{Alternatives, Group};
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::sentence;

impl Rendering {
    /// Renders alternatives.
    pub(super) fn union(
        &mut self,
        group: &Group<'_>,
        alternatives: &Alternatives<'_>,
        depth: usize,
    ) -> Result<Form, RenderFault> {
        let (mut forms, mut has_null) = (Vec::new(), false);
        for branch in &alternatives.branches {
            let branch = group.with_branch(alternatives, *branch);
            let kinds = branch.kinds();
            if kinds == Kinds::one(Kind::Null) {
                has_null = true;
            } else if !kinds.is_empty() {
                forms.push(self.value(&branch, depth)?);
            }
        }
        if alternatives.is_exclusive() && !are_disjoint(&forms) {
            let message = "that exactly one alternative matches can't be stated";
            self.lose(group.pointer(), LossKind::Combination, message);
        }
        self.any_of(group, forms, has_null)
    }

    /// Renders a group whose alternatives only restrict it.
    pub(super) fn restricted(
        &mut self,
        group: &Group<'_>,
        alternatives: &Alternatives<'_>,
        depth: usize,
    ) -> Result<Form, RenderFault> {
        let mut form = self.in_place(&group.without(alternatives), depth)?;
        let (keyword, value) = (alternatives.keyword(), alternatives.as_json());
        add_sentence(&mut form.json, &sentence::of_keyword(keyword, &value));
        let message = format!("`{keyword}` is stated in the description");
        self.lose(&alternatives.pointer(group), LossKind::Combination, message);
        Ok(form)
    }

    /// Renders a value that matches one of the forms, or is `null`.
    pub(super) fn any_of(
        &mut self,
        group: &Group<'_>,
        mut forms: Vec<Form>,
        has_null: bool,
    ) -> Result<Form, RenderFault> {
        let mut form = match (forms.len(), forms.pop()) {
            (0, _) | (_, None) if has_null => return Ok(self.scalar(group, Kind::Null)),
            (0, _) | (_, None) => {
                let remedy = "correct the types of the alternatives";
                return Err(RenderFault::new(group.pointer(), "no alternative is possible", remedy));
            }
            (1, Some(only)) => only,
            (_, Some(last)) => {
                forms.push(last);
                self.several(group, forms)
            }
        };
        if has_null && !form.kinds.has(Kind::Null) {
            form.accept_null(self.rules.null);
            form.record = None;
        }
        Ok(form)
    }

    fn several(&mut self, group: &Group<'_>, forms: Vec<Form>) -> Form {
        let union = |kinds: fn(&Form) -> Kinds| forms.iter().map(kinds).fold(Kinds::NONE, Kinds::or);
        let (kinds, sent) = (union(|form| form.kinds), union(|form| form.sent));
        let Some((cases, change)) = cases(&forms) else {
            let message = "a value does not show which alternative it is, so it is sent as JSON text; \
                           give each alternative a required member with a constant of its own";
            self.lose(group.pointer(), LossKind::Combination, message);
            return self.text(group, kinds);
        };
        let node = self.reshape.add();
        for case in cases {
            self.reshape.case(node, case);
        }
        let branches: Vec<Value> = forms.into_iter().map(|form| Value::Object(form.json)).collect();
        let json = Map::from_iter([("anyOf".to_owned(), branches.into())]);
        Form { json, node, kinds, sent, change, record: None }
    }
}

/// Returns the codec cases that convert each value by its own alternative; none if they can't be told apart.
fn cases(forms: &[Form]) -> Option<(Vec<ReshapeCase>, Change)> {
    let (mut cases, mut types) = (Vec::new(), Vec::new());
    for (at, form) in forms.iter().enumerate() {
        let others = || forms.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, other)| other);
        match &form.change {
            Change::None => {}
            Change::All => return None,
            Change::Spelling => {
                if others().all(|other| !other.kinds.has(Kind::String) && !other.sent.has(Kind::String)) {
                    cases.push(ReshapeCase::new(ReshapeKind::String, form.node));
                }
            }
            Change::Types(changes) => {
                for (kind, sent) in changes {
                    let case = ReshapeCase::new(*kind, form.node).sent_as(*sent);
                    let is_same = |other: &Form| other.kinds.has(kind_of(*kind)) || other.sent.has(kind_of(*sent));
                    let case = if others().any(is_same) { distinguished(case, form, forms)? } else { case };
                    cases.push(case);
                    types.push((*kind, *sent));
                }
            }
        }
    }
    let change = match (types.is_empty(), cases.is_empty()) {
        (true, true) => Change::None,
        (true, false) => Change::Spelling,
        (false, _) => Change::Types(types),
    };
    Some((cases, change))
}

/// Restricts a case to objects that carry one alternative's mark.
fn distinguished(case: ReshapeCase, form: &Form, forms: &[Form]) -> Option<ReshapeCase> {
    let own = form.record.as_deref()?;
    let object = Kinds::one(Kind::Object);
    let mut others = Vec::new();
    for other in forms.iter().filter(|other| !std::ptr::eq(*other, form)) {
        if !other.kinds.has(Kind::Object) && !other.sent.has(Kind::Object) {
            continue;
        }
        // A tuple is sent as an object too, and its members look like these.
        if other.kinds != object || other.sent != object {
            return None;
        }
        others.push(other.record.as_deref()?);
    }
    if let Some(tag) = tag(own, &others) {
        return Some(case.with_member(&tag.name).named(&tag.sent_name).equal_to(tag.constants.clone()?));
    }
    let is_own = |field: &&Field| {
        let is_name = |other: &Field| other.name == field.name || other.sent_name == field.sent_name;
        field.is_required && !others.iter().any(|fields| fields.iter().any(is_name))
    };
    let mark = own.iter().find(is_own)?;
    Some(case.with_member(&mark.name).named(&mark.sent_name))
}

/// Returns the required member whose constants differ from those of all other records.
fn tag<'f>(own: &'f [Field], others: &[&[Field]]) -> Option<&'f Field> {
    own.iter().find(|field| {
        let Some(constants) = field.constants.as_ref().filter(|_| field.is_required) else { return false };
        others.iter().all(|fields| {
            let same = fields.iter().find(|other| other.name == field.name && other.sent_name == field.sent_name);
            let theirs = same.filter(|other| other.is_required).and_then(|other| other.constants.as_ref());
            theirs.is_some_and(|theirs| !constants.iter().any(|value| theirs.contains(value)))
        })
    })
}

/// Reports whether no value matches two alternatives.
fn are_disjoint(forms: &[Form]) -> bool {
    forms.iter().enumerate().all(|(at, form)| {
        forms[..at].iter().all(|before| {
            let is_tagged = |(form, before): (&[Field], &[Field])| tag(form, &[before]).is_some();
            form.kinds.and(before.kinds).is_empty()
                || form.record.as_deref().zip(before.record.as_deref()).is_some_and(is_tagged)
        })
    })
}

fn kind_of(kind: ReshapeKind) -> Kind {
    match kind {
        ReshapeKind::Object => Kind::Object,
        ReshapeKind::Array => Kind::Array,
        _ => Kind::String,
    }
}
