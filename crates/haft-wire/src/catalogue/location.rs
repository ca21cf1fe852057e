//! A user's location, which web searches take into account.

use serde::{Deserialize, Serialize};

use crate::catalogue::typed::setting_object;

setting_object! {
    /// A user's approximate location.
    pub struct UserLocation {
        required {
            /// The location kind.
            r#type: LocationKind,
        }
        optional {
            /// The city.
            city: String,
            /// The country, by its two-letter ISO code.
            country: String,
            /// The region.
            region: String,
            /// The IANA time zone.
            timezone: String,
        }
    }
}

/// A location kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LocationKind {
    /// A location that need not be exact.
    Approximate,
}

impl UserLocation {
    /// Creates an approximate location with nothing known about it.
    #[must_use]
    pub fn approximate() -> Self {
        Self::new(LocationKind::Approximate)
    }
}
