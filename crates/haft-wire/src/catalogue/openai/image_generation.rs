//! OpenAI's image generation.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`image_generation`].
    pub struct OpenAiImageGeneration {
        optional {
            /// The choice between new and edited images.
            action: ImageAction,
            /// The background.
            background: ImageBackground,
            /// The vector image's complexity.
            complexity: ImageComplexity,
            /// The number of frames in an animation.
            frame_count: u32,
            /// Each frame's duration in milliseconds.
            frame_duration_ms: u32,
            /// The effort to match given images.
            input_fidelity: ImageFidelity,
            /// The image area to edit.
            input_image_mask: ImageMask,
            /// The model.
            model: String,
            /// The moderation level.
            moderation: ImageModeration,
            /// The compression in percent.
            output_compression: u8,
            /// The format.
            output_format: ImageFormat,
            /// The number of partial images to stream, from 0 to 3.
            partial_images: u8,
            /// The quality.
            quality: ImageQuality,
            /// The size: `auto`, or width and height such as `1024x1536`.
            size: String,
            /// Settings for vector images.
            svg: SvgSettings,
        }
    }
}

open_enum! {
    /// The choice between new and edited images.
    pub enum ImageAction {
        /// New images.
        Generate,
        /// Edited images.
        Edit,
        /// As the model decides.
        Auto,
    }
}

open_enum! {
    /// The image background.
    pub enum ImageBackground {
        /// Transparent.
        Transparent,
        /// Opaque.
        Opaque,
        /// As the model decides.
        Auto,
    }
}

open_enum! {
    /// Vector image complexity.
    pub enum ImageComplexity {
        /// Low.
        Low,
        /// Medium.
        Medium,
        /// High.
        High,
    }
}

open_enum! {
    /// The effort to match given images.
    pub enum ImageFidelity {
        /// Low.
        Low,
        /// High.
        High,
    }
}

open_enum! {
    /// The moderation level.
    pub enum ImageModeration {
        /// The default.
        Auto,
        /// Less.
        Low,
    }
}

open_enum! {
    /// The image format.
    pub enum ImageFormat {
        /// PNG.
        Png,
        /// WebP.
        Webp,
        /// JPEG.
        Jpeg,
        /// GIF.
        Gif,
        /// SVG.
        Svg,
    }
}

open_enum! {
    /// The image quality.
    pub enum ImageQuality {
        /// Low.
        Low,
        /// Medium.
        Medium,
        /// High.
        High,
        /// Higher.
        Xhigh,
        /// The highest.
        Max,
        /// As the model decides.
        Auto,
    }
}

setting_object! {
    /// The image area to edit, given as an image.
    pub struct ImageMask {
        optional {
            /// The file's id.
            file_id: String,
            /// A data URL.
            image_url: String,
        }
    }
}

setting_object! {
    /// Settings for vector images.
    pub struct SvgSettings {
        optional {
            /// The model.
            model: String,
            /// The model's reasoning.
            reasoning: SvgReasoning,
        }
    }
}

setting_object! {
    /// The reasoning about a vector image.
    pub struct SvgReasoning {
        optional {
            /// The effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
            effort: String,
        }
    }
}

/// A generated image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ImageResult {
    /// The image, in base64. Absent if the generation failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The call's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<ImageFormat>,
    /// The prompt as the model has revised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
    /// The size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// The reason that the generation failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

impl CatalogueSettings for OpenAiImageGeneration {
    const ENTRY: CatalogueEntry =
        executed("openai.image_generation", "OpenAiImageGeneration", "image_generation", "image_generation_call")
            .types::<Self>();
    type Params = ();
    type Success = ImageResult;
    type Failure = NoFailure;
}

/// Creates the tool by which a model generates images.
pub fn image_generation() -> CatalogueTool<OpenAiImageGeneration> {
    CatalogueTool::new(OpenAiImageGeneration::new())
}
