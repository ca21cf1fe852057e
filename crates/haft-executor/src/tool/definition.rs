//! The checked definition of a tool.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use haft_core::{Annotations, ContentPart, DescriptorKind, SchemaJson, ToolDescriptor, ToolId, ToolName};
use haft_schema::Schema;
use haft_schema::isolation::Isolated;
use serde_json::Value;

use crate::executor::{Lane, OptionList, Permit};
use crate::handler::TypeInfo;
use crate::service::Dependency;
use crate::tool::{
    ApprovalPolicy, DefinitionFault, Execution, ExecutionLimits, FailureMode, Refine, ResourceArgument, ToolKind,
};

/// A checked definition. It is changed only by copying it.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) id: ToolId,
    pub(crate) name: ToolName,
    pub(crate) kind: ToolKind,
    pub(crate) description: Option<String>,
    pub(crate) parameters: Schema,
    pub(crate) success: Schema,
    pub(crate) failure: Schema,
    /// The failure mode, if one was set.
    pub(crate) failure_mode: Option<FailureMode>,
    pub(crate) annotations: Annotations,
    pub(crate) examples: Vec<Value>,
    pub(crate) approval: ApprovalPolicy,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) limits: ExecutionLimits,
    pub(crate) model_output: Option<ModelOutput>,
    /// The schema of emitted values, if it is declared.
    pub(crate) emits: Option<Schema>,
    /// The type that defines the tool, by which typed calls find it under any name.
    pub(crate) rust_type: Option<TypeId>,
    pub(crate) refine: Option<Refine>,
    /// The arguments that have one canonical spelling before anything decides about a call.
    pub(crate) resources: Vec<ResourceArgument>,
    /// The permits that every run asks about calls of this tool, before its own.
    pub(crate) permits: OptionList<Arc<dyn Permit>>,
    /// The lanes that every call enters before its handler starts.
    pub(crate) lanes: OptionList<Lane>,
}

/// A function that renders a successful value for the model.
#[derive(Clone)]
pub(crate) struct ModelOutput {
    pub(crate) reads: TypeInfo,
    render: Arc<Render>,
}

type Render = dyn Fn(&dyn Any) -> Option<Vec<ContentPart>> + Send + Sync;

impl Definition {
    pub(crate) fn describe(&self) -> ToolDescriptor {
        let Self {
            id,
            name,
            kind: _,
            description: _,
            parameters,
            success,
            failure,
            emits,
            annotations,
            examples,
            // These are code, or settings of the execution.
            failure_mode: _,
            approval: _,
            dependencies: _,
            limits: _,
            model_output: _,
            refine: _,
            resources: _,
            permits: _,
            lanes: _,
            rust_type: _,
        } = self;
        let mut descriptor = ToolDescriptor::new(name.as_str(), parameters.clone())
            .id(id.clone())
            .kind(self.descriptor_kind())
            .annotations(annotations)
            .examples(examples.clone());
        descriptor.description = self.description().map(Into::into);
        let (success, failure) = (SchemaJson::from(success.clone()), SchemaJson::from(failure.clone()));
        descriptor.output_schema = (!success.is_unrestricted()).then_some(success);
        descriptor.failure_schema = (!failure.accepts_nothing()).then_some(failure);
        descriptor.emits = emits.clone().map(Into::into);
        descriptor
    }

    /// Returns a fault for every setting that a tool of this kind does not support. All fields are listed, so that a
    /// new field does not compile until it is handled here.
    pub(crate) fn unsupported(&self) -> impl Iterator<Item = DefinitionFault> {
        let Self {
            kind,
            failure_mode,
            approval,
            dependencies,
            limits,
            model_output,
            emits,
            refine,
            lanes,
            // These describe the tool and are supported by every kind.
            id: _,
            name: _,
            description: _,
            parameters: _,
            success: _,
            failure: _,
            annotations: _,
            examples: _,
            rust_type: _,
            // They apply to every call that something can prevent.
            resources: _,
            // They are asked about every call, whoever executes it.
            permits: _,
        } = self;
        let is_run = kind.execution() == Execution::Handler;
        let is_gated = kind.execution() != Execution::Provider;
        let settings = [
            ("an approval policy", is_gated || approval.is_never()),
            ("a failure mode", is_run || failure_mode.is_none()),
            ("execution limits", is_run || *limits == ExecutionLimits::default()),
            ("a dependency", is_run || dependencies.is_empty()),
            ("`to_model_output`", is_run || model_output.is_none()),
            ("`emits`", is_run || emits.is_none()),
            ("`refine`", is_run || refine.is_none()),
            ("a lane", is_run || lanes.is_empty()),
        ];
        let kind = kind.label();
        let refused = settings.into_iter().filter(|(_, is_honoured)| !is_honoured);
        refused.map(move |(setting, _)| DefinitionFault::Unsupported { setting, kind })
    }

    /// Reports whether nothing in the definition requires more of a call than its checks and its handler, so that it
    /// can take the fast path. All fields and limits are listed, so that a new one does not compile until it is handled
    /// here.
    pub(crate) fn is_plain(&self) -> bool {
        let Self {
            approval,
            limits,
            refine,
            resources,
            permits,
            lanes,
            // A call of another kind fails or surfaces when it is prepared.
            kind: _,
            // The toolkit checks them for all of its tools.
            dependencies: _,
            // The handler applies these when it reads, returns or fails.
            parameters: _,
            success: _,
            failure: _,
            model_output: _,
            // The context applies it when the handler emits.
            emits: _,
            // These have no effect on a result.
            id: _,
            name: _,
            description: _,
            failure_mode: _,
            annotations: _,
            examples: _,
            rust_type: _,
        } = self;
        let ExecutionLimits {
            timeout,
            idle_timeout,
            // Emitted values are dropped.
            emit_buffer: _,
            // There is only one call.
            concurrency: _,
            // The fast path applies it.
            output_cap: _,
        } = limits;
        let is_decided = approval.is_never() && permits.is_empty();
        let is_final = refine.is_none() && resources.is_empty();
        let is_free = lanes.is_empty() && timeout.is_none() && idle_timeout.is_none();
        is_decided && is_final && is_free
    }

    pub(crate) fn description(&self) -> Option<&str> {
        self.description.as_deref().or_else(|| self.parameters.description())
    }

    fn descriptor_kind(&self) -> DescriptorKind {
        match &self.kind {
            ToolKind::Local => DescriptorKind::Local,
            ToolKind::Dynamic => DescriptorKind::Dynamic,
            ToolKind::Provider(provider) => DescriptorKind::Provider {
                id: provider.id().to_owned(),
                provider_name: provider.provider_name().to_owned(),
                args: provider.args().clone(),
                requires_handler: provider.requires_handler(),
            },
            ToolKind::Signal => DescriptorKind::Signal,
            ToolKind::Interaction => DescriptorKind::Interaction,
        }
    }
}

impl ModelOutput {
    pub(crate) fn new<T, C>(render: impl Fn(&T) -> C + Send + Sync + 'static) -> Self
    where
        T: 'static,
        C: IntoIterator<Item = ContentPart>,
    {
        let render = Isolated::new(render);
        let render = move |value: &dyn Any| Some(render(value.downcast_ref()?).into_iter().collect());
        Self { reads: TypeInfo::of::<T>(), render: Arc::new(render) }
    }

    pub(crate) fn render(&self, value: &dyn Any) -> Option<Vec<ContentPart>> {
        (self.render)(value)
    }
}

impl fmt::Debug for ModelOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelOutput({})", self.reads.name)
    }
}
