//! A tool under construction.
//!
//! No step rejects anything while a tool is being described: faults are collected, and the last step reports all of
//! them.

use std::any::TypeId;
use std::sync::Arc;

use haft_core::{Annotations, ToolId};
use haft_schema::{Schema, SchemaError};
use serde_json::Value;

use crate::executor::OptionList;
use crate::handler::Handler;
use crate::middleware::Layers;
use crate::service::Dependency;
use crate::tool::definition::{Definition, ModelOutput};
use crate::tool::{
    ApprovalPolicy, DefinitionError, DefinitionFault, ExecutionLimits, FailureMode, NameFault, Refine, SchemaPart,
    Tool, ToolKind,
};

/// The settings of a tool so far, and the faults found in them.
pub(crate) struct ToolDraft {
    /// The id, if it is not derived from the name or the provider's id.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) kind: ToolKind,
    pub(crate) description: Option<String>,
    pub(crate) parameters: Option<Schema>,
    pub(crate) success: Option<Schema>,
    pub(crate) failure: Option<Schema>,
    pub(crate) failure_mode: Option<FailureMode>,
    pub(crate) annotations: Annotations,
    pub(crate) examples: Vec<Value>,
    pub(crate) approval: ApprovalPolicy,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) limits: ExecutionLimits,
    pub(crate) model_output: Option<ModelOutput>,
    pub(crate) emits: Option<Schema>,
    pub(crate) rust_type: Option<TypeId>,
    pub(crate) refine: Option<Refine>,
    pub(crate) faults: Vec<DefinitionFault>,
}

impl ToolDraft {
    pub(crate) fn new(name: String, kind: ToolKind) -> Self {
        Self {
            id: None,
            name,
            kind,
            description: None,
            parameters: None,
            success: None,
            failure: None,
            failure_mode: None,
            annotations: Annotations::new(),
            examples: Vec::new(),
            approval: ApprovalPolicy::never(),
            dependencies: Vec::new(),
            limits: ExecutionLimits::new(),
            model_output: None,
            emits: None,
            rust_type: None,
            refine: None,
            faults: Vec::new(),
        }
    }

    /// Sets a schema, or records its faults.
    pub(crate) fn set_schema(&mut self, part: SchemaPart, schema: Result<Schema, SchemaError>) {
        let schema = match schema {
            Ok(schema) => schema,
            Err(error) => return self.faults.push(DefinitionFault::schema(part, &error)),
        };
        match part {
            SchemaPart::Parameters => self.parameters = Some(schema),
            SchemaPart::Success => self.success = Some(schema),
            SchemaPart::Failure => self.failure = Some(schema),
            SchemaPart::Emits => self.emits = Some(schema),
            SchemaPart::Args => {}
        }
    }

    /// Builds the tool, or returns all faults.
    pub(crate) fn finish(mut self, handler: Option<Arc<dyn Handler>>) -> Result<Tool, DefinitionError> {
        let of_name = NameFault::of(&self.name).into_iter().map(DefinitionFault::Name);
        let of_id = self.id.iter().flat_map(|id| NameFault::of(id)).map(DefinitionFault::Id);
        self.faults.splice(0..0, of_name.chain(of_id));
        let of_annotations = self.annotations.faults().into_iter();
        self.faults.extend(of_annotations.map(|(key, error)| DefinitionFault::Annotation { key, error }));
        let definition = Definition {
            id: self.id.map_or_else(|| self.kind.default_id(&self.name), ToolId::from),
            name: self.name.as_str().into(),
            description: self.description,
            parameters: self.parameters.unwrap_or_else(|| self.kind.default_parameters()),
            success: self.success.unwrap_or_else(|| self.kind.default_success()),
            failure: self.failure.unwrap_or_else(Schema::never),
            failure_mode: self.failure_mode,
            annotations: self.annotations,
            examples: self.examples,
            approval: self.approval,
            dependencies: self.dependencies,
            limits: self.limits,
            model_output: self.model_output,
            emits: self.emits,
            rust_type: self.rust_type,
            refine: self.refine,
            resources: Vec::new(),
            permits: OptionList::EMPTY,
            lanes: OptionList::EMPTY,
            kind: self.kind,
        };
        self.faults.extend(definition.unsupported());
        self.faults.extend(definition.limits.zeroes().map(DefinitionFault::ZeroLimit));
        if let Some(handler) = &handler {
            let faults = handler_faults(&definition.kind, handler.as_ref(), definition.model_output.as_ref());
            self.faults.extend(faults);
        }
        let parameters_are_faulty = self.faults.iter().any(DefinitionFault::is_about_parameters);
        if !parameters_are_faulty {
            for (index, example) in definition.examples.iter().enumerate() {
                let issues = definition.parameters.check(example).err();
                self.faults.extend(issues.map(|issues| DefinitionFault::Example { index, issues }));
            }
        }
        DefinitionError::check(&self.name, self.faults)?;
        Ok(Tool::assemble(definition, handler, Layers::default()))
    }
}

/// Returns the faults of attaching this handler.
pub(crate) fn handler_faults(
    kind: &ToolKind,
    handler: &dyn Handler,
    model_output: Option<&ModelOutput>,
) -> Vec<DefinitionFault> {
    let mut faults = Vec::new();
    if !kind.requires_handler() {
        faults.push(DefinitionFault::HandlerNotAllowed(kind.label()));
    }
    let returns = handler.returns();
    if returns.is_result() {
        faults.push(DefinitionFault::ReturnsResult);
    }
    if let Some(model_output) = model_output.filter(|model_output| model_output.reads != returns) {
        faults.push(DefinitionFault::ModelOutputType { reads: model_output.reads.name, returns: returns.name });
    }
    faults
}
