//! Types of the standard library, and types that reject values which their schema allows.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::{Bound, Range};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Standard {
    range: Range<u8>,
    result: Result<u8, String>,
    bound: Option<Bound<i8>>,
    phantom: std::marker::PhantomData<u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Formats {
    any: Option<IpAddr>,
    four: Option<Ipv4Addr>,
    socket: Option<SocketAddr>,
    wait: Duration,
}

/// A type whose schema is that of any number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
pub(super) struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

impl From<Even> for u8 {
    fn from(even: Even) -> Self {
        even.0
    }
}
